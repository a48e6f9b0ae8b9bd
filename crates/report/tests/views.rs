//! Every page as a reader sees it, from a made-up study whose figures are easy to check by hand.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod made_up;
mod shown;

use netassay_report::Layout;
use netassay_report::document::terminal;
use netassay_report::views;
use record::{Cause, Crash, CrashSign, CrashedMachine, Detail, Evidence, Limit, Zerocopy, sample};
use results::{ClassicTest, ComparisonRequest, Comparisons, Error, ListedStudy, PlanListing, Results};
use serde_json::json;
use store::{RunStatus, StoredRun, StoredStudy, StudyStatus};
use study::metric::{self, Metric};
use study::{Kind, Side, Study};

use shown::Shown as _;

use made_up::{plan, quick, ran_with, run, stored};

/// The evidence of `--wide`.
fn proof(results: &Results) -> String {
    let blocks: Vec<_> = views::evidence(results).into_iter().chain(views::switch_states(results)).collect();
    terminal(&blocks, Layout::WIDE)
}

#[test]
fn the_page_a_study_ends_with() {
    let results = Results::new(&stored(3)).unwrap();
    insta::assert_snapshot!("results", results.text(Layout::WIDE));
    insta::assert_snapshot!("proof", proof(&results));
    let elsewhere = terminal(&views::show(&results, "my runs.db", false), Layout::WIDE);
    assert!(
        elsewhere.contains("\nNext: netassay show 1 --db 'my runs.db' --wide: all figures"),
        "{elsewhere}"
    );
}

#[test]
fn a_large_effect_is_explained_where_a_counter_differs() {
    let mut planted = stored(3);
    for run in planted.runs.iter_mut().filter(|run| run.condition == 1) {
        run.metrics.insert(metric::SEGMENTS_PER_WIRE_PACKET.transmitter, 1.0);
    }
    let why = "with 1 against 35 segments per packet at the transmitter";
    let results = Results::new(&planted).unwrap();
    let text = results.text(Layout::WIDE);
    assert!(text.contains(&format!("\nWhy ipv4 offloads=none: {why}.\n")), "{text}");
    assert_eq!(text.matches("Why ").count(), 1, "{text}");
    let found = serde_json::to_value(&results).unwrap();
    let row = &found["comparisons"][0]["rows"][0];
    assert_eq!(row["why"][0]["counter"], "transmitter.segments_per_wire_packet");
    assert_eq!((&row["why"][0]["value"], &row["why"][0]["baseline"]), (&json!(1.0), &json!(35.0)));
    let compared = Comparisons::new(&planted, &ComparisonRequest::default()).unwrap().text(Layout::WIDE);
    assert!(compared.contains(&format!("\nWhy ipv4 offloads=none: {why}.\n")), "{compared}");
}

#[test]
fn what_is_reported_of_congestion_control_is_what_the_runs_had() {
    // The machine's own is bbr, and the runs had cubic.
    let page = |stored: &StoredStudy| Results::new(stored).unwrap().text(Layout::WIDE);
    let json = |stored: &StoredStudy| {
        serde_json::to_value(Results::new(stored).unwrap()).unwrap()["congestion_control"].clone()
    };
    let text = page(&stored(2));
    assert!(text.contains("\ncongestion control: cubic\n") && !text.contains("bbr"), "{text}");
    assert_eq!(json(&stored(2)), json!(["cubic"]));
    let mut mixed = stored(2);
    mixed.runs.iter_mut().filter(|run| run.condition == 1).for_each(|run| run.detail = ran_with("bbr"));
    let text = page(&mixed);
    assert!(text.contains("\ncongestion control: cubic, bbr\n"), "{text}");
    assert_eq!(json(&mixed), json!(["cubic", "bbr"]));
    assert!(text.contains("Note: ipv4 offloads=none: TCP ran with bbr, not cubic"), "{text}");
}

