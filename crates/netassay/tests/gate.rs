//! The gate from outside: its exit codes, its files and what it refuses.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/studies.rs"]
mod studies;

use std::fs;

use common::{Bench, expect, json, stderr, stdout};
use serde_json::Value;
use store::Store;
use studies::{Made, TOML, fleet_pair, level, record_pair, three, two_campaigns};
use study::Study;

const BOUND: [&str; 2] = ["--fail-if", "throughput < -2%"];

/// `three`, and study 4: like study 1, but 5 % slower without offloads over IPv6, and 2 % slower
/// with them over IPv4; one run failed.
fn four(bench: &Bench) {
    three(bench);
    let text = TOML.replace("boots = 3", "boots = 5");
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let plan = Study::parse("quick.toml", &text).unwrap().plan();
    let made =
        Made { toml: &text, plan, kernel: "6.20", boots: 5, runs: 3, metric: "throughput", pair: None };
    made.record(&mut store, |condition, boot, run| match condition {
        1 if (boot, run) == (5, 3) => f64::NAN,
        0 => 0.98 * level(condition, boot, run),
        3 => 0.95 * level(condition, boot, run),
        _ => level(condition, boot, run),
    });
}

fn gate(bench: &Bench, arguments: &[&str]) -> std::process::Output {
    bench.run(&[&["gate"], arguments].concat())
}

