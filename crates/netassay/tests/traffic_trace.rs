//! Paths of packets in the running kernel, by tracepoints; `traffic_guests` has functions.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use common::{Bench, expect, expect_no_agents_of, inside, is_root, output_schema, skip, stderr, stdout};

const LOOPBACK: [&str; 2] = ["trace", "udp-tx"];

fn trace(bench: &Bench, more: &[&str]) -> std::process::Output {
    bench.netassay(&[&LOOPBACK, more].concat()).output().unwrap()
}

#[test]
fn traffic_packets_of_the_running_kernel_are_followed_by_tracepoints() {
    if !is_root() {
        return skip("traffic_packets_of_the_running_kernel…", "raw tracepoints need root");
    }
    let bench = Bench::new();
    let output = trace(&bench, &["trace.batch=500", "trace.rounds=3", "--format=json"]);
    expect(&output, 0);
    output_schema::expect(&["trace"], &stdout(&output));
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let traces = document["traces"].as_array().unwrap();
    let sizes: Vec<u64> = traces.iter().map(|one| one["asked"]["message"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [1, 1400]);
    let rows = traces[0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{document:#}");
    assert!(rows.iter().all(|row| row["raw"].as_f64().unwrap() > 0.0), "{document:#}");
    // Tracepoints of system calls can be preempted, and the kernel then leaves out another thread's
    // program: a busy machine loses packets of the trace, and says so.
    let of = |what: &str| document["traces"][1]["journeys"][what].as_u64().unwrap();
    assert!(of("arrived") > 0 && of("arrived") + of("lost") <= 1500, "{document:#}");
    assert!(of("arrived") == 1500 || of("stray") + of("lost") > 0, "{document:#}");
    // What was sent meanwhile is received by a soft interrupt of the sender: aside, not in a stage.
    let last = &rows[3];
    assert!(last["outside"].as_f64().unwrap() > 0.0, "{last:#}");
}

/// In a container threads have other numbers than programs in the kernel see.
#[test]
fn traffic_threads_of_a_pid_namespace_are_followed() {
    if !is_root() {
        return skip("traffic_threads_of_a_pid_namespace…", "raw tracepoints need root");
    }
    let bench = Bench::new();
    let own = ["trace", "udp-tx", "message=1"];
    let both = ["trace", "udp-rx", "trace.readers=asleep", "message=20000"];
    for (asked, packets) in [(&own[..], 64), (&both[..], 128)] {
        let mut container = std::process::Command::new("unshare");
        container.args(["--pid", "--fork", "--mount-proc"]);
        let traced =
            bench.netassay(&[asked, &["trace.batch=64", "trace.rounds=1", "--format=json"]].concat());
        let output = inside(container, &traced).output().unwrap();
        expect(&output, 0);
        let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let journeys = &document["traces"][0]["journeys"];
        assert!(journeys["arrived"].as_u64().unwrap() > packets / 2, "{journeys:#}");
    }
}

#[test]
#[ignore = "samples functions for a time that a busy machine shortens"]
fn traffic_ways_in_profiles_and_files_of_the_running_kernel() {
    if !is_root() {
        return skip("traffic_ways_in_profiles_and_files_of_the_running_kernel", "raw tracepoints need root");
    }
    let bench = Bench::new();
    // The way in of a datagram in several pieces, whose copy has a tracepoint.
    let arguments =
        ["trace", "udp-rx", "message=20000", "trace.batch=500", "trace.rounds=3", "--format=json"];
    let output = bench.netassay(&arguments).output().unwrap();
    expect(&output, 0);
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let of = |what: &str| document["traces"][0]["journeys"][what].as_u64().unwrap();
    assert!(of("arrived") > 0 && of("arrived") <= 1500, "{document:#}");
    let rows = document["traces"][0]["rows"].as_array().unwrap();
    assert!(rows.len() >= 5, "{document:#}");
    assert_eq!(rows.iter().filter(|row| row["waits"] == true).count(), 1, "{document:#}");

    // The way in: each segment of two connections' ends is followed to the read that takes it.
    let chart = bench.path("tcp-rx.svg").display().to_string();
    let packets = bench.path("tcp-rx.json").display().to_string();
    let flame = bench.path("tcp-rx-functions.folded").display().to_string();
    let arguments = [
        "trace",
        "tcp-rx",
        "message=7",
        "trace.batch=500",
        "trace.rounds=3",
        "--format=json",
        "--chart",
        &chart,
        "--chart",
        &packets,
        "--every=20",
        "--flame",
        &flame,
    ];
    let output = bench.netassay(&arguments).output().unwrap();
    expect(&output, 0);
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let of = |what: &str| document["traces"][0]["journeys"][what].as_u64().unwrap();
    assert!(of("arrived") > 0 && of("arrived") <= 3000, "{document:#}");
    assert!(of("arrived") == 3000 || of("stray") + of("lost") + of("unread") > 0, "{document:#}");
    let rows = document["traces"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["waits"] == true).count(), 1, "{document:#}");
    let drawn = std::fs::read_to_string(&chart).unwrap();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let origin = [release.trim(), "message=7", env!("CARGO_PKG_VERSION")];
    let words = ["<svg", "tcp-rx: a TCP segment", "net_rx_action", "waits until it is taken", "cost, ns"];
    for words in words.into_iter().chain(origin) {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
    functions_of_both_ends_are_sampled(&document["traces"][0]);
    let stacks = std::fs::read_to_string(&flame).unwrap();
    let costs = stacks.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap());
    let message = document["traces"][0]["account"]["profile"]["message"].as_f64().unwrap();
    assert!((costs.sum::<f64>() - message).abs() < 0.3 * message, "{message} {stacks}");
    assert!(stacks.contains(";tcp_sendmsg;") && stacks.contains(";tcp_recvmsg;"), "{stacks}");

    assert_eq!((&document["kernel"], &document["netassay"]), (&origin[0].into(), &origin[2].into()));
    assert!(document["command"].as_str().unwrap().contains("tcp-rx message=7"), "{document:#}");
    let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&packets).unwrap()).unwrap();
    let other = file["otherData"].to_string();
    assert!(origin.iter().all(|word| other.contains(word)), "{other}");

    let arrived = document["traces"][0]["journeys"]["arrived"].as_f64().unwrap();
    packets_are_told_one_by_one(&std::fs::read_to_string(&packets).unwrap(), arrived / 20.0);

    let text = trace(&bench, &["trace.batch=500", "trace.rounds=1", "trace.profile=true"]);
    expect(&text, 0);
    let text = stdout(&text);
    // Sentences are wrapped, tables are not.
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "sendto return",
        "1 B    1 B  1400 B  1400 B",
        "kernel ",
        ": `netassay trace udp-tx trace.batch=500 trace.rounds=1 trace.profile=true`",
        "1400 bytes: packets:",
        "%: the stages add up to that share",
        "not seen: sock_sendmsg,",
        "1400 B, ±",
        "ns of CPU; ",
        "samples of CPUs",
    ] {
        assert!(text.contains(words) || unwrapped.contains(words), "{words}: {text}");
    }
    let mut child = bench.netassay(&[&LOOPBACK[..], &["trace.rounds=64"]].concat()).spawn().unwrap();
    let id = child.id();
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    expect_no_agents_of(id);
}

