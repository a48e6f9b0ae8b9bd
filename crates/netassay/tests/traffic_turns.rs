//! Conditions that take turns in one flow: what holds however busy the machine is.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/turns.rs"]
mod turns;

use common::{Bench, expect, stdout};
use turns::{STUDY, runs};

/// Both ends switch by themselves; each turn is read back there.
#[test]
fn both_ends_switch_and_the_proof_shows_how_they_answered() {
    let bench = Bench::new();
    let study = STUDY.replace(
        "tso = [\"on\", \"off\"]",
        "transmitter.tso = [\"on\", \"off\"]\nreceiver.gro = [\"on\", \"off\"]",
    );
    let study =
        study.replace("boots = 2", "boots = 1").replace("duration = \"640ms\"", "duration = \"200ms\"");
    bench.write("turns.toml", &study);
    let done = bench.run(&["run", "turns.toml"]);
    expect(&done, 0);
    assert_eq!(runs(&bench), (4, 4), "{}", stdout(&done));
    // Each condition has two turns after each of the four.
    let counts = "SELECT json_array_length(detail, '$.turns.turns') FROM run WHERE warmup = 0";
    let database = bench.database();
    let mut query = database.prepare(counts).unwrap();
    let counts: Vec<u32> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(counts, [8, 8, 8, 8]);
    let shown = stdout(&bench.run(&["show", "1", "--wide"]));
    assert!(shown.contains("took turns of 100 ms in shared flows"), "{shown}");
    assert!(shown.contains("After-effects of turns: rate after another condition's turn"), "{shown}");
}

/// Each turn is read back from the sockets of both ends.
#[test]
#[ignore = "the gate proves this with two other kinds of switches (`traffic_turns`)"]
fn the_sockets_of_both_ends_are_switched() {
    let bench = Bench::new();
    let study = STUDY
        .replace("tcp_stream", "udp_rr")
        .replace("tso = [\"on\", \"off\"]", "checksum = [\"on\", \"off\"]\ndscp = [0, 46]")
        .replace("boots = 2", "boots = 1")
        .replace("640ms", "200ms");
    bench.write("turns.toml", &study);
    let done = bench.run(&["run", "turns.toml"]);
    expect(&done, 0);
    assert_eq!(runs(&bench), (4, 4), "{}", stdout(&done));
}

/// Each turn's calls hand over what its sender does.
#[test]
fn senders_change_in_one_flow() {
    let bench = Bench::new();
    let study = STUDY
        .replace("tcp_stream\"", "udp_stream\"\nmessage = 1400")
        .replace("tso = [\"on\", \"off\"]", "sender = [\"send\", \"sendmmsg\", \"gso\"]")
        .replace("boots = 2", "boots = 1")
        .replace("640ms", "200ms");
    bench.write("turns.toml", &study);
    let done = bench.run(&["run", "turns.toml"]);
    expect(&done, 0);
    assert_eq!(runs(&bench), (3, 3), "{}", stdout(&done));
    let query = "SELECT json_extract(detail, '$.transmitter.window.load.sent.messages') * 1.0 \
                 / json_extract(detail, '$.transmitter.window.load.sent.calls') FROM run ORDER BY condition";
    let database = bench.database();
    let mut query = database.prepare(query).unwrap();
    let each: Vec<f64> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    // A buffer of 65507 bytes has 46 datagrams.
    for (each, expected) in each.iter().zip([1.0, 64.0, 46.0]) {
        assert!((each / expected - 1.0).abs() < 0.02, "{each} for {expected}");
    }
}