#[test]
fn the_exit_code_is_the_outcome() {
    let bench = Bench::new();
    four(&bench);
    expect(&bench.run(&["db", "tag", "1", "main"]), 0);
    let wide = "throughput < -10%";
    for (arguments, code) in [
        (&["2", "--baseline", "main", BOUND[0], BOUND[1]][..], 0),
        (&["4", "--baseline", "main", BOUND[0], BOUND[1]][..], 10),
        (&["--baseline", "main", "--fail-if", wide][..], 0),
        (&["--baseline", "main", "--fail-if", wide, "--require-complete"][..], 11),
        (&["--baseline", "main", "--fail-if", wide, "--require-complete", "--inconclusive", "pass"][..], 11),
        (&["--baseline", "main", "--fail-if", wide, "--require-complete", "--inconclusive", "fail"][..], 10),
        (&["2", "--baseline", "main", "--fail-if", "throughput > +3%"][..], 11),
        (&["2", "--baseline", "main", "--fail-if", "throughput > +3%", "--inconclusive", "pass"][..], 0),
        (&["2", "--baseline", "main", "--fail-if", "throughput > +3%", "--inconclusive", "fail"][..], 10),
        (&["2", "--baseline-condition", "offloads=default", "--fail-if", "throughput > 5%"][..], 10),
        (&["2", "--baseline-condition", "ipv4 offloads=none", "--fail-if", "throughput < -50%"][..], 0),
    ] {
        let output = gate(&bench, arguments);
        expect(&output, code);
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn a_bisection_has_codes_of_its_own_and_stops_at_what_is_no_verdict() {
    let bench = Bench::new();
    four(&bench);
    for (arguments, code) in [
        (&["2", "--baseline", "1", BOUND[0], BOUND[1]][..], 0),
        (&["4", "--baseline", "1", BOUND[0], BOUND[1]][..], 1),
        (&["2", "--baseline", "1", "--fail-if", "throughput > +3%"][..], 125),
        (&["2", "--baseline", "1", "--fail-if", "transactions < -2%"][..], 125),
        (&["2", "--baseline", "mian", BOUND[0], BOUND[1]][..], 132),
        (&["2", "--baseline", "1", "--fail-if", "troughput < -2%"][..], 130),
    ] {
        expect(&gate(&bench, &[arguments, &["--bisect"]].concat()), code);
    }
}

#[test]
fn what_cannot_be_judged_has_its_code_and_its_reason() {
    let bench = Bench::new();
    three(&bench);
    for (arguments, code, words) in [
        (&["3", "--baseline", "1", BOUND[0], BOUND[1]][..], 12, "kind is tcp_stream in study 1"),
        (&["2", "--baseline", "1", "--fail-if", "transactions < -2%"][..], 12, "gives transactions"),
        (&["2", "--baseline", "1", "--fail-if", "instructions_byte > 1%"][..], 12, "exact mode only"),
        (
            &["2", "--baseline-condition", "offloads=default", "--fail-if", "transactions < -2%"][..],
            12,
            "gives transactions",
        ),
        (&["2", "--baseline", "1", "--fail-if", "receiver.cpu > 2%"][..], 4, "receiver.cpu"),
        (&["2", "--baseline", "mian", BOUND[0], BOUND[1]][..], 4, "holds no study \"mian\""),
        (&["2", "--baseline", "2", BOUND[0], BOUND[1]][..], 2, "both are study 2"),
        (&["2", "--baseline-condition", "tso=off", BOUND[0], BOUND[1]][..], 2, "no condition \"tso=off\""),
        (&["2", BOUND[0], BOUND[1]][..], 2, "--baseline"),
        (&["2", "--baseline", "1"][..], 2, "--fail-if"),
        (&["2", "--baseline", "1", "--fail-if", "troughput < -2%"][..], 2, "did you mean throughput?"),
        (&["2", "--baseline", "1", "--fail-if", "throughput < -2"][..], 2, "or a difference in Mbit/s"),
        (&["2", "--baseline", "1", "--fail-if", "throughput < 2%"][..], 2, "write -2%"),
        (
            &["2", "--baseline", "1", BOUND[0], BOUND[1], BOUND[0], "throughput < -3%"][..],
            2,
            "limit the same",
        ),
        (&["2", "--baseline", "1", BOUND[0], BOUND[1], "--confidence", "50"][..], 2, "more than 50"),
        (&["2", "--baseline", "1", BOUND[0], BOUND[1], "--acknowledged", "none.toml"][..], 2, "none.toml"),
        (&["2", "--baseline", "1", BOUND[0], BOUND[1], "-o", "no/such/file"][..], 3, "no/such/file"),
        (&["2", "--baseline", "1", BOUND[0], BOUND[1], "--db", "none.db"][..], 4, "none.db"),
    ] {
        let output = gate(&bench, arguments);
        expect(&output, code);
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    assert!(!bench.path("none.db").exists());
}

#[test]
fn a_known_regression_is_accepted_until_its_day() {
    let bench = Bench::new();
    four(&bench);
    let entry = |expires: &str| {
        format!(
            "[[acknowledged]]\ncondition = \"ipv6 offloads=none\"\nmetric = \"throughput\"\nbound = \"< -6%\"\nreason = \"mitigations of 6.20\"\nexpires = {expires}\n"
        )
    };
    let with = |text: &str| {
        bench.write("known.toml", text);
        let bounds = [BOUND[0], "throughput < -3%", "--acknowledged", "known.toml"];
        gate(&bench, &[&["4", "--baseline", "1"], &bounds[..]].concat())
    };
    let known = with(&entry("9999-12-31"));
    expect(&known, 0);
    insta::assert_snapshot!("acknowledged", stdout(&known));
    let expired = with(&entry("2026-01-31"));
    expect(&expired, 2);
    insta::assert_snapshot!("acknowledged_expired", stderr(&expired));
    let odd = with(&entry("9999-12-31").replace("reason", "because"));
    expect(&odd, 2);
    assert!(stderr(&odd).contains("known.toml:5:1: unknown field `because`"), "{}", stderr(&odd));
    let unused = with(&entry("9999-12-31").replace("ipv6", "ipv4"));
    expect(&unused, 10);
    assert!(
        stdout(&unused).contains("Unused: the acknowledgement of throughput < -6%"),
        "{}",
        stdout(&unused)
    );
}

#[test]
fn each_format_is_printed_or_written_beside_the_page() {
    let bench = Bench::new();
    four(&bench);
    let asked = ["4", "--baseline", "1", BOUND[0], BOUND[1]];
    let page = gate(&bench, &asked);
    expect(&page, 10);
    let text = stdout(&page);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("gate", text);
    for (format, begin) in
        [("md", "### Gate: fail"), ("junit", "<?xml version=\"1.0\""), ("json", "{"), ("text", "Gate: fail")]
    {
        let printed = gate(&bench, &[&asked[..], &["--format", format]].concat());
        expect(&printed, 10);
        assert!(stdout(&printed).starts_with(begin), "{}", stdout(&printed));
        let written = gate(&bench, &[&asked[..], &["--format", format, "-o", "result"]].concat());
        expect(&written, 10);
        assert_eq!(stdout(&written), text, "the page is printed as well");
        assert_eq!(fs::read_to_string(bench.path("result")).unwrap(), stdout(&printed));
    }
    let json = gate(&bench, &[&asked[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["outcome"], &json["checks"][3]["outcome"]), (&"fail".into(), &"fail".into()));
    assert_eq!(json["lacks"][0], "study 4 is complete: it has 59 of 60 planned runs");
}

#[test]
fn a_campaign_is_gated_against_another_one_by_pairs() {
    let bench = Bench::new();
    two_campaigns(&bench);
    let arguments =
        |bound: &'static str| ["gate", "quick@2", "--baseline", "1", "--fleet", "--wide", "--fail-if", bound];
    let failed = bench.run(&arguments("throughput < -2%"));
    expect(&failed, 10);
    let text = stdout(&failed);
    for words in [
        "campaign quick@2 against campaign quick@1",
        "pairs",
        "not every campaign measured these pairs of quick@2: e",
        "degrees of freedom by pairs",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let passed = json(&bench, &arguments("throughput < -10%"));
    for check in passed["checks"].as_array().unwrap() {
        // The mean of the pairs' own percentages, whatever their speed.
        assert!((check["difference"].as_f64().unwrap() + 5.0).abs() < 0.01, "{check:#}");
        assert_eq!(check["boots"], 4, "{check:#}");
    }
    let same = bench.run(&["gate", "2", "--baseline", "1", "--fleet", "--fail-if", "throughput < -2%"]);
    expect(&same, 2);
    assert!(stderr(&same).contains("both are campaign quick@1"), "{}", stderr(&same));
}

#[test]
fn a_gate_over_pairs_says_what_it_lacks_in_pairs() {
    let bench = Bench::new();
    two_campaigns(&bench);
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    record_pair(&mut store, fleet_pair("quick@3", "a", 1), 1, [1.0; 4]);
    // Values of 1e-319 or so.
    for name in ["a", "b"] {
        record_pair(&mut store, fleet_pair("quick@4", name, 1), 1, [1e-322; 4]);
    }
    drop(store);
    let bound = ["--fleet", "--fail-if", "throughput < -2%", "--format", "json"];
    let alone = gate(&bench, &[&["quick@3", "--baseline", "quick@1"][..], &bound].concat());
    expect(&alone, 11);
    let found: Value = serde_json::from_slice(&alone.stdout).unwrap();
    let why = "only 1 pair of machines measured both it and the baseline, an interval needs 2 or more";
    assert_eq!(found["checks"][0]["open"]["no_interval"], why, "{found:#}");
    let tiny = gate(&bench, &[&["quick@1", "--baseline", "quick@4"][..], &bound].concat());
    expect(&tiny, 12);
    let why = "ipv4 offloads=default: on pair a throughput is ";
    assert!(stderr(&tiny).contains(why), "{}", stderr(&tiny));
}