/// The system calls of the sender and of the reader, by the stacks in which they were sampled; what
/// the functions take themselves adds up to what a message takes.
fn functions_of_both_ends_are_sampled(traced: &serde_json::Value) {
    let profile = &traced["account"]["profile"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&profile["samples"]) > 100.0, "{profile:#}");
    let name =
        |index: &serde_json::Value| profile["functions"][index.as_u64().unwrap() as usize]["name"].clone();
    let stacks = profile["stacks"].as_array().unwrap();
    for function in ["tcp_sendmsg", "tcp_recvmsg"] {
        let passes = |stack: &&serde_json::Value| {
            stack["frames"].as_array().unwrap().iter().any(|index| name(index) == function)
        };
        let samples: f64 = stacks.iter().filter(passes).map(|stack| number(&stack["samples"])).sum();
        assert!(samples > 0.05 * number(&profile["samples"]), "{function}: {samples} {profile:#}");
    }
    let functions = traced["functions"].as_array().unwrap();
    let sum: f64 = functions.iter().map(|function| number(&function["cost"])).sum();
    let message = number(&profile["message"]);
    assert!(sum > 0.9 * message && sum < 1.001 * message, "{sum} {message}");
    assert!(functions.iter().all(|function| number(&function["error"]) < message), "{functions:?}");
}

/// A file of so many packets, but for each CPU's own count: each has a track, whose stages follow
/// each other without a gap.
fn packets_are_told_one_by_one(text: &str, expected: f64) {
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(file["displayTimeUnit"], "ns");
    let events = file["traceEvents"].as_array().unwrap();
    let number = |event: &serde_json::Value, key: &str| event[key].as_f64().unwrap();
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    let wholes: Vec<_> = events.iter().filter(|event| event["cat"] == "packet").collect();
    assert!(!wholes.is_empty() && (wholes.len() as f64 - expected).abs() <= cpus, "{expected}: {text}");
    for whole in wholes {
        let own = events.iter().filter(|event| event["tid"] == whole["tid"]);
        let stages = own.clone().filter(|event| event["cat"] == "stage" || event["cat"] == "waits");
        let mut end = 0.0;
        for stage in stages.clone() {
            assert!((number(stage, "ts") - end).abs() < 0.0005, "{stage}: {end}");
            end += number(stage, "dur");
            assert!(stage["name"].as_str().unwrap().contains(" to "), "{stage}");
        }
        assert!((end - number(whole, "dur")).abs() < 0.0005, "{whole}: {end}");
        assert_eq!(stages.filter(|stage| stage["cat"] == "waits").count(), 1, "{whole}");
        assert!(own.clone().any(|event| event["ph"] == "M" && event["name"] == "thread_name"), "{whole}");
    }
}

