//! Text of others on its way out: nothing of it commands a terminal, changes the order of what
//! stands around it, or makes a line of its own.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::process::Output;

use common::{Bench, expect, stderr, stdout};
use record::{Cause, Detail, Evidence, Label, Limit, LossPlace, Note, sample};
use serde_json::Value;
use store::{NewRun, NewStudy, Outcome, Store, StudyStatus};
use study::{PlannedRun, Side, Study, metric};

/// What an attacker would name things.
const HOSTILE: &str = "a\u{1b}]0;x\u{1b}[31m\u{7}\u{9b}31m\u{7f}\u{8}\u{202e}\u{2066}\u{200e}\u{61c}\u{200b}\u{2028}b\nForged: line";

/// The same in a file's name, which may be as long.
const FILE: &str = "a\u{1b}[2J\u{1b}[31m\u{9b}31m\u{202e}\u{200b}b\nForged.stat";

/// Runs it as if colours were wanted, since what prints them would else take out some of what is
/// looked for.
fn run(bench: &Bench, arguments: &[&str], code: u8) -> Output {
    let mut command = bench.netassay(arguments);
    let output = command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1").output().unwrap();
    harmless(arguments, output, code)
}

fn harmless(arguments: &[&str], output: Output, code: u8) -> Output {
    expect(&output, code);
    for text in [stdout(&output), stderr(&output)].map(without_colours) {
        let found = text.chars().find(|letter| {
            (letter.is_control() && !matches!(letter, '\n' | '\t'))
                || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        });
        assert_eq!(found, None, "{arguments:?}: {text:?}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("Forged")), "{arguments:?}: {text}");
    }
    output
}

/// A page with its verdicts as they are where no colours are wanted. A colour of anything else
/// stays, and is found.
fn without_colours(mut page: String) -> String {
    for colour in report::colour_sequences() {
        for verdict in [
            "not proven",
            "no difference proven",
            "equal",
            "slower",
            "faster",
            "lower",
            "higher",
            "inconclusive",
        ] {
            page = page.replace(&format!("{colour}{verdict}\u{1b}[0m"), verdict);
        }
    }
    page
}

/// A database of a measured study in which somebody changed every text.
fn database(bench: &Bench) {
    let text = "name = \"s\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
                [factors]\nfamily = [\"ipv4\", \"ipv6\"]\n[protocol]\nboots = 2\nruns = 2\nwarmup = 0\n[[comparison]]\nbaseline = { family = \"ipv4\" }\nmetric = \"throughput\"\n";
    let mut plan = Study::parse("s", text).unwrap().plan();
    for (index, condition) in plan.conditions.iter_mut().enumerate() {
        condition.label = format!("{index}{HOSTILE}").as_str().into();
        condition.slug = format!("{index}{HOSTILE}");
    }
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let study = store
        .begin_study(&NewStudy {
            name: HOSTILE.into(),
            toml: text.into(),
            plan,
            seed: 1,
            scenario: HOSTILE.into(),
            version: HOSTILE.into(),
            pair: None,
        })
        .unwrap();
    let mut account = sample::account();
    account.disturbed.push(Cause::Session(HOSTILE.into()).into());
    for side in [Some(&mut account.transmitter), account.receiver.as_mut()].into_iter().flatten() {
        side.whole
            .outcome
            .notes
            .push(load::LoadNote::NoBusyPolling { option: HOSTILE.into(), why: HOSTILE.into() });
        side.whole.outcome.applied = vec![sample::applied(HOSTILE)];
    }
    let detail = Detail::Measured(Box::new(account));
    for boot in 1..=2 {
        let mut environment = sample::environment();
        environment.notes.push(Note::NotSteered(HOSTILE.into()));
        environment.transmitter.sysctls.extend([("net.core.rmem_max".into(), HOSTILE.into())]);
        let mut interface = sample::interface("eth0");
        (interface.driver, interface.link.kind) = (Some(HOSTILE.into()), Some(HOSTILE.into()));
        environment.transmitter.interfaces.extend([("eth0".into(), Some(interface))]);
        let row = store.begin_boot(study, boot, &environment).unwrap();
        for (position, condition) in [0, 1, 0, 1].into_iter().enumerate() {
            let values = [(metric::THROUGHPUT, 1000.0 + position as f64)].into_iter().collect();
            let new = NewRun {
                planned: PlannedRun {
                    boot: 1,
                    block: 1,
                    repeat: position as u32 / 2 + 1,
                    position: position as u32,
                    warmup: false,
                    condition,
                },
                started_unix_ms: 0,
                outcome: if position < 3 { Outcome::Ok(values) } else { Outcome::Failed("reason".into()) },
                limited_by: Some(Limit {
                    label: Label::Path,
                    evidence: vec![Evidence::Lost {
                        place: LossPlace::Queue { side: Side::Receiver, wire: HOSTILE.into() },
                        datagrams: 1,
                        offered: 2,
                    }],
                }),
                series: study::BySide::default(),
                detail: detail.clone(),
            };
            store.record_run(row, &new).unwrap();
        }
    }
    store.finish_study(study, StudyStatus::Complete).unwrap();
    drop(store);
    for key in [HOSTILE, "../outside"] {
        let add = "INSERT INTO metric (run, key, value) SELECT id, ?1, 1.0 FROM run WHERE status = 'ok'";
        assert_eq!(bench.database().execute(add, [key]).unwrap(), 6);
    }
    let long = format!("{HOSTILE}{}", "x".repeat(100_000));
    let changed = bench.database().execute("UPDATE run SET reason = ?1 WHERE reason IS NOT NULL", [long]);
    assert_eq!(changed.unwrap(), 2);
}

#[test]
fn a_database_from_others_is_shown_without_its_tricks() {
    let bench = Bench::new();
    database(&bench);
    for arguments in [
        &["db", "list"][..],
        &["show"],
        &["show", "--runs", "--environment"],
        &["compare"],
        &["compare", "--baseline", "no such"],
        &["db", "export", "--format", "csv"],
        &["db", "export", "--format", "stat", "-o", "files"],
    ] {
        let code = if arguments.contains(&"--baseline") { 2 } else { 0 };
        let output = run(&bench, arguments, code);
        // A reason of 100 000 bytes, twice.
        assert!(stdout(&output).len() < 40_000, "{arguments:?}: {} bytes", stdout(&output).len());
    }
}

#[test]
fn a_report_of_a_database_from_others_is_harmless() {
    let bench = Bench::new();
    database(&bench);
    let second = "INSERT INTO study
                  SELECT 2, name, toml, plan, seed, scenario, version, status, 1, 1 FROM study";
    bench.database().execute(second, []).unwrap();
    for format in ["html", "md", "json"] {
        run(&bench, &["report", "1", "--format", format, "-o", "-"], 0);
        run(&bench, &["report", "1", "2", "--format", format, "-o", "-"], 0);
    }
    run(&bench, &["report", "no such"], 4);
    run(&bench, &["report"], 0);
}

#[test]
fn a_metric_from_others_names_no_directory_elsewhere() {
    let bench = Bench::new();
    database(&bench);
    run(&bench, &["db", "export", "--format", "stat", "--metric", "all", "-o", "in/files"], 0);
    let entries = |name: &str| {
        let names = std::fs::read_dir(bench.path(name)).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<Vec<_>>()
    };
    assert_eq!(entries("in"), ["files"]);
    assert_eq!(entries("in/files"), ["throughput"]);
}

#[test]
fn json_of_a_database_from_others_is_exact_and_harmless() {
    let bench = Bench::new();
    database(&bench);
    for (arguments, name) in [
        (&["db", "list", "--format", "json"][..], "/studies/0/name"),
        (&["show", "--format", "json"], "/study/name"),
    ] {
        let output = run(&bench, arguments, 0);
        let value: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(value.pointer(name).unwrap(), HOSTILE, "{arguments:?}");
        let written = stdout(&output);
        assert!(
            written.chars().all(|letter| letter == '\n' || !letter.is_control())
                && !written.contains('\u{202e}')
        );
    }
}

#[test]
fn a_study_file_from_others_is_refused_without_its_tricks() {
    let bench = Bench::new();
    let name = FILE.replace(".stat", ".toml");
    for wrong in [
        "name = \"s\"\nquestion = \"q\"\nscenario = \"v\\u001b[31m\\u202e\"\n",
        "name = \"s\"\nquestion = \"q\"\nscenario = \"v\u{9b}31m\u{202e}\u{200b}\u{2028}\" # \u{202e}\u{9b}\n",
        "name = \"s\"\nquestion = \"q\u{202e}\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_rr\"\n",
        "name = \"s\"\nquestion = \"q\\u009b\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_rr\"\n",
        "name = \"s\u{1b}[31m\"\n",
        "\"na\u{202e}\u{9b}me\" = 1\n",
    ] {
        bench.write(&name, wrong);
        let output = run(&bench, &["study", "check", &name], 2);
        assert!(
            stderr(&output).contains("\\u{202e}"),
            "{wrong:?}: what is there is shown: {}",
            stderr(&output)
        );
    }
}

#[test]
fn names_of_files_and_their_words_are_printed_without_their_tricks() {
    let bench = Bench::new();
    bench.write(FILE, "1\n2\n3\n");
    bench.write("other.stat", "2\n3\n4\n");
    let table =
        format!("condition,value,\"{HOSTILE}\"\n\"{HOSTILE}\",1,x\n\"{HOSTILE}\",2,x\nb,1,x\nb,2,x\n");
    bench.write("table.csv", &table);
    let missing = format!("no {FILE}");
    for (arguments, code) in [
        (&["compare", FILE, "other.stat"][..], 0),
        (&["compare", "table.csv"], 0),
        (&["compare", "table.csv", "--boot", "none", "--baseline", "x"], 2),
        (&["compare", "table.csv", "--column", "x"], 2),
        (&["compare", &missing], 2),
        (&["study", "check", &missing], 2),
        (&["db", "list", "--db", &missing], 4),
        (&["run", &missing], 2),
        (&["ministat", FILE, "other.stat"], 0),
        (&["ministat", &missing], 1),
    ] {
        run(&bench, arguments, code);
    }
    // A wrong command line is told in colours of its own, if it may.
    let wrong = ["study", "check", "other.stat", FILE];
    harmless(&wrong, bench.run(&wrong), 2);
}
