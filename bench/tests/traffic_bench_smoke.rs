//! Every bench with tiny counts, so that none of them rots. Its figures mean nothing and are not
//! looked at.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Where xtask, or `cargo build`, puts the binary that is measured: beside the bench.
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

#[track_caller]
fn is_positive(figure: &Value) {
    assert!(figure.as_f64().is_some_and(|figure| figure > 0.0), "{figure}");
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn skip(test: &str, reason: &str) {
    eprintln!("SKIPPED: {test}: {reason}");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} was skipped in CI: {reason}");
}

#[test]
fn testbed_is_built_and_seen_to_go() {
    let mut modes = vec!["rootless"];
    if is_root() {
        modes.push("root");
    } else {
        skip("testbed_is_built_and_seen_to_go", "the testbed of root needs root");
    }
    for mode in modes {
        let report = report(&bench(&["testbed", "--mode", mode]));
        let lives = report["results"][mode].as_array().unwrap();
        assert_eq!(lives.len(), 2);
        for life in lives {
            for part in ["build_ms", "reaped_ms", "gone_ms"] {
                is_positive(&life[part]);
            }
            assert!(life["gone_ms"].as_f64() >= life["reaped_ms"].as_f64(), "{life}");
        }
        assert_eq!(report["goals"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_testbed_with_a_tunnel_is_built_and_seen_to_go() {
    let report = report(&bench(&["testbed", "--scenario", "vxlan", "--mode", "rootless"]));
    for life in report["results"]["rootless"].as_array().unwrap() {
        is_positive(&life["build_ms"]);
        is_positive(&life["gone_ms"]);
    }
    assert!(report["goals"][0]["limit"].as_f64() == Some(80.0), "{report}");
}

/// The kernel that other tests fetch too, kept where they keep it.
fn kernel() -> std::path::PathBuf {
    const PACKAGE: &str = "linux-image-cloud-amd64";
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("data");
    std::fs::create_dir_all(&home).unwrap();
    let lock = std::fs::File::create(home.join("lock")).unwrap();
    lock.lock().unwrap();
    let directory = home.join("netassay/kernels").join(PACKAGE);
    if !directory.is_dir() {
        let fetch = || {
            let mut command = Command::new(netassay());
            command.args(["kernel", "fetch", PACKAGE]).env("XDG_DATA_HOME", &home).output().unwrap()
        };
        if !fetch().status.success() {
            // A fresh machine knows no packages yet.
            let _ = Command::new("apt-get").args(["-q", "update"]).output();
            let again = fetch();
            assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
        }
    }
    directory
}

#[test]
fn guests_boot_in_turn() {
    let report = report(&bench(&["guest-boot", "--kernel", kernel().to_str().unwrap()]));
    let emulated = &report["results"]["emulation"];
    is_positive(&emulated["agent_ms"][0]);
    is_positive(&emulated["prompt_ms"][0]);
    is_positive(&report["goals"][0]["figure"]);
}

#[test]
fn controller_is_watched_with_and_without_a_terminal() {
    let report = report(&bench(&["controller"]));
    for shown in ["lines, no terminal", "bar, pseudo-terminal"] {
        // A controller that sleeps through this short a window takes none at all.
        let percent = &report["results"][shown]["cpu_percent"][0];
        assert!(percent.as_f64().is_some_and(|percent| percent >= 0.0), "{percent}");
    }
}

#[test]
fn startup_is_timed() {
    let report = report(&bench(&["startup"]));
    for program in ["/bin/true", "netassay --help", "netassay studies"] {
        assert_eq!(report["results"][program]["ms"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn stats_are_made_beside_ministat() {
    let output = bench(&["stats"]);
    let missing = serde_json::from_slice::<Value>(&output.stdout).unwrap()["not_run"].clone();
    if missing[0].as_str().is_some_and(|missing| missing.contains("it is not installed")) {
        return skip("stats_are_made_beside_ministat", &missing.to_string());
    }
    let report = report(&output);
    let contests = report["results"]["ministat"].as_array().unwrap();
    assert_eq!(contests.len(), 5);
    for contest in contests {
        for side in ["netassay", "ministat"] {
            is_positive(&contest["pairs"][0][side]["wall_ms"]);
            is_positive(&contest["pairs"][0][side]["peak_mib"]);
        }
    }
    for shape in ["crossed", "nested", "ragged"] {
        let parts = report["results"]["inference"][shape]["seconds"][0].as_array().unwrap();
        assert_eq!(parts.len(), 5);
        parts.iter().for_each(is_positive);
    }
}

#[test]
fn verdicts_are_simulated_and_reached_on_traffic() {
    let report = report(&bench(&["verdict", "--traffic", "--minutes", "0.2"]));
    // Three differences with one protocol of netassay's each, none with all three.
    assert_eq!(report["results"]["simulated"].as_array().unwrap().len(), 3 * 3 + 5);
    let lines = report["results"]["traffic"].as_array().unwrap();
    assert_eq!(lines.len(), 4);
    is_positive(&lines[0]["protocols"][0]["seen"]["median_s"]);
    // In windows this short nothing may arrive.
    assert!(lines[0]["values"][0]["value"].is_number(), "{}", lines[0]);
}

#[test]
fn looks_and_pilots_are_simulated() {
    // 9 numbers of looks and 3 designs, by both bounds; 4 spreads and 3 sizes.
    for (option, count) in [("--looks", 2 * (9 + 3)), ("--pilots", 4 * 3)] {
        let report = report(&bench(&["verdict", option]));
        assert_eq!(report["results"].as_array().unwrap().len(), count);
        assert_eq!(report["goals"].as_array().unwrap().len(), count);
    }
}

/// The report of `load` with these options; none, and said so, if a program they need is not
/// installed.
#[track_caller]
fn load(test: &str, options: &[&str]) -> Option<Value> {
    let output = bench(&[&["load"], options].concat());
    let missing = serde_json::from_slice::<Value>(&output.stdout).map(|report| report["not_run"].clone());
    let missing: Vec<String> = missing
        .iter()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|missing| missing.as_str().map(str::to_owned))
        .collect();
    if !missing.is_empty() && missing.iter().all(|missing| missing.contains("it is not installed")) {
        skip(test, &missing.join("; "));
        return None;
    }
    Some(report(&output))
}

/// Every comparison has turns on both sides; `expect` checks how many peers each has.
#[track_caller]
fn have_turns_beside_peers(report: &Value, expect: impl Fn(Vec<usize>)) {
    let comparisons = report["results"]["comparisons"].as_array().unwrap();
    let beside = |one: &Value| one["comparison"]["beside"].as_array().unwrap().clone();
    expect(comparisons.iter().map(|one| beside(one).len()).collect());
    for one in comparisons {
        for peer in beside(one) {
            let pair = &peer["pairs"][0];
            let own = pair["netassay"].as_array().unwrap();
            assert_eq!(own.len(), one["comparison"]["modes"].as_array().unwrap().len());
            own.iter().chain([&pair["peer"]]).for_each(|turn| is_positive(&turn["received"]));
        }
        is_positive(&one["figures"][0]["ratio"]["median"]);
    }
}

#[test]
fn load_grid_runs_beside_every_peer() {
    let Some(report) = load("load_grid_runs_beside_every_peer", &["--grid"]) else { return };
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
fn load_parts_run_beside_every_peer() {
    for (part, peers) in [("tcp", [2, 1]), ("udp", [2, 2]), ("gso", [2, 2]), ("rr", [1, 1])] {
        let Some(report) = load("load_parts_run_beside_every_peer", &["--part", part]) else { return };
        have_turns_beside_peers(&report, |counts| assert_eq!(counts, peers, "{part}"));
        assert!(report["goals"].as_array().unwrap().iter().all(|goal| goal["met"].is_boolean()));
        assert!(report["goals"].as_array().unwrap().len() >= peers.len());
    }
}

#[test]
fn load_counts_instructions() {
    let Some(report) = load("load_counts_instructions", &["--part", "instructions"]) else { return };
    let counted = report["results"]["instructions"].as_array().unwrap();
    assert_eq!(counted.len(), 2, "netassay and one peer");
    for program in counted {
        is_positive(&program["messages"]);
        is_positive(&program["more"]["total"]);
        is_positive(&program["more"]["outside_libc"]);
        assert!(program["more"]["total"].as_u64() > program["more"]["outside_libc"].as_u64(), "{program}");
    }
}

#[test]
fn load_measures_memory() {
    let Some(report) = load("load_measures_memory", &["--part", "memory"]) else { return };
    let crowds = report["results"]["memory"].as_array().unwrap();
    assert_eq!(crowds.len(), 2 * 3);
    for crowd in crowds {
        is_positive(&crowd["transmitter_kib"]);
        is_positive(&crowd["account"]["amount"]);
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
fn a_bench_that_is_killed_or_interrupted_leaves_nothing() {
    let test = "a_bench_that_is_killed_or_interrupted_leaves_nothing";
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
fn what_cannot_be_run_is_said_and_costs_the_good_exit_code() {
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
