//! Every bench with tiny counts, so that none of them rots. Its figures mean nothing and are not
//! looked at.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "../../crates/netassay/tests/common/kernel.rs"]
mod kernel;
#[path = "../../crates/load/tests/common/skip.rs"]
mod skip;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use skip::skip;

/// Where cargo puts the binary that is measured: beside the bench.
fn netassay() -> std::path::PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_netassay-bench")).with_file_name("netassay");
    assert!(path.is_file(), "build it first: cargo build --package netassay ({})", path.display());
    path
}

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netassay-bench"));
    command.args(arguments).args(["--smoke", "--json", "--netassay"]).arg(netassay()).stdin(Stdio::null());
    command.output().unwrap()
}

/// The report of a bench that ran everything it was asked for.
#[track_caller]
fn report(output: &Output) -> Value {
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}\n{errors}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["not_run"], Value::Array(vec![]));
    for part in ["kernel", "cpu", "load_before", "load_after"] {
        assert!(report["machine"][part].as_str().is_some_and(|text| !text.is_empty()), "{part}: {out}");
    }
    report
}

fn is_positive(figure: &Value) -> bool {
    figure.as_f64().is_some_and(|figure| figure > 0.0)
}

/// So many figures of a kind.
#[track_caller]
fn figures(report: &Value, name: &str, count: usize) -> Vec<f64> {
    let figures = report["results"][name].as_array().unwrap_or_else(|| panic!("{name}: {report}"));
    let figures: Vec<f64> = figures.iter().filter_map(Value::as_f64).collect();
    assert_eq!(figures.len(), count, "{name}");
    figures
}