#[test]
fn what_cannot_be_traced_is_refused_with_the_way_out() {
    let bench = Bench::new();
    let refused = |arguments: &[&str], code: u8, words: &[&str]| {
        let output = bench.netassay(arguments).output().unwrap();
        expect(&output, code);
        let said = stderr(&output);
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    refused(&["trace", "no-such"], 2, &["no-such", "bundled: udp-tx"]);
    refused(&["trace", "./none.toml"], 2, &["cannot read ./none.toml"]);
    refused(&["trace", "udp-tx", "trace.rounds=65"], 2, &["`rounds` must be 1 to 64"]);
    refused(&["trace", "udp-rx", "busy_poll=50us"], 2, &["does not support this `busy_poll` over loopback"]);
    refused(&["trace", "udp-rx", "scenario=vm", "flows=4"], 2, &["does not support this `flows` over vm"]);
    refused(&["trace", "udp-tx", "message=1,2"], 2, &["message: one value"]);
    refused(&["trace", "udp-tx", "--every=10"], 2, &["--chart <FILE>"]);
    refused(&["trace", "udp-tx", "boots=2"], 2, &["`boots` is no key of the traffic"]);
    refused(&["trace", "udp-tx", "--resume"], 2, &["--resume needs a study"]);
    refused(&["trace", "path-checksum", "--chart=x.svg"], 2, &["--chart needs a path"]);
    refused(&["trace", "--from=1", "--chart=x.svg"], 2, &["--from", "--chart"]);
    refused(&["trace", "--from=1", "boots=2"], 2, &["--from", "cannot be used with"]);
    refused(&["trace", "mtu"], 2, &["traces nothing", "[trace]"]);
    refused(&["trace", "udp-tx", "--chart=path.png"], 2, &["path.png", ".svg or an .html"]);
    refused(&["trace", "udp-tx", "--flame=path.png"], 2, &["path.png", ".svg or an .html"]);
    refused(&["trace", "udp-tx", "scenario=discard"], 2, &["needs a receiver", "`loopback`"]);
    for scenario in ["veth", "vxlan"] {
        let asked = format!("scenario={scenario}");
        let words = [scenario, "only `loopback` is traced", "inside=guest"];
        refused(&["trace", "udp-tx", &asked], 2, &words);
    }
    let broken = bench.write("broken.toml", "about = \"x\"\nworkload = \"udp_rx\"\n");
    refused(&["trace", broken.to_str().unwrap()], 2, &["broken.toml:"]);
    let paths = bench.netassay(&["trace", "--paths", "udp-tx", "--format=json"]).output().unwrap();
    expect(&paths, 0);
    output_schema::expect(&["trace", "--paths"], &stdout(&paths));
    let listed: serde_json::Value = serde_json::from_str(&stdout(&paths)).unwrap();
    assert_eq!((&listed["inside_guest"], &listed["paths"][0]["name"]), (&false.into(), &"udp-tx".into()));
    assert_eq!(listed["probes"].as_array().unwrap().len(), 3, "{listed:#}");
    if is_root() {
        // Refused by the kernel, and by what: a user namespace, a kernel that hides its types.
        let refused_inside = |outer: &[&str], words: &[&str]| {
            let mut command = std::process::Command::new(outer[0]);
            command.args(&outer[1..]);
            let output = inside(command, &bench.netassay(&LOOPBACK)).output().unwrap();
            expect(&output, 3);
            let said = stderr(&output);
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
            assert!(said.contains("inside=guest"), "{said}");
        };
        refused_inside(&["unshare", "--user", "--map-root-user", "--"], &["in a user namespace"]);
        let hidden = "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"";
        let words = ["no /sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF"];
        refused_inside(&["unshare", "--mount", "sh", "-c", hidden, "sh"], &words);
        let output = bench.netassay_as_nobody(&LOOPBACK).output().unwrap();
        expect(&output, 3);
        let said = stderr(&output);
        assert!(said.contains("CAP_BPF") && said.contains("inside=guest"), "{said}");
    }
}
