//! Conditions that take turns in one flow, on real traffic between two namespaces: how fast and how
//! soon, on a quiet machine. `traffic_turns` has the rest.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/turns.rs"]
mod turns;

use std::time::Duration;

use common::{Bench, Watched, expect, expect_no_agents_of, links, stdout};
use serde_json::Value;
use turns::{STUDY, runs};

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
#[ignore = "compares turns and runs: needs a quiet machine"]
fn a_known_difference_is_found_in_turns_as_in_runs() {
    for study in [STUDY, &STUDY.replace("alternate = \"100ms\"\n", "")] {
        let [on, off] = segments(study);
        assert!(on > 4.0 && (0.99..1.05).contains(&off), "{on} {off}: {study}");
    }
}

/// What takes turns by itself and makes no difference here: over veth nobody looks at the code
/// point or computes a checksum, and no segment is small.
#[test]
#[ignore = "compares two rates: needs a quiet machine"]
fn what_makes_no_difference_makes_none_in_turns() {
    for (kind, factor) in [
        ("tcp_stream", "twin = [\"a\", \"b\"]"),
        ("tcp_stream", "dscp = [0, 8]"),
        ("tcp_stream", "nodelay = [\"on\", \"off\"]"),
        (
            "tcp_stream",
            "receiver.sysctl = [{ \"net.ipv4.udp_early_demux\" = 1 }, { \"net.ipv4.udp_early_demux\" = 0 }]",
        ),
        ("udp_stream", "twin = [\"a\", \"b\"]"),
        ("udp_stream", "dscp = [0, 8]"),
        ("udp_stream", "checksum = [\"on\", \"off\"]"),
    ] {
        let study = buffered(factor).replace("alternate = \"100ms\"\n", "");
        // Of a stream, ten segments of 1448 bytes: the kernel may hold back a smaller one.
        let message = if kind == "tcp_stream" { "message = 14480\nramp =" } else { "ramp =" };
        the_same_in_turns(&study.replace("ramp =", message).replace("tcp_stream", kind));
    }
}

/// How a machine is disturbed shows in how the turns of a condition differ: the difference between
/// the two is at most six times its standard error by these, or a hundredth.
fn the_same_in_turns(study: &str) {
    let bench = measured(study);
    assert_eq!(runs(&bench), (4, 4), "{study}");
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
    assert!((one.0 - other.0).abs() < allowed, "{study}: {rates:?}");
}

/// Both ways in the same boots: what the check says is in its exit code, and what is stored is
/// judged again alike. Whether both agree is chance in 5 % of cases, and of no interest here.
#[test]
#[ignore = "compares two ways of measuring a rate: needs a quiet machine"]
fn both_ways_of_measuring_a_switch_are_compared() {
    let bench = Bench::new();
    bench.write("turns.toml", STUDY);
    let measured = bench.run(&[
        "run",
        "turns.toml",
        "--aa",
        "--set",
        "apart=true",
        "--set",
        "boots=3",
        "--set",
        "runs=2",
        "--set",
        "duration=320ms",
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
        assert!(
            one[way]["value"].as_f64().unwrap() < -10.0,
            "without TSO, a packet for each segment: {found}"
        );
    }
    let values = ["first", "second", "apart"].map(|way| one[way]["value"].as_f64().unwrap());
    assert!((values[0] - values[1] - values[2]).abs() < 1e-6, "{found}");
    // Three boots with a block of either kind, of two conditions.
    assert_eq!(runs(&bench), (12, 6));
    let again = bench.run(&["run", "--aa", "--from", "turns", "--format", "json"]);
    expect(&again, expected);
    assert_eq!(stdout(&again), stdout(&measured));
}

/// The study with these factors, and buffers that outlast what a busy machine keeps a thread from
/// its CPU.
fn buffered(factors: &str) -> String {
    let study = STUDY.replace("tso = [\"on\", \"off\"]", factors);
    study.replace("ramp =", "socket_buffer = 1048576\nramp =")
}

/// The senders of datagrams keep their own pace, in turns too if the study asks for them.
#[test]
#[ignore = "compares two rates: needs a quiet machine"]
fn paces_are_switched_in_one_flow_and_families_between_flows() {
    let bench = Bench::new();
    let factors = "family = [\"ipv4\", \"ipv6\"]\npacing = [\"50Mbit\", \"40Mbit\"]";
    // A hypervisor takes 5 ms at times: no pace lasts to 1 % in turns of 320 ms in all.
    let long = buffered(factors).replace("640ms", "3200ms");
    let study = long.replace("boots = 2", "boots = 1").replace("tcp_stream", "udp_stream");
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

#[test]
#[ignore = "kills a controller at a fixed time: the gate proves this with `campaign_kill`"]
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
