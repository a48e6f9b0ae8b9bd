//! Conditions that take turns in one flow, on real traffic between two namespaces.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::time::Duration;

use common::{Bench, Watched, expect, expect_no_agents_of, links, stderr, stdout};
use serde_json::Value;

const STUDY: &str = r#"
name = "turns"
question = "Does TSO pay?"
scenario = "veth"
[[workload]]
kind = "tcp_stream"
duration = "640ms"
ramp = "100ms"
[factors]
tso = ["on", "off"]
[protocol]
boots = 2
warmup = 0
runs = 1
alternate = "100ms"
"#;

/// Runs that count, and how many of them were made of turns.
fn runs(bench: &Bench) -> (u32, u32) {
    let query = "SELECT count(*), count(json_extract(detail, '$.turns')) FROM run WHERE warmup = 0 AND status <> 'failed'";
    bench.database().query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

/// A study's results.
fn measured(study: &str) -> Bench {
    let bench = Bench::new();
    bench.write("turns.toml", study);
    expect(&bench.run(&["run", "turns.toml"]), 0);
    assert_eq!(runs(&bench).0, 4);
    bench
}

/// Segments of a packet of both conditions. (How much TSO pays is no measure of a few runs: flows
/// that have it carry from 17 to 41 Gbit/s here.)
fn segments(study: &str) -> [f64; 2] {
    let bench = measured(study);
    let plan = "SELECT json_extract(plan, '$.conditions[0].slug'), json_extract(plan, '$.conditions[1].slug') FROM study";
    let slugs: (String, String) =
        bench.database().query_row(plan, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    [slugs.0, slugs.1].map(|slug| bench.mean(&slug, "transmitter.segments_per_wire_packet"))
}

/// Without TSO each segment is a packet, in the turns of that condition too.
#[test]
fn a_known_difference_is_found_in_turns_as_in_runs() {
    for study in [STUDY, &STUDY.replace("alternate = \"100ms\"\n", "")] {
        let [on, off] = segments(study);
        assert!(on > 4.0 && (0.99..1.05).contains(&off), "{on} {off}: {study}");
    }
}

/// How a machine is disturbed shows in how the turns of a condition differ: the difference between
/// the two is at most six times its standard error by these, or a hundredth.
#[test]
fn the_same_condition_twice_is_the_same_in_turns() {
    let bench = measured(&STUDY.replace("tso = [\"on\", \"off\"]", "twin = [\"a\", \"b\"]"));
    let rates = [0, 1].map(|condition| {
        let query = "SELECT turn.value ->> 'work' * 1.0 / (turn.value ->> 'ns') FROM run, json_each(detail, '$.turns.turns') AS turn \
                     WHERE warmup = 0 AND condition = ?";
        let database = bench.database();
        let mut query = database.prepare(query).unwrap();
        query.query_map([condition], |row| row.get(0)).unwrap().map(Result::unwrap).collect::<Vec<f64>>()
    });
    let [one, other] = rates.each_ref().map(|rates| {
        let count = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        (mean, (squares / (count - 1.0) / count).sqrt())
    });
    let allowed = (6.0 * one.1.hypot(other.1)).max(one.0 / 100.0);
    assert!((one.0 - other.0).abs() < allowed, "{rates:?}");
}

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
    assert!(shown.contains("took turns of 100ms in shared flows"), "{shown}");
    assert!(shown.contains("Turns: the rate after a turn of another condition"), "{shown}");
}

/// Both ways in the same boots: what the check says is in its exit code, and what is stored is
/// judged again alike. Whether both agree is chance in 5 % of cases, and of no interest here.
#[test]
fn both_ways_of_measuring_a_switch_are_compared() {
    let bench = Bench::new();
    bench.write("turns.toml", &paced("pacing = [\"50Mbit\", \"40Mbit\"]"));
    let measured = bench.run(&[
        "aa",
        "--alternate",
        "turns.toml",
        "--boots",
        "3",
        "--duration",
        "320ms",
        "--format",
        "json",
    ]);
    let found: Value = serde_json::from_str(&stdout(&measured)).unwrap();
    let [one] = found["comparisons"].as_array().unwrap().as_slice() else { panic!("{found}") };
    let expected = match one["verdict"].as_str() {
        Some("agree") => 0,
        Some("disagree") => 10,
        _ => panic!("{found}"),
    };
    expect(&measured, expected);
    assert_eq!((&one["boots"], &one["metric"]), (&Value::from(3), &Value::from("throughput")), "{found}");
    for way in ["first", "second"] {
        let value = one[way]["value"].as_f64().unwrap();
        assert!((value + 20.0).abs() < 3.0, "{found}");
    }
    let values = ["first", "second", "apart"].map(|way| one[way]["value"].as_f64().unwrap());
    assert!((values[0] - values[1] - values[2]).abs() < 1e-6, "{found}");
    // Three boots with a block of either kind, of two conditions.
    assert_eq!(runs(&bench), (12, 6));
    let again = bench.run(&["aa", "--from", "turns-turns", "--format", "json"]);
    expect(&again, expected);
    assert_eq!(stdout(&again), stdout(&measured));
    let families = STUDY
        .replace("tso = [\"on\", \"off\"]", "family = [\"ipv4\", \"ipv6\"]")
        .replace("alternate = \"100ms\"\n", "");
    bench.write("families.toml", &families);
    let refused = bench.run(&["aa", "--alternate", "families.toml"]);
    expect(&refused, 2);
    let why = stderr(&refused);
    assert!(why.contains("no two conditions can take turns in one flow"), "{why}");
}

/// The study with these factors of a sender that keeps a pace: of TCP the kernel does so. The
/// buffers outlast what a busy machine keeps a thread from its CPU.
fn paced(factors: &str) -> String {
    let study = STUDY.replace("tso = [\"on\", \"off\"]", factors);
    study.replace("ramp =", "socket_buffer = 1048576\nramp =")
}

/// The senders of datagrams keep their own pace. They take turns unless the study says `off`.
#[test]
fn paces_are_switched_in_one_flow_and_families_between_flows() {
    let bench = Bench::new();
    let factors = "family = [\"ipv4\", \"ipv6\"]\npacing = [\"50Mbit\", \"40Mbit\"]";
    let study = paced(factors)
        .replace("boots = 2", "boots = 1")
        .replace("alternate = \"100ms\"\n", "")
        .replace("tcp_stream", "udp_stream");
    bench.write("turns.toml", &study);
    let done = bench.run(&["run", "turns.toml"]);
    expect(&done, 0);
    assert_eq!(runs(&bench), (4, 4), "{}", stdout(&done));
    let planned = "SELECT json_extract(value, '$.slug') FROM study, json_each(plan, '$.conditions')";
    let database = bench.database();
    let mut query = database.prepare(planned).unwrap();
    let slugs: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(slugs.len(), 4);
    for pair in slugs.chunks(2) {
        let [fast, slow] = [0, 1].map(|own: usize| bench.mean(&pair[own], "throughput"));
        assert!((slow / fast - 0.8).abs() < 0.03, "{pair:?} {fast} {slow}");
    }
    let apart = ["run", "turns.toml", "--set", "alternate=off", "--set", "duration=100ms"];
    expect(&bench.run(&apart), 0);
    assert_eq!(runs(&bench), (8, 4));
}

/// Each turn is read back from the sockets of both ends.
#[test]
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

#[test]
fn a_controller_that_is_killed_during_turns_leaves_nothing_and_resumes() {
    let links_before = links();
    let bench = Bench::new();
    bench.write("turns.toml", STUDY);
    let mut controller = Watched::start(bench.netassay(&["run", "--progress", "plain", "turns.toml"]));
    controller.wait_for("boot 1 run 1: tso=off");
    // The turns of the second boot: it is built in milliseconds, and they take 1.9 s.
    std::thread::sleep(Duration::from_millis(900));
    let pid = controller.id();
    // SAFETY: a signal to a child of ours that has not been waited for.
    unsafe { libc::kill(i32::try_from(pid).unwrap(), libc::SIGKILL) };
    controller.finish();
    expect_no_agents_of(pid);
    assert_eq!(links(), links_before);
    assert_eq!(runs(&bench).0, 2, "a flow is recorded as a whole");
    expect(&bench.run(&["run", "turns.toml", "--resume"]), 0);
    assert_eq!(runs(&bench), (4, 4));
}
