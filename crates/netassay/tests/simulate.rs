//! `netassay simulate` from outside.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use common::{Bench, expect, stderr, stdout};
use serde_json::{Value, json};
use store::{NewRun, NewStudy, Outcome, Store, StudyStatus};
use study::Study;

#[test]
fn the_tables_are_the_same_for_everybody() {
    let bench = Bench::new();
    let few = ["--experiments", "100", "--seed", "3"];
    let output = bench.run(&[&["simulate"], few.as_slice()].concat());
    expect(&output, 0);
    insta::assert_snapshot!("simulate", stdout(&output));
    let crossed = [
        "simulate",
        "--design",
        "crossed",
        "--between",
        "0,1",
        "--boots",
        "5",
        "--conditions",
        "3",
        "--differences",
        "1.5",
        "--shape",
        "ar1",
        "--methods",
        "additive,boot-means,pooled-t",
        "--sequential",
        "looks=3,boots=9",
    ];
    let output = bench.run(&[crossed.as_slice(), few.as_slice()].concat());
    expect(&output, 0);
    insta::assert_snapshot!("simulate_crossed", stdout(&output));
    let output = bench.run(&["simulate", "--help"]);
    expect(&output, 0);
    insta::assert_snapshot!("help_simulate", stdout(&output));
}

#[test]
fn json_says_what_was_simulated_and_what_came_of_it() {
    let bench = Bench::new();
    let output = bench.run(&[
        "simulate",
        "--format",
        "json",
        "--experiments",
        "40",
        "--between",
        "0.5",
        "--differences",
        "2,3",
        "--methods",
        "boot-means",
        "--sequential",
        "looks=2,boots=4",
    ]);
    expect(&output, 0);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["plan"]["methods"], json!(["boot_means"]));
    assert_eq!(result["plan"]["world"]["design"], "nested");
    assert_eq!(result["origin"]["study"], Value::Null);
    assert_eq!(result["false_positives"].as_array().unwrap().len(), 1);
    assert_eq!(result["power"].as_array().unwrap().len(), 2);
    let rate = &result["power"][1]["rates"][0];
    assert_eq!(rate["experiments"], 40);
    assert!(rate["interval"][0].as_f64() < rate["rate"].as_f64());
    assert_eq!(result["sequential"]["looks"], json!([2, 4]));
}

#[test]
fn wrong_requests_are_named() {
    let bench = Bench::new();
    for (arguments, word) in [
        (vec!["--boots", "1"], "1 boots cannot be simulated: give 2 to"),
        (vec!["--between", "-1"], "-1"),
        (vec!["--between", "0,x"], "'x'"),
        (vec!["--between=0", "--within", "0"], "no spread"),
        (vec!["--methods", "guess"], "guess"),
        (vec!["--methods", "additive"], "--design crossed"),
        (vec!["--shape", "flat"], "flat"),
        (vec!["--sequential", "5"], "looks=N"),
        (vec!["--sequential", "looks=5,boots=x"], "looks=5,boots=20"),
        (vec!["--sequential", "looks=5"], "5 looks do not fit into 3 boots"),
        (vec!["--experiments", "10000000"], "times as long"),
        (vec!["--from-study", "1", "--between", "1"], "--between"),
    ] {
        let output = bench.run(&[&["simulate"], arguments.as_slice()].concat());
        expect(&output, 2);
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
    }
    let output = bench.run(&["simulate", "--from-study", "1"]);
    expect(&output, 4);
    assert!(stderr(&output).contains("netassay quick"), "{}", stderr(&output));
}

/// Stores a study of two conditions, in 5 boots of `runs` runs, with throughputs around 1000 and
/// 900.
fn store_study(bench: &Bench, runs: u32) -> i64 {
    let text = format!(
        "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\nduration = \"1s\"\n[factors]\n\
         tso = [\"on\", \"off\"]\n[protocol]\nboots = 5\nruns = {runs}\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let new = NewStudy {
        name: "made".to_owned(),
        toml: text,
        plan: study.plan(),
        seed: 1,
        scenario: "veth".to_owned(),
        version: "0.1.0".to_owned(),
    };
    let id = store.begin_study(&new).unwrap();
    let noise = |place: f64| (place.sin() * 43_758.545_3).rem_euclid(1.0) - 0.5;
    for boot in 1..=5 {
        let row = store.begin_boot(id, boot, &record::sample::environment()).unwrap();
        for repeat in 1..=runs {
            for condition in 0..2 {
                let cell = f64::from(boot) * 12.9898 + condition as f64 * 37.719;
                let value = 1000.0 - 100.0 * condition as f64
                    + 40.0 * noise(f64::from(boot))
                    + 20.0 * noise(cell)
                    + 10.0 * noise(cell + f64::from(repeat) * 78.233);
                let run = NewRun {
                    block: repeat,
                    repeat,
                    position: 2 * repeat + u32::try_from(condition).unwrap(),
                    warmup: false,
                    condition,
                    started_unix_ms: 1_795_181_965_000,
                    outcome: Outcome::Ok(vec![("throughput".to_owned(), value)]),
                    limited_by: None,
                    series: study::BySide::default(),
                    detail: record::Detail::Nothing,
                };
                store.record_run(row, &run).unwrap();
            }
        }
        store.end_boot(row, None).unwrap();
    }
    store.finish_study(id, StudyStatus::Complete).unwrap();
    id.0
}

#[test]
fn a_stored_study_lends_its_spread() {
    let bench = Bench::new();
    let id = store_study(&bench, 4).to_string();
    let output = bench.run(&[
        "simulate",
        "--from-study",
        &id,
        "--experiments",
        "100",
        "--methods",
        "pooled-t,boot-means",
    ]);
    expect(&output, 0);
    insta::assert_snapshot!("simulate_from_study", stdout(&output));
    // One run in each boot cannot tell runs from boots.
    let single = store_study(&bench, 1).to_string();
    let output = bench.run(&["simulate", "--from-study", &single]);
    expect(&output, 4);
    assert!(
        stderr(&output).contains("does not show the spread between runs of throughput"),
        "{}",
        stderr(&output)
    );
    let output = bench.run(&["simulate", "--from-study", &id, "--metric", "througput"]);
    expect(&output, 2);
    assert!(stderr(&output).contains("throughput"), "{}", stderr(&output));
}