#[test]
fn settings_that_differ_between_the_hosts_or_from_the_default_are_reported() {
    let mut stored = stored(2);
    for boot in &mut stored.boots {
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let [transmitter, receiver] =
            [&mut boot.environment.transmitter, boot.environment.receiver.as_mut().unwrap()];
        transmitter.sysctls.extend([setting("net.core.netdev_max_backlog", "5000")]);
        transmitter.sysctls.extend([setting("net.ipv4.tcp_timestamps", "1")]);
        receiver.sysctls.extend([setting("net.ipv4.tcp_timestamps", "0")]);
        let mut interface = sample::interface("eth0");
        interface.gro_flush_timeout = Some(20_000);
        receiver.interfaces.insert("eth0".to_owned(), Some(interface));
    }
    let text = Results::new(&stored).unwrap().text(Layout::WIDE);
    let notes: Vec<&str> =
        text.lines().filter(|line| line.starts_with("Note: ") && !line.contains("steered")).collect();
    assert_eq!(
        notes,
        [
            "Note: net.core.netdev_max_backlog is 5000, not 1000 as by default.",
            "Note: the hosts differ: net.ipv4.tcp_timestamps is 1 at the transmitter, 0 at the receiver (default 1).",
            "Note: gro_flush_timeout is 20000, not 0 as by default.",
        ]
    );
}

#[test]
fn a_program_on_the_path_and_a_switch_that_was_not_applied_are_named() {
    let mut stored = stored(2);
    for boot in &mut stored.boots {
        let mut interface = sample::interface("eth0");
        interface.programs = serde_json::from_value(json!({"xdp-generic": ["filter_v4"]})).unwrap();
        boot.environment.receiver.as_mut().unwrap().interfaces.insert("eth0".to_owned(), Some(interface));
    }
    let text = |stored: &StoredStudy| Results::new(stored).unwrap().text(Layout::WIDE);
    let caution = "\nCaution: at the receiver each packet of eth0 passed filter_v4 (generic XDP), which costs time and may fix offloads.\n";
    assert!(text(&stored).contains(caution), "{}", text(&stored));
    // Of the many features of `offloads` one that no driver has is no news.
    assert!(!text(&stored).contains("Not applied"), "{}", text(&stored));
    for (condition, level) in [(1, "lro"), (2, "receiver.large-receive-offload")] {
        stored.plan.conditions[condition].levels.push((level.to_owned(), "on".to_owned()));
    }
    let merged = |label: &str| study::Dropped { label: label.to_owned(), why: "it is as `a`".to_owned() };
    stored.plan.merged = vec![merged("tso=off")];
    let told = text(&stored);
    let is_told = |line: &&str| line.starts_with("Warning: Not ") || line.starts_with("Answer: ");
    let told: Vec<&str> = told.lines().filter(is_told).take(4).collect();
    let why = "stays off: the driver does not let it be switched [fixed].";
    assert_eq!(
        told[..3],
        [
            format!("Warning: Not applied: ipv4 offloads=none: rx-lro at the transmitter {why}"),
            format!(
                "Warning: Not applied: ipv4 offloads=none and ipv6 offloads=default: rx-lro at the receiver {why}"
            ),
            "Warning: Not measured: tso=off: it is as `a`.".to_owned(),
        ]
    );
    assert!(told[3].starts_with("Answer: "), "{told:?}");
    stored.plan.merged = ["a", "b", "c", "d"].map(merged).into();
    let several = "\nWarning: Not measured: 4 conditions that read back as the same state as others.\n";
    assert!(text(&stored).contains(several), "{}", text(&stored));
}

#[test]
fn a_study_stopped_after_one_boot_claims_nothing() {
    let text = Results::new(&stored(1)).unwrap().text(Layout::WIDE);
    assert!(text.contains("inconclusive") && !text.contains(" % lower with"), "{text}");
}

#[test]
fn a_study_without_the_baseline_shows_what_there_is() {
    let mut stored = stored(2);
    stored.runs.retain(|run| run.condition == 1);
    let text = Results::new(&stored).unwrap().text(Layout::WIDE);
    assert!(text.contains("ipv4 offloads=none") && !text.contains("Answer"), "{text}");
    assert!(!text.lines().any(|line| line.ends_with(" %") || line.contains("diff.")), "{text}");
}

