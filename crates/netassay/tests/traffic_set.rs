//! A study changed from the command line: what is measured, stored and resumed is the changed one.

mod common;

use common::{Bench, code, expect, stderr};

const SHORT: [&str; 10] = [
    "--set",
    "duration=50ms",
    "--set",
    "ramp=10ms",
    "--set",
    "boots=1",
    "--set",
    "family=ipv4",
    "--set",
    "offloads=default,none",
];

#[test]
fn a_changed_study_is_stored_and_resumed_as_changed() {
    let bench = Bench::new();
    let quick =
        |more: &[&str]| bench.netassay_as_nobody(&[&["quick"], &SHORT[..], more].concat()).output().unwrap();
    // The baseline of the bundled study still is one of the two conditions.
    let output = quick(&["--set", "runs=1", "--set", "warmup=0", "--progress", "none"]);
    assert!([0, 5].contains(&code(&output)), "{}", stderr(&output));
    let (text, runs): (String, i64) = bench
        .database()
        .query_row("SELECT toml, (SELECT count(DISTINCT condition) FROM run) FROM study", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(runs, 2);
    for line in ["duration = \"50ms\"", "boots = 1", "family = \"ipv4\"", "runs = 1", "warmup = 0"] {
        assert!(text.lines().any(|written| written == line), "{line} is not in\n{text}");
    }
    // Without the changes it is another study.
    let output = quick(&["--set", "runs=2", "--resume", "1"]);
    expect(&output, 2);
    assert!(stderr(&output).contains("what --set changed"), "{}", stderr(&output));
}
