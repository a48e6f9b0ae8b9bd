//! Verdicts that depend on more than two numbers: looks, twins, sizes, several metrics.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod shown;
mod stored;

use netassay_report::Layout;
use record::{Detail, Response, Turns, sample};
use results::{
    BothWays, ComparisonRequest, Comparisons, Error, FalsePositives, PilotSpread, PlanListing, Results,
    Sizing, SizingRequest, WaysOutcome, is_decided,
};
use serde_json::json;
use shown::Shown as _;
use stats::Margin;
use std::collections::BTreeMap;
use store::StoredStudy;
use study::{Percent, Study};

const HEAD: &str = "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
                    duration = \"1s\"\n";

fn looking(detect: &str) -> Study {
    let text = format!(
        "{HEAD}[factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 10\nruns = 3\nstop = {{ detect = \"{detect}\" }}\n"
    );
    Study::parse("made", &text).unwrap()
}

/// A stored study whose runs are `value(boot, run, condition)`.
fn stored(study: &Study, boots: u32, value: impl Fn(u32, u32, usize) -> f64) -> StoredStudy {
    let plan = study.plan();
    let mut runs = Vec::new();
    for boot in 1..=boots {
        for repeat in 1..=study.protocol.runs {
            for condition in 0..plan.conditions.len() {
                let value = value(boot, repeat, condition);
                let metrics = BTreeMap::from([
                    ("throughput".to_owned(), value),
                    ("transmitter.service_demand_byte".to_owned(), 1000.0 / value),
                ]);
                runs.push(stored::run(i64::try_from(runs.len()).unwrap(), boot, repeat, condition, metrics));
            }
        }
    }
    stored::complete(study, plan, boots, runs)
}

/// Something like noise between -1 and 1, the same on every machine.
fn noise(boot: u32, run: u32, condition: usize) -> f64 {
    let place = f64::from(boot) * 12.9898 + f64::from(run) * 78.233 + condition as f64 * 37.719;
    2.0 * (place.sin() * 43_758.545_3).rem_euclid(1.0) - 1.0
}

#[test]
fn a_large_difference_decides_at_the_first_look_and_a_small_one_does_not() {
    let study = looking("2%");
    let differs =
        |by: f64| move |boot, run, condition| 1000.0 - by * condition as f64 + noise(boot, run, condition);
    assert!(is_decided(&stored(&study, 4, differs(300.0))));
    assert!(!is_decided(&stored(&study, 2, differs(3.0))));
    // Proven to be smaller than what is to be detected is decided too.
    assert!(is_decided(&stored(&study, 10, differs(0.0))));
    // And what lacks a condition is not, whatever the other shows.
    let mut half = stored(&study, 4, differs(300.0));
    half.runs.retain(|run| run.condition == 0);
    assert!(!is_decided(&half));
}

#[test]
fn the_interval_is_that_of_the_look_and_between_looks_that_of_the_one_before() {
    let study = looking("2%");
    let value =
        |boot, run, condition: usize| 1000.0 - 40.0 * condition as f64 + 30.0 * noise(boot, run, condition);
    let page = |boots| Results::new(&stored(&study, boots, value)).unwrap().text(Layout::WIDE);
    insta::assert_snapshot!("look", page(6));
    let method = |boots| {
        let text = Comparisons::new(&stored(&study, boots, value), &ComparisonRequest::default())
            .unwrap()
            .text(Layout::WIDE);
        text.lines().find(|line| line.contains("Look ")).unwrap().to_owned()
    };
    assert!(method(6).contains("Look 3 of 5"), "{}", method(6));
    assert!(method(7).contains("Look 3 of 5"), "{}", method(7));
    assert!(method(1).contains("Look 1 of 5"), "{}", method(1));
    // In the middle of boot 4 the second look has not come.
    let mut inside = stored(&study, 4, value);
    inside.boots[3].ended_unix_ms = None;
    let text = Comparisons::new(&inside, &ComparisonRequest::default()).unwrap().text(Layout::WIDE);
    assert!(text.contains("Look 1 of 5"), "{text}");
    assert!(method(10).contains("Look 5 of 5"), "{}", method(10));
}