#[test]
fn a_study_without_a_valid_run_says_so_and_why_and_the_remedy() {
    let mut nothing = stored(3);
    let reason = "both ends: the hypervisor took 8 % of CPU 0's time (steal); transmitter: other processes took 82 % of the time of CPU 0 (rustc, process 18030: 71 %)";
    for run in &mut nothing.runs {
        (run.status, run.reason) = (RunStatus::Invalid, Some(reason.to_owned()));
    }
    let results = Results::new(&nothing).unwrap();
    insta::assert_snapshot!("nothing_valid", results.text(Layout::WIDE));
    assert!(proof(&results).starts_with("Switches as both ends read them back"), "{}", proof(&results));
    let refused = Comparisons::new(&nothing, &ComparisonRequest::default()).unwrap_err().to_string();
    assert!(refused.contains("Stop the cause") && refused.contains("--keep-disturbed"), "{refused}");

    // Not a single boot.
    let page = Results::new(&stored(0)).unwrap().text(Layout::WIDE);
    assert!(
        page.contains("\nWarning: Nothing valid was measured. 36 of 36 runs are missing: 36 not tried"),
        "{page}"
    );
    assert!(
        page.contains("\nWarning: Repeat the command with --resume 1. `netassay show 1 --runs`"),
        "{page}"
    );
    assert!(!page.contains("%"), "{page}");
}

/// Of the 36 runs of `quick` 2 failed alike, 1 was disturbed, and the last boot was not reached.
#[test]
fn runs_that_are_missing_are_reported_before_any_figure() {
    let mut stored = stored(2);
    stored.row.status = StudyStatus::Interrupted;
    for (index, status) in [(2, RunStatus::Failed), (12, RunStatus::Failed), (13, RunStatus::Invalid)] {
        let whole = stored.runs[index].clone();
        stored.runs[index] = run(whole.id.0, whole.boot, whole.repeat, whole.condition, status);
    }
    // A try that failed and was made good is not missing.
    stored.runs.insert(0, run(90, 1, 1, 0, RunStatus::Failed));
    let results = Results::new(&stored).unwrap();
    let text = results.text(Layout::WIDE);
    let head: Vec<&str> = text.lines().take(4).collect();
    assert_eq!(
        head,
        [
            "quick: What do IPv6 and offloads change for TCP between two hosts?",
            "",
            "Warning: 15 of 36 runs are missing: 2 failed (2 times, last in ipv4 offloads=default, boot 2: the receiver's agent (process 7) exited unexpectedly: signal: 9 (SIGKILL)), 1 disturbed at every try, 12 not tried (the study was interrupted).",
            "Warning: Stop what disturbed runs, and repeat the command with --resume 1. To count disturbed runs, add --keep-disturbed. `netassay show 1 --runs` lists every try.",
        ]
    );
    let json = serde_json::to_value(&results).unwrap();
    let missing = &json["missing"];
    assert_eq!(
        [
            &missing["runs"],
            &missing["planned"],
            &missing["failed"],
            &missing["disturbed"],
            &missing["not_tried"]
        ],
        [15, 36, 2, 1, 12]
    );
    assert_eq!((&missing["reasons"][0]["runs"], &missing["reasons"][0]["boot"]), (&2.into(), &2.into()));
    assert!(serde_json::to_value(Results::new(&self::stored(3)).unwrap()).unwrap().get("missing").is_none());
}

