//! `netassay advise` from outside: formats, exit codes and messages.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use common::{Bench, expect, stderr, stdout};
use record::{Detail, sample};
use serde_json::Value;
use store::{NewRun, NewStudy, Outcome, Store};
use study::{PlannedRun, Study};

const DESIGN: &str = "name = \"pays\"\nquestion = \"which pays?\"\nscenario = \"veth\"\n\
     [[workload]]\nkind = \"tcp_stream\"\nmessage = 1450\n\
     [design]\nkind = \"factorial\"\noffloads = [\"transmitter.tso\", \"receiver.gro\"]\n\
     [protocol]\nboots = 4\nruns = 2\n";

/// As before, but nothing of it is a switch of a host.
const MESSAGES: &str = "name = \"messages\"\nquestion = \"which size?\"\nscenario = \"veth\"\n\
     [[workload]]\nkind = \"tcp_stream\"\n[factors]\nmessage = [1000, 9000]\n[protocol]\nboots = 4\nruns = 2\n";

/// Two MTUs; nothing of a design.
const MTUS: &str = "name = \"mtus\"\nquestion = \"which MTU?\"\nscenario = \"veth\"\n\
     [[workload]]\nkind = \"tcp_stream\"\n[factors]\nmtu = [1500, 9000]\n[protocol]\nboots = 4\nruns = 2\n";

/// Stores a study in which TSO gains a third, whatever else is set.
fn store(bench: &Bench, toml: &str, with_runs: bool) {
    let study = Study::parse("x.toml", toml).unwrap_or_else(|problems| panic!("{problems}"));
    let plan = study.plan();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let new = NewStudy {
        name: study.name.to_owned(),
        toml: toml.to_owned(),
        plan: plan.clone(),
        seed: 1,
        scenario: "veth".to_owned(),
        version: "0.1.0".to_owned(),
        pair: None,
    };
    let id = store.begin_study(&new).unwrap();
    for number in 1..=if with_runs { 4 } else { 0 } {
        let boot = store.begin_boot(id, number, &sample::environment()).unwrap();
        for (repeat, condition) in
            (1..=2).flat_map(|repeat| plan.conditions.iter().map(move |one| (repeat, one)))
        {
            let is_on =
                condition.levels.iter().any(|(name, level)| name == "transmitter.tso" && level == "on");
            let wobble = f64::from((number * 7 + repeat * 3 + condition.index as u32 * 5) % 11) - 5.0;
            let value = if is_on { 1333.0 } else { 1000.0 } + wobble;
            let run = NewRun {
                planned: PlannedRun {
                    boot: 1,
                    block: repeat,
                    repeat,
                    position: 0,
                    warmup: false,
                    condition: condition.index,
                },
                started_unix_ms: 1_700_000_000_000,
                outcome: Outcome::Ok([(study::metric::THROUGHPUT, value)].into_iter().collect()),
                limited_by: None,
                series: words::BySide::default(),
                detail: Detail::Measured(Box::new(sample::account())),
            };
            store.record_run(boot, &run).unwrap();
        }
        store.end_boot(boot, Some(&sample::environment())).unwrap();
    }
    store.finish_study(id, store::StudyStatus::Complete).unwrap();
}

#[test]
fn every_format_has_the_recommendation() {
    let bench = Bench::new();
    store(&bench, DESIGN, true);
    let found = |arguments: &[&str]| {
        let output = bench.run(&[&["advise"], arguments].concat());
        expect(&output, 0);
        stdout(&output)
    };
    let text = found(&["pays", "--goal", "throughput"]);
    assert!(text.contains("set tso on at the transmitter: throughput +33"), "{text}");
    assert!(text.contains("ethtool -K \"$IF\" tso on") && !text.contains("For cpu"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let md = found(&["1", "--format", "md"]);
    assert!(md.contains("| tcp_stream | throughput | tso on | transmitter | +33"), "{md}");
    let sh = found(&["--format", "sh"]);
    assert!(sh.starts_with("#!/bin/sh\n") && sh.contains("feature \"$IF\" tso "), "{sh}");
    let json: Value = serde_json::from_str(&found(&["1", "--format", "json"])).unwrap();
    let one = &json["studies"][0]["cases"][0]["goals"][0]["recommendations"][0];
    assert_eq!(
        (one["factors"][0].as_str(), one["standing"]["kind"].as_str()),
        (Some("transmitter.tso"), Some("recommended"))
    );
    // Two studies are judged by themselves and listed beside each other.
    store(&bench, DESIGN, true);
    let text = found(&["1", "2", "--goal", "throughput"]);
    assert!(text.contains("Study 1 (pays): veth") && text.contains("Study 2 (pays): veth"), "{text}");
}

#[test]
fn a_page_of_a_design_ends_with_the_recommendations_in_short() {
    let bench = Bench::new();
    store(&bench, DESIGN, true);
    let output = bench.run(&["show"]);
    expect(&output, 0);
    let text = stdout(&output);
    let end = text.split("Recommendations, veth\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    let words: Vec<&str> = end.split_whitespace().collect();
    assert!(words.join(" ").contains("tso on transmitter +33"), "{end}");
    assert!(end.ends_with("Intervals, costs and commands: netassay advise 1\n"), "{end}");
    store(&bench, MESSAGES, true);
    let output = bench.run(&["show", "2"]);
    expect(&output, 0);
    assert!(!stdout(&output).contains("Recommendations"));
}

#[test]
fn what_gives_no_advice_is_told_with_the_way_out() {
    let bench = Bench::new();
    store(&bench, MESSAGES, true);
    store(&bench, DESIGN, false);
    store(&bench, MTUS, false);
    for (arguments, code, message) in [
        (&["advise", "1"][..], 4, "varied no switch of a host"),
        (&["advise", "2"], 4, "holds no run that counts"),
        (&["advise", "3"], 4, "holds no run that counts"),
        (&["advise", "9"], 4, "9"),
        (&["advise", "1", "--goal", "speed"], 2, "[possible values: throughput, cpu, latency]"),
        (&["advise", "1", "--format", "html"], 2, "[possible values: text, md, json, sh]"),
        (&["advise", "1", "--confidence", "100%"], 2, "use less, such as 95%"),
        (&["advise", "1", "--matters", "2"], 2, "write it as \"2%\""),
        (&["advise", "--db", "none.db"], 4, "none.db"),
    ] {
        let output = bench.run(arguments);
        expect(&output, code);
        let told = stderr(&output);
        assert!(told.contains(message), "{arguments:?}: {told}");
        assert!(stdout(&output).is_empty(), "{arguments:?}");
    }
}