#[test]
fn what_a_look_chose_is_stated_beside_what_was_measured() {
    let text = looking("2%").text.replace("\"2%\" }", "\"2%\", bounds = \"pocock\" }");
    let study = Study::parse("made", &text).unwrap();
    // Boots that differ as these do prove 4.5 % at the third look and not before.
    let of_boot = [30.0, -30.0, 25.0, -25.0, 1.0, -1.0];
    let stored = stored(&study, 6, |boot, run, condition| {
        1000.0 - (45.0 + of_boot[boot as usize - 1]) * condition as f64 + noise(boot, run, condition)
    });
    let results = Results::new(&stored).unwrap();
    let compared = Comparisons::new(&stored, &ComparisonRequest::default()).unwrap();
    let row = serde_json::to_value(&compared).unwrap()["comparisons"][0]["rows"][0].clone();
    let figure = |key: &str| row[key].as_f64().unwrap();
    assert!(figure("unadjusted") < figure("difference") && figure("difference") < 0.0, "{row}");
    assert!(figure("unadjusted_relative") < figure("relative"), "{row}");
    // One difference everywhere: in the table and in the answer.
    let words = format!("{:.1}", figure("relative").abs());
    let measured =
        format!("corrected for the looks, {:.1} % as measured", figure("unadjusted_relative").abs());
    let page = results.text(Layout::WIDE);
    let answer = page.lines().find(|line| line.starts_with("Answer")).unwrap();
    assert!(answer.contains(&format!("{words} % lower")) && answer.contains(&measured), "{answer}");
    assert!(page.contains(&format!("-{words}  ")), "{page}");
    let text = compared.text(Layout::WIDE);
    assert!(text.contains(&format!("{words} % lower")) && text.contains(&measured), "{text}");
    assert!(text.contains("Emerson and Fleming"), "{text}");
}

#[test]
fn a_margin_makes_small_differences_equivalent_or_open() {
    let text = format!("{HEAD}[factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 5\nruns = 3\n");
    let study = Study::parse("made", &text).unwrap();
    let stored = stored(&study, 5, |boot, run, condition| 1000.0 + 20.0 * noise(boot, run, condition));
    let verdict = |margin: Option<f64>| {
        let request =
            ComparisonRequest { margin: margin.map(Margin::Percent), ..ComparisonRequest::default() };
        let text = Comparisons::new(&stored, &request).unwrap().text(Layout::WIDE);
        let row = text.lines().find(|line| line.starts_with("tso=off ")).unwrap();
        row.split("  ").last().unwrap().trim().to_owned()
    };
    assert_eq!(
        [None, Some(10.0), Some(0.1)].map(verdict),
        ["no difference proven", "equivalent", "inconclusive"]
    );
}