#[test]
fn what_crashed_a_machine_is_told_with_its_console_and_how_it_is_tried_again() {
    let mut stored = stored(3);
    let console = vec!["BUG: x".to_owned(), "Kernel panic - not syncing: Fatal exception".to_owned()];
    let (side, host, sign) = (Side::Receiver, "root@b".to_owned(), CrashSign::Silent);
    let crash = Crash { machines: vec![CrashedMachine { side, host, sign, console }] };
    stored.runs.retain(|run| (run.boot, run.condition) != (3, 1) || run.repeat == 1);
    let run = stored.runs.iter_mut().find(|run| (run.boot, run.condition) == (3, 1)).unwrap();
    (run.status, run.reason) = (RunStatus::Failed, Some(crash.to_string()));
    run.detail = Detail::Crashed(crash);
    let text = Results::new(&stored).unwrap().text(Layout::WIDE);
    let why = "it crashed the receiver (root@b), which no longer answers; the last lines of its console: BUG: x / Kernel panic - not syncing: Fatal exception";
    let told = [
        "Warning: 3 of 36 runs are missing: 1 failed (1 time, last in ipv4 offloads=none, boot 3: ",
        "), 2 left out with what crashed a machine in their boot.",
        "Warning: Repeat the command with --resume 1, and --again to try again what crashed a machine.",
        why,
    ];
    for words in told {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn boots_after_the_look_that_ended_a_study_are_not_missing() {
    let text = quick().text.replace("boots = 3", "boots = 6\nstop = { detect = \"2%\", looks = 2 }");
    let mut stored = stored(3);
    stored.plan.asked = Study::parse("x.toml", &text).unwrap().plan().asked;
    let missing = |stored: &StoredStudy| {
        serde_json::to_value(Results::new(stored).unwrap()).unwrap().get("missing").is_some()
    };
    assert!(!missing(&stored), "its first look is after boot 3");
    stored.row.status = StudyStatus::Interrupted;
    stored.row.boots = 2;
    assert!(missing(&stored));
}

#[test]
fn what_is_missing_follows_from_the_stored_protocol_whatever_the_text_says() {
    let mut stored = stored(2);
    let longer = quick().text.replace("boots = 3", "boots = 7");
    for text in [longer.as_str(), "the grammar = of another version"] {
        stored.row.toml = text.to_owned();
        let page = Results::new(&stored).unwrap().text(Layout::WIDE);
        assert!(page.contains("\nWarning: 12 of 36 runs are missing: 12 not tried"), "{page}");
        let compared = Comparisons::new(&stored, &ComparisonRequest::default()).unwrap().text(Layout::WIDE);
        assert!(compared.contains("\nWarning: 12 of 36 runs are missing"), "{compared}");
    }
}

#[test]
fn failed_runs_are_listed_with_their_reason() {
    let mut stored = stored(1);
    stored.runs[2] = run(2, 1, 1, 2, RunStatus::Failed);
    let text = terminal(&views::runs(&Results::new(&stored).unwrap()), Layout::WIDE);
    insta::assert_snapshot!("runs", text);
}

/// The limit of a run, as the runner stores it.
fn limited(stored: &mut StoredStudy, label: impl Fn(&StoredRun) -> &'static str) {
    for run in &mut stored.runs {
        let evidence =
            vec![Evidence::Answered { per_second: run.repeat.into(), requested: 7 }, Evidence::NobodyBusy];
        run.limited_by = Some(Limit { label: label(run).parse().unwrap(), evidence });
    }
}

#[test]
fn what_limited_each_condition_and_what_was_disturbed() {
    let mut stored = stored(3);
    limited(&mut stored, |run| match (run.condition, run.repeat) {
        (0 | 2, _) => "link",
        (1, 1) => "device",
        (_, _) => "receiver CPU",
    });
    let hogged = "receiver: other processes took 48 % of the time of CPU 1".to_owned();
    for (place, repeat) in [(5, false), (17, true)] {
        let run = &mut stored.runs[place];
        (run.status, run.reason) = (RunStatus::Invalid, Some(hogged.clone()));
        if repeat {
            let good = StoredRun { status: RunStatus::Ok, reason: None, ..run.clone() };
            stored.runs.push(good);
        }
    }
    let results = Results::new(&stored).unwrap();
    insta::assert_snapshot!("limits", results.text(Layout::WIDE));
    let json = serde_json::to_value(&results).unwrap();
    assert_eq!(json["conditions"][1]["limited_by"]["label"], "receiver CPU");
    assert_eq!(json["conditions"][1]["limited_by"]["labels"], json!({"device": 3, "receiver CPU": 5}));
    assert_eq!((&json["invalid_runs"]["runs"], &json["invalid_runs"]["left"]), (&json!(2), &json!(1)));
    assert_eq!(json["invalid_runs"]["each"][0]["reason"], hogged);
    let runs = terminal(&views::runs(&results), Layout::WIDE);
    assert!(runs.contains("(invalid)") && runs.contains("Disturbed runs, which do not count:"), "{runs}");

    // Where the link sets the rate of both, a comparison of rates says so, and one of costs does
    // not.
    let notes = |metric: Metric| {
        let request = ComparisonRequest { metric: Some(metric), ..ComparisonRequest::default() };
        Comparisons::new(&stored, &request).unwrap().text(Layout::WIDE)
    };
    assert!(notes(metric::THROUGHPUT).contains(
        "Note: ipv6 offloads=default against ipv4 offloads=default: limited by the link in both, so throughput cannot differ"
    ));
    assert!(!notes(metric::CPU.receiver).contains("cannot differ"));

    // Conditions that are all limited by pacing can differ, if their paces do.
    limited(&mut stored, |_| "pacing");
    let said = |stored: &StoredStudy| {
        Comparisons::new(stored, &ComparisonRequest::default()).unwrap().text(Layout::WIDE)
    };
    assert!(said(&stored).contains("limited by pacing in both, so throughput cannot differ"));
    for (place, condition) in stored.plan.conditions.iter_mut().enumerate() {
        condition.workload.traffic.pacing = study::Pacing::of_bits(100_000_000 - place as u64);
    }
    assert!(!said(&stored).contains("cannot differ"), "{}", said(&stored));
}

#[test]
fn what_the_load_engine_said_of_its_runs() {
    let mut stored = stored(2);
    for run in &mut stored.runs {
        let copied = if run.condition == 1 { 5 } else { 0 };
        let mut account = sample::account();
        let outcome = &mut account.transmitter.whole.outcome;
        outcome.zerocopy = Some(Zerocopy { completed: 10, copied });
        outcome.latency.as_mut().unwrap().clock_ns = 30.0 + f64::from(run.boot);
        if run.condition == 2 {
            outcome.notes = serde_json::from_value(json!(["nothing_to_poll"])).unwrap();
        }
        account.receiver = None;
        run.detail = Detail::Measured(Box::new(account));
        for (metric, value) in [(metric::LOST, 3.0), (metric::LOST_SOCKET, 4.0), (metric::OFFERED, 100.0)] {
            run.metrics.insert(metric, value);
        }
    }
    for condition in &mut stored.plan.conditions {
        condition.workload.traffic.kind = Kind::UdpStream;
    }
    let results = Results::new(&stored).unwrap();
    insta::assert_snapshot!("engine", proof(&results));
    let text = results.text(Layout::WIDE);
    assert!(text.contains("Note: ipv6 offloads=default: busy polling had no effect"), "{text}");
}

#[test]
fn comparisons_by_boots_and_classic() {
    let request = ComparisonRequest::default();
    insta::assert_snapshot!("compare", Comparisons::new(&stored(3), &request).unwrap().text(Layout::WIDE));
    insta::assert_snapshot!(
        "classic",
        terminal(&views::classic(&ClassicTest::new(&stored(3), &request).unwrap()), Layout::PLAIN)
    );
    let other = ComparisonRequest {
        metric: metric::find("cpu"),
        baseline: Some("tcp6_nooffload".to_owned()),
        confidence: 0.9,
        ..ComparisonRequest::default()
    };
    let text = Comparisons::new(&stored(3), &other).unwrap().text(Layout::WIDE);
    assert!(text.contains("transmitter's CPU") && text.contains("90 % interval"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("ipv6 offloads=none") && line.ends_with("baseline")),
        "{text}"
    );
}

#[test]
fn what_cannot_be_compared_is_named_with_the_way_out() {
    let error = |metric: Option<Metric>, baseline: Option<&str>, confidence: f64| {
        let request = ComparisonRequest {
            metric,
            baseline: baseline.map(str::to_owned),
            confidence,
            ..ComparisonRequest::default()
        };
        ClassicTest::new(&stored(3), &request).unwrap_err().to_string()
    };
    assert_eq!(
        results::resolve_metric("troughput").unwrap_err().to_string(),
        "there is no metric \"troughput\"; did you mean throughput?"
    );
    assert!(error(None, Some("ipv5"), 0.95).contains("\"ipv4 offloads=default\""));
    assert!(error(Some(metric::TRANSACTIONS), None, 0.95).contains("transactions"));
    assert!(error(None, None, 0.97).contains("not 97 %"));
    assert!(matches!(
        Comparisons::new(&stored(0), &ComparisonRequest::default()),
        Err(Error::NothingRecorded { .. })
    ));
}

#[test]
fn a_comparison_without_values_says_why_and_the_way_out() {
    let hint = |stored: &StoredStudy, metric: Option<Metric>| {
        let request = ComparisonRequest { metric, ..ComparisonRequest::default() };
        Comparisons::new(stored, &request).unwrap_err().to_string()
    };
    let without = |status: RunStatus, reason: &str| {
        let mut without = stored(2);
        for run in without.runs.iter_mut().filter(|run| run.condition == 0) {
            (run.status, run.reason) = (status, Some(reason.to_owned()));
        }
        without
    };
    assert_eq!(
        hint(&without(RunStatus::Invalid, "other processes took 82 % of CPU 0"), None),
        "study 1 holds no recorded run with throughput: every try of ipv4 offloads=default was disturbed, 6 in all; the last, \
         in boot 2: other processes took 82 % of CPU 0. Stop the cause and repeat the study with --resume 1; to count \
         disturbed runs, add --keep-disturbed. `netassay show 1 --runs` lists every try"
    );
    let failed = hint(&without(RunStatus::Failed, "the receiver got nothing"), None);
    assert!(failed.contains("every try of ipv4 offloads=default failed, 6 in all"), "{failed}");
    assert!(
        failed.contains("the receiver got nothing. Correct that and repeat the study with --resume 1"),
        "{failed}"
    );
    // Disturbed runs that count have no CPU time per byte; that is not the same as no run.
    let mut kept = stored(2);
    for run in &mut kept.runs {
        let lacked = metric::SERVICE_DEMAND_BYTE.receiver;
        run.metrics = run.metrics.iter().filter(|(metric, _)| *metric != lacked).collect();
        run.detail.disturb(vec![Cause::Stolen { share: 0.82, cpu: 0 }.into()]);
    }
    let kept = hint(&kept, Some(metric::SERVICE_DEMAND_BYTE.receiver));
    assert!(
        kept.contains("6 runs of ipv4 offloads=default did not yield it: something disturbed 6 of them"),
        "{kept}"
    );
    assert!(!kept.contains("measured yet"), "{kept}");
    let nothing = hint(&stored(0), None);
    assert!(nothing.ends_with("has not been measured yet. Repeat the study with --resume 1"), "{nothing}");
}

#[test]
fn a_plan_before_it_is_run() {
    let listing = PlanListing::new(&quick(), plan(), vec!["receive work is not steered".to_owned()], None);
    insta::assert_snapshot!("plan", listing.text(Layout::WIDE));
}

#[test]
fn the_stored_studies_and_where_they_were_measured() {
    let list = views::study_list(&[ListedStudy::from(&stored(3).row)]);
    insta::assert_snapshot!("list", terminal(&list, Layout::WIDE));
    let mut tagged = stored(3).row;
    tagged.tags = ["main", "\u{1b}[2J=1\nx"].map(str::to_owned).to_vec();
    let list = terminal(&views::study_list(&[ListedStudy::from(&tagged)]), Layout::PLAIN);
    assert!(list.contains("  tags\n") && list.contains("  main, \\u{1b}[2J=1 x\n"), "{list}");
    let environment =
        |stored: &StoredStudy| terminal(&views::environment(&Results::new(stored).unwrap()), Layout::WIDE);
    insta::assert_snapshot!("environments", environment(&stored(1)));
    // Its hosts may be gone when it ends.
    let mut gone = stored(1);
    (gone.boots[0].environment_after, gone.boots[0].ended_unix_ms) = (None, Some(1_795_181_965_000));
    assert!(environment(&gone).ends_with("    its hosts could not be asked\n"));
}
