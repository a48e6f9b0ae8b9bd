//! A study whose runs are traced: its conditions compared stage by stage, in an exact guest.

use std::process::Command;

use serde_json::Value;

use crate::common::{Bench, apart, expect, stdout};
use crate::kept_report::keep_report;
use crate::kernel;

const SHORT: [&str; 7] = [
    "boots=2",
    "trace.batch=256",
    "trace.rounds=2",
    "guest.memory=256MiB",
    "trace.paths=udp-tx,udp-rx",
    "trace.profile=true",
    "seed=3",
];

fn document(command: &Command) -> Value {
    let output = apart(command).output().unwrap();
    expect(&output, 0);
    let mut document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let command = document["command"].take();
    assert!(command.as_str().is_some_and(|command| command.starts_with("netassay trace")), "{command}");
    document
}

/// A stage's difference, by the stage that ends it.
fn difference(pair: &Value, ends_at: &str) -> f64 {
    let stages = pair["stages"].as_array().unwrap();
    let place = stages.iter().position(|stage| stage[1] == ends_at);
    let place = place.unwrap_or_else(|| panic!("no stage ends at {ends_at}: {stages:?}"));
    pair["parts"][place]["difference"].as_f64().unwrap()
}

/// Both ends of a message are in its samples: one adds up while it copies, the other checks.
fn the_functions_that_add_up_a_checksum_are_named(pair: &Value) {
    let names = pair["functions"].as_array().unwrap();
    let number = |value: &Value| value["difference"].as_f64().unwrap();
    let whole = number(&pair["whole"]);
    assert!(whole > 500.0, "{pair:#}");
    let parts = pair["parts"].as_array().unwrap();
    let is_checksum = |name: &Value| name.as_str().unwrap().contains("csum");
    let sums = names.iter().zip(parts).filter(|(name, _)| is_checksum(name)).map(|(_, part)| number(part));
    let sum: f64 = sums.sum();
    assert!(sum > whole * 0.4, "functions of checksums take {sum} more of {whole}: {pair:#}");
    let most = names.iter().zip(parts).max_by(|one, other| number(one.1).total_cmp(&number(other.1)));
    assert!(is_checksum(most.unwrap().0), "{pair:#}");
}

#[test]
#[ignore = "traces four exact guests: the gate proves traces without a study"]
fn a_checksum_without_offload_is_paid_where_it_is_computed_and_where_it_is_checked() {
    let bench = Bench::new();
    kernel::copy_to(&bench.path("kernel"));
    let kernel = format!("kernel={}", bench.path("kernel").display());
    let changes = SHORT.iter().copied().chain([kernel.as_str()]);
    let changes: Vec<&str> = changes.collect();
    let flame = bench.path("checksum.svg").display().to_string();
    let arguments =
        [&["trace", "path-checksum", "--format=json", "--flame", &flame], changes.as_slice()].concat();
    let found = document(&bench.netassay_as_nobody(&arguments));
    assert_eq!(found["unit"], "instructions");
    let pairs = found["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 2, "{found:#}");
    for pair in pairs {
        assert_eq!((&pair["boots"], &pair["runs"]), (&2.into(), &2.into()), "{pair:#}");
        assert_eq!(pair["baseline"], "transmitter.tx=on");
        // Without the offload each end takes more, and its stages explain it.
        let whole = pair["whole"]["difference"].as_f64().unwrap();
        assert!(whole > 200.0, "{pair:#}");
        assert_eq!(pair["whole"]["verdict"], "higher", "{pair:#}");
        // Counts that repeat have no interval.
        let interval = &pair["whole"]["interval"];
        assert!(interval.is_null() || interval[0].as_f64().unwrap() > 0.0, "{pair:#}");
        let parts: f64 =
            pair["parts"].as_array().unwrap().iter().map(|part| part["difference"].as_f64().unwrap()).sum();
        let unexplained = pair["unexplained"]["difference"].as_f64().unwrap();
        assert!((parts + unexplained - whole).abs() < 1e-6, "{pair:#}");
        // Few batches: the cost of probes is known less well than in a whole study.
        assert!(unexplained.abs() < whole, "{pair:#}");
    }
    // The sender computes it while it copies the message; nothing differs on the way to the driver.
    let [tx, rx] = ["udp-tx", "udp-rx"].map(|path| pairs.iter().find(|pair| pair["path"] == path).unwrap());
    assert!(difference(tx, "ip_append_data return") > 200.0, "{tx:#}");
    assert!(difference(tx, "ip_output").abs() < 50.0, "{tx:#}");
    // The reader checks it while it copies the message.
    assert!(difference(rx, "skb_free_datagram") > 200.0, "{rx:#}");
    assert!(difference(rx, "ip_local_deliver").abs() < 50.0, "{rx:#}");

    the_functions_that_add_up_a_checksum_are_named(&found["profiles"][0]);
    let drawn = std::fs::read_to_string(&flame).unwrap();
    for words in ["path-checksum: functions", "more by itself than with transmitter.tx=on", "csum"] {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }

    // `campaign_bundled` leaves the report of this study to us.
    expect(&bench.run(&["report", "path-checksum"]), 0);
    keep_report(&bench, "path-checksum");

    // The same from the database.
    let again = document(&bench.netassay(&["trace", "--from", "path-checksum", "--format=json"]));
    assert_eq!(again, found);
}