#[track_caller]
fn list<'a>(report: &'a Value, pointer: &str, count: usize) -> &'a Vec<Value> {
    let list =
        report.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{pointer}: {report}"));
    assert_eq!(list.len(), count, "{pointer}");
    list
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn netns_testbeds_are_built_and_seen_to_go() {
    for (mode, scenario, goal) in
        [("rootless", "veth", 50.0), ("rootless", "vxlan", 80.0), ("root", "veth", 50.0)]
    {
        if mode == "root" && !is_root() {
            skip("netns_testbeds_are_built_and_seen_to_go", "the testbed of root needs root");
            continue;
        }
        let report = report(&bench(&["testbed", "--mode", mode, "--scenario", scenario]));
        let [_, reaped, gone, ..] =
            ["built", "agents reaped", "interfaces gone", "built and reaped", "built and gone"].map(|part| {
                let times = figures(&report, &format!("{mode}: {part}"), 2);
                assert!(times.iter().all(|time| *time > 0.0), "{part}: {times:?}");
                times
            });
        assert!(gone.iter().zip(&reaped).all(|(gone, reaped)| gone >= reaped), "{gone:?}, {reaped:?}");
        assert_eq!(list(&report, "/goals", 1)[0]["bound"]["under"], goal);
    }
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_guests_boot_in_turn() {
    let report = report(&bench(&["guest-boot", "--kernel", kernel::directory().to_str().unwrap()]));
    for what in ["agent serves", "busybox prompts"] {
        assert!(figures(&report, &format!("emulation: {what}"), 1)[0] > 0.0);
    }
    assert!(is_positive(&report["goals"][0]["figure"]));
}

/// bpftrace is not among the packages that tests install: without it netassay's probes are measured
/// alone, and the report says so.
#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_probes_cost_what_a_traced_packet_takes_more() {
    let output = bench(&["trace", "--kernel", kernel::directory().to_str().unwrap()]);
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}\n{errors}"));
    let missing = list(&report, "/not_run", usize::from(output.status.code() == Some(3)));
    assert!(
        missing.iter().all(|one| one.as_str().unwrap().starts_with("bpftrace: it is not installed")),
        "{out}"
    );
    let scripts = if missing.is_empty() { 2 } else { 0 };
    let each = scripts.max(1);
    let (without, own) =
        (figures(&report, "without probes", each), figures(&report, "netassay's probes", each));
    // A datagram over loopback takes thousands of instructions, and its five places hundreds each.
    assert!(without.iter().all(|one| *one > 1000.0) && own.iter().all(|one| *one > 100.0), "{out}");
    assert_eq!(list(&report, "/goals", scripts / 2).len(), scripts / 2);
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_controller_is_watched_with_and_without_a_terminal() {
    let report = report(&bench(&["controller"]));
    for shown in ["lines, no terminal", "bar, pseudo-terminal"] {
        // A controller that sleeps through this short a window takes none at all.
        assert!(figures(&report, shown, 1)[0] >= 0.0);
    }
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn startup_is_timed() {
    let report = report(&bench(&["startup"]));
    for program in ["/bin/true", "netassay --help"] {
        figures(&report, program, 3);
    }
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn stored_studies_are_compared_and_judged() {
    let report = report(&bench(&["compare"]));
    figures(&report, "netassay compare 1 2", 2);
    figures(&report, "netassay gate 2 --baseline 1 --fail-if throughput < -2%", 2);
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn machines_over_ssh_are_reached() {
    let Some(report) = report_or_skip("machines_over_ssh_are_reached", &["connect"]) else { return };
    for name in ["ssh alone", "netassay, its program kept there", "netassay, its program sent"] {
        assert!(figures(&report, name, 1)[0] > 0.0, "{name}");
    }
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn reports_are_timed() {
    let report = report(&bench(&["report"]));
    for format in ["html", "md"] {
        assert!(figures(&report, format, 1)[0] > 0.0);
    }
    list(&report, "/goals", 4);
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn fleets_are_imported_and_reported() {
    let report = report(&bench(&["fleet"]));
    for (fleet, pairs) in list(&report, "/results/fleet", 2).iter().zip([2, 3]) {
        assert_eq!(fleet["pairs"], pairs);
        assert_eq!(fleet["runs"], 250 * pairs);
        assert!(is_positive(&fleet["import_runs_per_s"]), "{fleet}");
        let took = fleet["took"].as_array().unwrap();
        assert!(took.len() == 3 && took.iter().all(|one| is_positive(&one[0]["wall_ms"])), "{fleet}");
    }
    list(&report, "/goals", 2 * 3);
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn stats_are_made_beside_ministat() {
    let Some(report) = report_or_skip("stats_are_made_beside_ministat", &["stats"]) else { return };
    for task in ["three", "numbers", "plot", "two", "column"] {
        for side in ["netassay", "ministat"] {
            let took = &report["results"][task][side][0];
            assert!(is_positive(&took["wall_ms"]) && is_positive(&took["peak_mib"]), "{task}: {took}");
        }
    }
    for shape in ["crossed", "nested", "ragged"] {
        assert!(list(&report, &format!("/results/{shape}/seconds/0"), 5).iter().all(is_positive));
    }
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_verdicts_are_simulated_and_reached() {
    let report = report(&bench(&["verdict", "--traffic", "--minutes", "0.2"]));
    // Three differences with two protocols of netassay's each, none with all six.
    list(&report, "/results/simulated", 3 * 4 + 2 + 6);
    let line = &list(&report, "/results/traffic", 4)[0];
    assert!(is_positive(&line["protocols"][0]["seen"]["median_s"]));
    // In windows this short nothing may arrive.
    assert!(line["values"][0]["value"].is_number(), "{line}");
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn looks_and_pilots_are_simulated() {
    // 8 numbers of looks and 4 designs, by both bounds; 4 spreads and 3 sizes.
    for (option, count) in [("--looks", 2 * (8 + 4)), ("--pilots", 4 * 3)] {
        let report = report(&bench(&["verdict", option]));
        assert_eq!(report["results"].as_object().unwrap().len(), count);
        list(&report, "/goals", count);
    }
}

/// The report of a bench; none, and said so, if a program it needs is not installed.
#[track_caller]
fn report_or_skip(test: &str, arguments: &[&str]) -> Option<Value> {
    let output = bench(arguments);
    let found: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let missing = found.and_then(|report| report["not_run"].as_array().cloned()).unwrap_or_default();
    let is_program = |why: &Value| why.as_str().is_some_and(|why| why.contains("it is not installed"));
    if !missing.is_empty() && missing.iter().all(is_program) {
        skip(test, &Value::Array(missing).to_string());
        return None;
    }
    Some(report(&output))
}

/// Every comparison has turns on both sides; `expect` checks how many peers each has.
#[track_caller]
fn have_turns_beside_peers(report: &Value, expect: impl Fn(Vec<usize>)) {
    let comparisons = report["results"]["comparisons"].as_array().unwrap();
    let part = |one: &Value, part: &str| one["comparison"][part].as_array().unwrap().clone();
    expect(comparisons.iter().map(|one| part(one, "beside").len()).collect());
    for one in comparisons {
        let own = part(one, "own");
        assert_eq!(own.len(), part(one, "modes").len());
        let peers = part(one, "beside");
        let turns = own.iter().map(|turns| &turns[0]).chain(peers.iter().map(|peer| &peer["turns"][0]));
        turns.for_each(|turn| assert!(is_positive(&turn["received"]), "{turn}"));
        assert!(is_positive(&one["figures"][0]["ratio"]["all"]["median"]));
    }
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_grid_runs_beside_every_peer() {
    let test = "traffic_grid_runs_beside_every_peer";
    let Some(report) = report_or_skip(test, &["load", "--grid"]) else { return };
    let notes: Vec<&str> = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let lacks = |peer: &str| notes.iter().any(|note| note.starts_with(&format!("without {peer}: ")));
    // The first and the last cell that have peers.
    have_turns_beside_peers(&report, |counts| match (lacks("neper"), lacks("netperf")) {
        (false, false) => assert_eq!(counts, [2, 1]),
        _ => assert!(counts.len() == 2 && counts.iter().all(|count| *count >= 1), "{counts:?}"),
    });
    let judged = notes.iter().find(|note| note.contains("of the best peer in"));
    assert!(judged.is_some_and(|note| note.ends_with("of 2 cells")), "{notes:?}");
}

/// How many peers the first and the last cell of each part have.
#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_parts_run_beside_every_peer() {
    let test = "traffic_parts_run_beside_every_peer";
    for (part, peers) in [("tcp", [2, 1]), ("udp", [2, 2]), ("gso", [2, 2]), ("rr", [1, 1])] {
        let Some(report) = report_or_skip(test, &["load", "--part", part]) else { return };
        have_turns_beside_peers(&report, |counts| assert_eq!(counts, peers, "{part}"));
        let goals = report["goals"].as_array().unwrap();
        assert!(goals.len() >= peers.len() && goals.iter().all(|goal| goal["met"].is_boolean()));
    }
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_instructions_are_counted() {
    let arguments = ["load", "--part", "instructions"];
    let Some(report) = report_or_skip("traffic_instructions_are_counted", &arguments) else { return };
    // netassay and one peer.
    let counted = list(&report, "/results/instructions", 2);
    for program in counted {
        let more = &program["more"];
        assert!(is_positive(&program["messages"]) && is_positive(&more["total"]), "{program}");
        assert!(more["total"].as_u64() > more["outside_libc"].as_u64(), "{program}");
    }
    assert!(is_positive(&counted[0]["more"]["outside_libc"]));
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_memory_is_measured() {
    let report = report(&bench(&["load", "--part", "memory"]));
    for crowd in list(&report, "/results/memory", 2 * 3) {
        assert!(is_positive(&crowd["kib"][0]) && is_positive(&crowd["account"]["amount"]), "{crowd}");
        assert_eq!(crowd["account"]["not_in_flows"], 0, "{crowd}");
    }
}

/// All processes below `ancestor`, from `/proc`.
fn descendants(ancestor: u32) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let parents: Vec<(u32, u32)> = numbers
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut below = vec![ancestor];
    let mut at = 0;
    while at < below.len() {
        let parent = below[at];
        below.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    below.split_off(1)
}

/// Two agents, a server and its warden: more than four once a peer's client has joined them.
fn await_a_peers_turn(bench: &mut Child) -> Vec<u32> {
    for _ in 0..1500 {
        let all = descendants(bench.id());
        if all.len() > 4 {
            return all;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    bench.kill().unwrap();
    panic!("no peer was started; the bench ended so: {}", bench.wait().unwrap());
}

#[test]
#[ignore = "measures: the gate compiles the bench"]
fn traffic_a_bench_that_is_killed_or_interrupted_leaves_nothing() {
    let test = "traffic_a_bench_that_is_killed_or_interrupted_leaves_nothing";
    if Command::new("nuttcp").arg("-V").output().is_err() {
        return skip(test, "nuttcp, which forks most, is not installed");
    }
    for signal in [libc::SIGKILL, libc::SIGINT] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netassay-bench"));
        command.args(["load", "--peer", "nuttcp", "--netassay"]).arg(netassay());
        command.args(["--part", "tcp"]);
        command.args(["--smoke"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut bench = command.spawn().unwrap();
        let started = await_a_peers_turn(&mut bench);
        // SAFETY: a child that is not waited for yet keeps its number.
        assert_eq!(unsafe { libc::kill(bench.id().cast_signed(), signal) }, 0);
        let status = bench.wait().unwrap();
        if signal == libc::SIGINT {
            assert_eq!(status.code(), Some(130));
        }
        let there = |pid: &u32| Path::new(&format!("/proc/{pid}")).exists();
        for _ in 0..500 {
            if !started.iter().any(there) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let left: Vec<_> = started.into_iter().filter(there).collect();
        assert_eq!(left, Vec::<u32>::new(), "after signal {signal}");
    }
}

#[test]
fn what_cannot_be_run_is_reported_and_costs_the_good_exit_code() {
    let arguments = ["testbed", "--smoke", "--mode", "rootless", "--netassay", "/bin/false"];
    let output = Command::new(env!("CARGO_BIN_EXE_netassay-bench")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("NOT RUN: rootless: the transmitter's agent"), "{text}");

    let arguments = ["testbed", "--netassay", "/no/such/netassay"];
    let output = Command::new(env!("CARGO_BIN_EXE_netassay-bench")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no netassay at /no/such/netassay"));
}
