//! `netassay load`: real traffic between namespaces, told as text and as JSON; what cannot be had,
//! told with its way out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::process::Output;

use common::{
    Bench, Watched, agents_of, apart, expect, expect_no_agents_of, links, output_schema, stderr, stdout,
};
use serde_json::Value;

/// Runs a load, and gives its JSON. A busy machine may keep a thread from its CPU for longer than a
/// short window: where nothing moved, the window grows.
fn json(bench: &Bench, arguments: &[&str]) -> Value {
    let run = |duration: &str| {
        let duration = format!("duration={duration}");
        let brief = [duration.as_str(), "ramp=50ms", "--format", "json"];
        let output = bench.netassay_as_nobody(&[&["load"], arguments, &brief].concat()).output().unwrap();
        parsed(&output, arguments)
    };
    let moves = |document: &Value| {
        let rates =
            ["throughput", "transactions", "packets"].map(|name| document["metrics"][name]["value"].as_f64());
        rates.into_iter().flatten().any(|rate| rate > 0.0)
    };
    let short = run("400ms");
    if moves(&short) { short } else { run("10s") }
}

#[track_caller]
fn parsed(output: &Output, arguments: &[&str]) -> Value {
    expect(output, 0);
    output_schema::expect(&[&["load"], arguments].concat(), &stdout(output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// A metric that must be there, with its unit.
#[track_caller]
fn metric(document: &Value, path: &str, unit: &str) -> f64 {
    let metric = path.split('/').fold(&document["metrics"], |value, name| &value[name]);
    assert_eq!(metric["unit"], unit, "{path} of {}", document["metrics"]);
    metric["value"].as_f64().unwrap_or_else(|| panic!("{path}: {metric}"))
}

/// Every metric is a value with its unit, or a table of such.
fn expect_metrics(document: &Value) {
    let is_metric = |value: &Value| value["value"].is_f64() && value["unit"].is_string();
    for (name, value) in document["metrics"].as_object().unwrap() {
        let table = value.as_object().unwrap();
        assert!(is_metric(value) || table.values().all(is_metric), "{name}: {value}");
    }
    for side in document["series"].as_object().unwrap().values() {
        assert!(!side["at_ns"].as_array().unwrap().is_empty());
    }
    for part in ["limited_by", "evidence", "disturbed", "notes", "asked", "effective", "sockets"] {
        assert!(document.get(part).is_some(), "{part}");
    }
    let label = document["limited_by"].as_str().unwrap();
    assert!(words::Label::ALL.iter().any(|known| known.to_string() == label), "{label}");
    assert!(document["evidence"].as_array().is_some_and(|evidence| !evidence.is_empty()), "{label}");
    assert!(metric(document, "cpu/transmitter", "%") > 0.0);
}

#[test]
fn every_workload_tells_its_rate_its_cost_and_its_latency() {
    let bench = Bench::new();
    let before = links();
    // Every kind in both families and both scenarios is in `traffic_local`.
    let places = [("ipv4", "veth"), ("ipv6", "loopback")];
    let kinds = ["tcp_stream", "udp_stream", "tcp_rr", "udp_rr", "tcp_crr"];
    for (kind, (family, scenario)) in kinds.into_iter().zip(places.into_iter().cycle()) {
        let [with_family, with_scenario] = [format!("family={family}"), format!("scenario={scenario}")];
        let document = json(&bench, &[kind, &with_family, &with_scenario, "flows=2"]);
        expect_metrics(&document);
        let asked = &document["asked"];
        assert_eq!((&asked["family"], &asked["scenario"]), (&Value::from(family), &Value::from(scenario)));
        assert_eq!(asked["traffic"]["kind"], kind);
        assert!(metric(&document, "cpu/receiver", "%") > 0.0);
        if kind.ends_with("stream") {
            assert!(metric(&document, "throughput", "Mbit/s") > 0.0, "{kind}");
        } else {
            assert!(metric(&document, "transactions", "1/s") > 0.0, "{kind}");
            let quantiles = ["min", "p50", "p90", "p99", "p99_9", "p99_99", "max"]
                .map(|name| metric(&document, &format!("latency/{name}"), "ns"));
            assert!(quantiles.is_sorted() && quantiles[0] > 0.0, "{quantiles:?}");
            assert!(metric(&document, "latency/clock", "ns") > 0.0);
        }
        if kind == "udp_stream" {
            assert!(metric(&document, "packets", "1/s") > 0.0);
        }
        if kind.starts_with("udp") {
            let count = |name: &str| metric(&document, &format!("messages/{name}"), "1");
            let lost: f64 =
                ["lost_queue", "lost_device", "lost_socket", "lost_unaccounted"].map(count).iter().sum();
            assert_eq!(count("offered"), count("received") + lost, "{}", document["metrics"]);
            assert_eq!(count("lost_unaccounted"), 0.0, "{}", document["metrics"]);
        }
    }
    assert_eq!(links(), before, "the machine's own interfaces");
}

#[test]
fn what_nobody_receives_is_counted_at_the_interface() {
    let bench = Bench::new();
    for arguments in [
        vec!["pps"],
        vec!["pps", "family=ipv6", "flows=2"],
        vec!["pps", "checksum=off", "message=1400"],
        vec!["pps", "connected=off", "sender=sendmmsg"],
        vec!["pps", "pacing=10Mbit", "scenario=discard", "--discard-device", "bridge"],
    ] {
        let document = json(&bench, &arguments);
        expect_metrics(&document);
        let (counted, handed_over) =
            (metric(&document, "packets", "1/s"), metric(&document, "packets_handed_over", "1/s"));
        assert!(counted > 0.0 && handed_over > 0.0, "{arguments:?}: {counted} of {handed_over}");
        // On a machine that works for others, too, it cannot be told, and that is said.
        let disturbed = document["disturbed"].as_array().unwrap();
        if !disturbed.iter().any(|what| what.as_str().unwrap().ends_with("is left out")) {
            assert!(metric(&document, "transmitter/service_demand_packet", "ns") > 0.0);
        }
        let count = |name: &str| metric(&document, &format!("messages/{name}"), "1");
        let gone = count("dropped_by_queue") + count("dropped_by_interface") + count("counted_by_interface");
        // IPv6 tells the network of its own addresses, a few packets each time.
        assert!((0.0..=10.0).contains(&(gone - count("sent"))), "{}", document["metrics"]);
        assert!(document["discard_device"].is_string());
        assert!(
            document["metrics"].get("receiver").is_none() && document["effective"].get("receiver").is_none()
        );
        assert!(document["notes"][0].as_str().unwrap().contains("discarded by"), "{}", document["notes"]);
    }
}

#[test]
fn options_reach_the_traffic_and_the_interfaces() {
    let bench = Bench::new();
    let document =
        json(&bench, &["udp_stream", "sender=gso", "reader=gro", "message=1472", "verify=on", "dscp=46"]);
    assert_eq!(document["asked"]["traffic"]["reader"], "gro");
    assert!(metric(&document, "throughput", "Mbit/s") > 0.0);
    let document = json(&bench, &["tcp_stream", "direction=both", "mtu=9000", "offloads=none", "nodelay=on"]);
    assert_eq!(document["effective"]["transmitter"]["mtu"], 9000);
    assert_eq!(document["effective"]["receiver"]["active"]["tx-tcp-segmentation"], false);
    let ways = ["throughput_forward", "throughput_reverse"].map(|key| metric(&document, key, "Mbit/s"));
    assert!(ways.iter().all(|rate| *rate > 0.0), "{ways:?}");
    let document = json(&bench, &["tcp_stream", "scenario=vxlan", "receiver.gro=off", "tso=off"]);
    assert_eq!(document["asked"]["scenario"], "vxlan");
    assert_eq!(document["effective"]["transmitter"]["active"]["tx-tcp-segmentation"], false);
    assert_eq!(document["effective"]["receiver"]["active"]["rx-gro"], false);
    assert_eq!(document["effective"]["transmitter"]["active"]["rx-gro"], true);
    let document = json(&bench, &["udp_rr", "busy_poll=50us", "in_flight=4", "--interval", "10ms"]);
    let notes = document["notes"].to_string();
    assert!(notes.contains("busy polling not applied") && notes.contains("CAP_NET_ADMIN"), "{notes}");
    assert!(metric(&document, "transactions", "1/s") > 0.0);
}

#[test]
fn people_get_a_few_lines() {
    let bench = Bench::new();
    let brief = ["duration=400ms", "ramp=50ms"];
    let text = |arguments: &[&str]| {
        let output = bench.run(&[&["load"], arguments, &brief].concat());
        expect(&output, 0);
        stdout(&output)
    };
    let narrow = text(&["udp_stream", "message=1472", "--rootless", "--interval", "200ms"]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    let brief = [&brief[..], &["--wide"]].concat();
    let text = |arguments: &[&str]| {
        let output = bench.run(&[&["load"], arguments, &brief].concat());
        expect(&output, 0);
        stdout(&output)
    };
    let stream = text(&["udp_stream", "message=1472", "--rootless", "--interval", "200ms"]);
    assert!(stream.starts_with(
        "udp_stream over veth, IPv4: 1 flow, 1472 bytes, sender send, reader recv; 0.4 s after 0.05 s\n"
    ));
    for words in [
        "throughput",
        "at the receiver",
        "packets",
        "offered = ",
        "CPU",
        "receiver",
        "Mbit/s sent",
        "limited by",
    ] {
        assert!(stream.contains(words), "{words}:\n{stream}");
    }
    let rr = text(&["tcp_rr", "rate=500", "family=ipv6"]);
    for words in ["rate 500", "transactions", "p99.99", "reading the clock"] {
        assert!(rr.contains(words), "{words}:\n{rr}");
    }
    let system = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let asked = ["tcp_stream", "congestion_control=system"];
    let tcp = text(&asked);
    assert!(tcp.contains(&format!("reader recv, {}; 0.4 s", system.trim())), "{tcp}");
    let sockets = json(&bench, &asked)["sockets"].clone();
    for side in ["transmitter", "receiver"] {
        assert_eq!(sockets[side][0]["tcp"]["congestion_control"], system.trim(), "{sockets}");
    }
    let pps = text(&["pps", "--rootless"]);
    for words in ["counted by the interface", "sent by the program", "discarded by"] {
        assert!(pps.contains(words), "{words}:\n{pps}");
    }
}

#[test]
fn what_cannot_be_had_is_refused_by_its_option() {
    let bench = Bench::new();
    let mut told = String::new();
    for arguments in [
        &["udp_stream", "flows=0"][..],
        &["udp_stream", "flows=10000000"],
        &["udp_stream", "flows=-1"],
        &["udp_stream", "message=65508"],
        &["udp_stream", "message=65528", "family=ipv6"],
        &["udp_stream", "sender=gso", "message=1473", "--rootless"],
        &["udp_stream", "sender=sendfile"],
        &["tcp_stream", "sender=gso"],
        &["tcp_stream", "checksum=off"],
        &["udp_stream", "checksum=off", "family=ipv6"],
        &["tcp_stream", "connected=off"],
        &["tcp_stream", "rate=100"],
        &["tcp_rr", "in_flight=0"],
        &["tcp_rr", "pacing=10Mbit"],
        &["tcp_stream", "pacing=10"],
        &["tcp_stream", "duration=0s"],
        &["tcp_stream", "duration=forever"],
        &["tcp_stream", "dscp=64"],
        &["tcp_stream", "mtu=1000", "family=ipv6"],
        &["tcp_stream", "scenario=discard"],
        &["tcp_stream", "--discard-device", "bridge"],
        &["pps", "scenario=veth"],
        &["pps", "reader=spin"],
        &["tcp_stream", "flows=1,2"],
        &["tcp_stream", "scenario=vm", "inside=guest"],
        &["tcp_stream", "tso=maybe"],
        &["tcp_stream", "vcpus=2"],
        &["tcp_stream", "mesage=1"],
        &["tcp_stream", "boots=3"],
        &["tcp_stream", "flows"],
        &["tcp_stream", "--in-flight", "2"],
        &["smtp_stream"],
        &[],
    ] {
        let output = bench.run(&[&["load"], arguments].concat());
        expect(&output, 2);
        assert_eq!(stdout(&output), "");
        let error = stderr(&output);
        let first = error.lines().next().unwrap();
        told.push_str(&format!("load {}\n  {first}\n", arguments.join(" ")));
    }
    insta::assert_snapshot!("load_refused", told);
}

#[test]
fn what_this_machine_lacks_is_another_matter() {
    let bench = Bench::new();
    let output = bench.run(&["load", "tcp_stream", "congestion_control=no_such", "--rootless"]);
    expect(&output, 3);
    assert!(stderr(&output).contains("congestion control `no_such` not available"), "{}", stderr(&output));
}

#[test]
fn ctrl_c_ends_it_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let before = links();
    let load = bench.netassay(&["load", "udp_stream", "duration=600s", "--rootless"]);
    // Another session on this machine would be waited for, and that is said.
    let load = Watched::start(apart(&load));
    let id = load.id();
    while agents_of(id).len() < 2 {
        assert!(std::path::Path::new(&format!("/proc/{id}/stat")).exists());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // SAFETY: the process is a child that nobody has waited for yet, so the number is still its
    // own.
    assert_eq!(unsafe { libc::kill(i32::try_from(id).unwrap(), libc::SIGINT) }, 0);
    let (code, said) = load.finish();
    assert_eq!((code, said.trim()), (Some(130), "netassay: interrupted"));
    expect_no_agents_of(id);
    assert_eq!(links(), before);
}