#[test]
fn all_pairs_are_compared_and_metrics_share_the_error_rate() {
    let text = format!(
        "{HEAD}[factors]\nfamily = [\"ipv4\", \"ipv6\"]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 5\nruns = 3\n\
         [[comparison]]\nmetric = \"throughput\"\n[[comparison]]\nmetric = \"service_demand_byte\"\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let value =
        |boot, run, condition: usize| 1000.0 - 90.0 * condition as f64 + 10.0 * noise(boot, run, condition);
    let stored = stored(&study, 5, value);
    let request = ComparisonRequest { all_pairs: true, ..ComparisonRequest::default() };
    insta::assert_snapshot!("all_pairs", Comparisons::new(&stored, &request).unwrap().text(Layout::WIDE));
}

#[test]
fn twins_are_judged_by_each_method() {
    let text = format!(
        "{HEAD}[factors]\ntso = [\"off\"]\ntwin = [\"a\", \"b\"]\n[protocol]\nboots = 13\nruns = 3\n"
    );
    let study = Study::parse("made", &text).unwrap();
    // What a boot does to one label and not to the other deceives a test of the runs, not one of
    // the boots.
    let value =
        |boot, run, condition| 1000.0 + 40.0 * noise(boot, 0, condition) + 5.0 * noise(boot, run, condition);
    let stored = stored(&study, 13, value);
    let found = FalsePositives::new(&stored, 3).unwrap();
    insta::assert_snapshot!("twins", found.text(Layout::WIDE));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!((&json["experiments"], &json["metrics"][0]["metric"]), (&json!(4), &json!("throughput")));
    assert!(matches!(FalsePositives::new(&stored, 14), Err(Error::NothingRecorded { .. })));
    // An experiment whose runs were disturbed has no verdict in the metrics that they lack.
    let mut disturbed = stored.clone();
    let lacked = study::metric::SERVICE_DEMAND_BYTE.transmitter;
    for run in disturbed.runs.iter_mut().filter(|run| run.boot <= 2 && run.repeat > 1) {
        assert!(run.metrics.get(lacked).is_some());
        run.metrics = run.metrics.iter().filter(|(metric, _)| *metric != lacked).collect();
    }
    let json = serde_json::to_value(FalsePositives::new(&disturbed, 2).unwrap()).unwrap();
    let of =
        |metric: usize| json["metrics"][metric]["rates"].as_array().unwrap().iter().map(|rate| &rate["of"]);
    assert!(of(0).all(|of| *of == 6) && of(1).all(|of| *of == 5), "{json}");
    let other = self::stored(&looking("2%"), 3, value);
    let error = FalsePositives::new(&other, 3).unwrap_err();
    assert!(error.to_string().contains("is no A/A study"), "{error}");
}

/// Two families with and without TSO, both in turns and in runs, where turns hide `hidden` of what
/// TSO gives; `in_turns`: whether turns could be made.
fn both_ways(hidden: f64, in_turns: bool) -> StoredStudy {
    let text = format!(
        "{HEAD}ramp = \"100ms\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\ntso = [\"on\", \"off\"]\n\
         [protocol]\nboots = 6\nruns = 2\nalternate = \"100ms\"\napart = true\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let is_apart = |boot, run| study.protocol.is_apart(boot, run) || !in_turns;
    let value = |boot, run, condition: usize| {
        let without = if condition % 2 == 1 { 300.0 } else { 0.0 };
        let (gain, chance) = if is_apart(boot, run) { (1.0, 30.0) } else { (1.0 - hidden, 4.0) };
        1000.0 - without * gain + 50.0 * noise(boot, 0, 0) + chance * noise(boot, run, condition)
    };
    let mut stored = stored(&study, 6, value);
    for run in stored.runs.iter_mut().filter(|run| !is_apart(run.boot, run.block)) {
        let mut account = sample::account();
        let (turns, response) = (Vec::new(), Response::default());
        let (turn_ns, settle_ns, from_others) = (100_000_000, 20_000_000, 0);
        account.turns = Some(Turns { turn_ns, settle_ns, own: 0, turns, response, from_others });
        run.detail = Detail::Measured(Box::new(account));
    }
    stored
}

#[test]
fn turns_and_runs_are_compared_in_the_same_boots() {
    let found = BothWays::new(&both_ways(0.0, true)).unwrap();
    assert_eq!(found.outcome(), WaysOutcome::Agree);
    insta::assert_snapshot!("both_ways", found.text(Layout::WIDE));
    // The baseline of the study, and the condition of the other flow that is most like it.
    let json = serde_json::to_value(&found).unwrap();
    let pairs: Vec<_> = json["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["condition"], &one["baseline"]))
        .collect();
    assert_eq!(
        pairs,
        [(&json!("ipv4 tso=off"), &json!("ipv4 tso=on")), (&json!("ipv6 tso=off"), &json!("ipv6 tso=on"))]
    );
    assert_eq!(
        (&json["comparisons"][0]["boots"], &json["comparisons"][0]["verdict"]),
        (&json!(6), &json!("agree"))
    );

    let found = BothWays::new(&both_ways(0.5, true)).unwrap();
    assert_eq!(found.outcome(), WaysOutcome::Disagree);
    let text = found.text(Layout::WIDE);
    assert!(text.contains("Turns and runs disagree: do not rely on differences"), "{text}");
}

#[test]
fn a_plan_says_that_turns_share_the_buffers_that_tcp_sizes() {
    let planned = |given: &str| {
        let text = format!(
            "{HEAD}{given}[factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 6\nalternate = \"100ms\"\n"
        );
        let study = Study::parse("made", &text).unwrap();
        PlanListing::new(&study, study.plan(), Vec::new(), None).text(Layout::WIDE)
    };
    let (by_tcp, given) = (planned(""), planned("socket_buffer = 4194304\n"));
    assert!(by_tcp.contains("\nthe turns of a TCP flow share the buffers that TCP sizes"), "{by_tcp}");
    assert!(
        given.contains("conditions that share a flow: 1, 2\n") && !given.contains("TCP sizes"),
        "{given}"
    );
}

#[test]
fn what_is_not_counted_in_turns_is_missing_for_that_reason() {
    let metric = Some(study::metric::RETRANSMITS.transmitter);
    let request = ComparisonRequest { metric, ..ComparisonRequest::default() };
    let why = |stored: &StoredStudy| Comparisons::new(stored, &request).unwrap_err().to_string();
    let mut stored = both_ways(0.0, true);
    assert!(!why(&stored).contains("took turns"), "{}", why(&stored));
    stored.runs.retain(|run| matches!(&run.detail, Detail::Measured(account) if account.turns.is_some()));
    assert!(why(&stored).contains("they took turns, which have no latencies"), "{}", why(&stored));
}

#[test]
fn what_took_no_turns_is_not_compared() {
    let found = BothWays::new(&both_ways(0.0, false)).unwrap();
    assert_eq!(found.outcome(), WaysOutcome::NotCompared);
    let text = found.text(Layout::WIDE);
    assert!(text.contains("Not everything was compared both ways"), "{text}");
    let other = stored(&looking("2%"), 3, |boot, run, condition| 1000.0 + noise(boot, run, condition));
    let error = BothWays::new(&other).unwrap_err();
    assert!(error.to_string().contains("not measured both in turns and in runs"), "{error}");
}

#[test]
fn a_study_is_sized_by_what_was_measured() {
    let study = looking("2%");
    let value =
        |boot, run, condition| 1000.0 + 8.0 * noise(boot, 0, condition) + 30.0 * noise(boot, run, condition);
    let spread = PilotSpread::from_pilot(&stored(&study, 6, value), &study, None).unwrap().unwrap();
    let request =
        SizingRequest { detect: Percent::parse("2%").unwrap(), power: 0.8, confidence: 0.95, metric: None };
    insta::assert_snapshot!(
        "sizing",
        Sizing::new(&study, spread.clone(), &request).unwrap().text(Layout::WIDE)
    );
    // A pilot that sees nothing of boots does not prove that there is nothing.
    let blind = PilotSpread { interaction: 0.0, ..spread.clone() };
    let text = Sizing::new(&study, blind, &request).unwrap().text(Layout::WIDE);
    assert!(text.contains("(with 80 % confidence at most 1.9"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("assured")), "{text}");
    let impossible = SizingRequest { detect: Percent::LEAST, ..request.clone() };
    let text = Sizing::new(&study, spread.clone(), &impossible).unwrap().text(Layout::WIDE);
    assert!(text.contains("No size within 1000 boots"), "{text}");
    let elsewhere = SizingRequest { metric: Some(study::metric::TRANSACTIONS), ..request };
    assert!(matches!(Sizing::new(&study, spread, &elsewhere), Err(Error::NothingToSize { .. })));
    // One boot tells nothing of how boots differ.
    assert!(PilotSpread::from_pilot(&stored(&study, 1, value), &study, None).unwrap().is_none());
}

#[test]
fn a_pilot_of_both_ways_has_a_spread_of_each() {
    let study = |turns: &str| {
        let factors = "ramp = \"100ms\"\n[factors]\ntso = [\"on\", \"off\"]";
        let text = format!("{HEAD}{factors}\n[protocol]\nboots = 6\nruns = 2\n{turns}");
        Study::parse("made", &text).unwrap()
    };
    let (in_turns, in_runs) = (study("alternate = \"100ms\"\n"), study(""));
    let pilot = both_ways(0.0, true);
    let spread = |study: &Study| PilotSpread::from_pilot(&pilot, study, None).unwrap().unwrap();
    let (of_turns, of_runs) = (spread(&in_turns), spread(&in_runs));
    // Each boot has a flow, and a run of each condition. Runs spread by 30 to 4, and a boot
    // changes all conditions of a flow alike.
    assert!((of_turns.in_turns, of_turns.runs, of_runs.in_turns, of_runs.runs) == (true, None, false, None));
    assert!(of_turns.interaction < 0.3 * of_runs.interaction, "{of_turns:?} {of_runs:?}");
}

#[test]
fn a_page_says_what_a_boot_between_machines_was() {
    let page = |scenario: &str, boots: &str| {
        let head = HEAD.replace("veth", scenario);
        let text =
            format!("{head}[factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = {boots}\nruns = 2\n");
        let study = Study::parse("made", &text).unwrap();
        let stored = stored(&study, 3, |boot, run, condition| 1000.0 + noise(boot, run, condition));
        Results::new(&stored).unwrap().text(Layout::WIDE)
    };
    let reset = page("ssh", "3");
    assert!(reset.contains("Boots: sockets and settings rebuilt, machines not restarted."), "{reset}");
    let reboot = page("ssh-vxlan", "{ how = \"reboot\", count = 3 }");
    assert!(reboot.contains("Boots: both machines restarted between boots."), "{reboot}");
    assert!(!page("veth", "3").contains("restarted"));
}
