//! A path between two virtual machines: packets come into the one that asks by an interrupt of its
//! card, or its reader polls the card.

use serde_json::Value;

use crate::common::{Bench, expect, is_root, skip, stdout};
use crate::kernel;

/// The only trace of a command's answer.
fn traced(bench: &Bench, more: &[&str]) -> Value {
    let kernel = format!("kernel={}", kernel::directory().display());
    let words = [
        "trace",
        "udp-rx",
        "scenario=vm",
        "exact=true",
        "trace.readers=asleep",
        "message=1",
        "--format=json",
    ];
    let short = ["trace.batch=256", "trace.rounds=2", &kernel];
    let output = bench.run(&[&words[..], &short[..], more].concat());
    expect(&output, 0);
    let mut document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    document["traces"][0].take()
}

/// What the row that ends there takes.
fn takes(traced: &Value, label: &str, at: &str) -> f64 {
    let stages = traced["account"]["stages"].as_array().unwrap();
    let stage =
        stages.iter().position(|stage| (&stage["label"], &stage["at"]) == (&label.into(), &at.into()));
    let rows = traced["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["to"] == stage.unwrap()).unwrap();
    row["corrected"].as_f64().unwrap()
}

/// The stages that a packet passes, in order.
fn passed(traced: &Value) -> Vec<String> {
    let rows = traced["rows"].as_array().unwrap();
    let stages = traced["account"]["stages"].as_array().unwrap();
    let stage = |index: &Value| stages[usize::try_from(index.as_u64().unwrap()).unwrap()].clone();
    let first = rows.first().map(|row| &row["from"]);
    let indices = first.into_iter().chain(rows.iter().map(|row| &row["to"]));
    indices
        .map(stage)
        .filter(|stage| stage["at"] == "entry")
        .map(|stage| stage["label"].to_string())
        .collect()
}

#[test]
#[ignore = "boots four guests, which need both CPUs"]
fn interrupts_and_polling_readers_are_told_apart() {
    if !is_root() {
        return skip("interrupts_and_polling_readers_are_told_apart", "not root");
    }
    let bench = Bench::new();
    let interrupted = traced(&bench, &[]);
    let stages = passed(&interrupted).join(" ");
    for stage in ["\"interrupt\" \"net_rx_action\" \"poll\" \"dev_gro_receive\"", "\"sk_data_ready\""] {
        assert!(stages.contains(stage), "{stage}: {stages}");
    }
    let polled = traced(&bench, &["busy_poll=10ms"]);
    let stages = passed(&polled);
    assert_eq!(stages[0], "\"poll\"", "{stages:?}");
    for one in [&interrupted, &polled] {
        assert!(one["journeys"]["arrived"].as_u64().unwrap() >= 2 * 256, "{:#}", one["journeys"]);
        // How long the guest idled until an answer came decides what its kernel catches up then. On
        // a busy machine many packets come before the reader polls, by an interrupt, and those that
        // are polled pay for their buffers too: batches differ by that.
        let closure = one["closure"].as_f64().unwrap();
        eprintln!("note: closure {closure:.4}");
        assert!((0.9..=1.1).contains(&closure), "{closure}: {:#}", one["rows"]);
    }
    // A reader that sleeps is woken.
    let [woken, looking] = [&interrupted, &polled].map(|one| takes(one, "sk_data_ready", "return"));
    assert!(woken > 800.0 && looking < 300.0, "{woken} and {looking} instructions");
}
