//! Real traffic between real namespaces, through the whole program: every workload, both scenarios,
//! both families, with and without privileges; and the proof that switches acted.

mod common;

use common::{Bench, expect, is_root, skip, stderr, stdout};

/// Every workload over both families, each longer than a busy machine keeps a thread from its CPU.
fn every_workload(scenario: &str) -> String {
    let mut text =
        format!("name = \"all\"\nquestion = \"Does everything flow?\"\nscenario = \"{scenario}\"\n");
    for kind in ["tcp_stream", "udp_stream", "tcp_rr", "udp_rr"] {
        text.push_str(&format!(
            "[[workload]]\nkind = \"{kind}\"\nduration = \"400ms\"\nramp = \"50ms\"\nflows = 2\n"
        ));
    }
    text.push_str("[factors]\nfamily = [\"ipv4\", \"ipv6\"]\n[protocol]\nboots = 1\nwarmup = 0\nruns = 1\n");
    text
}

fn check_every_workload(bench: &Bench) {
    for digit in ["4", "6"] {
        assert!(bench.mean(&format!("tcp{digit}"), "throughput") > 0.0);
        assert!(bench.mean(&format!("udp{digit}"), "packets") > 0.0);
        for kind in ["tcprr", "udprr"] {
            let slug = format!("{kind}{digit}");
            assert!(bench.mean(&slug, "transactions") > 0.0);
            let quantiles: Vec<f64> =
                ["latency_p50", "latency_p90", "latency_p99", "latency_p99_9", "latency_max"]
                    .iter()
                    .map(|metric| bench.mean(&slug, metric))
                    .collect();
            assert!(quantiles.is_sorted() && quantiles[0] > 0.0, "{slug}: {quantiles:?}");
        }
        // The account closes: every datagram arrived, or the kernel says where it went.
        for slug in [format!("udp{digit}"), format!("udprr{digit}")] {
            assert_eq!(bench.mean(&slug, "lost_unaccounted"), 0.0, "{slug}");
            let parts: f64 = ["lost_queue", "lost_device", "lost_socket"]
                .iter()
                .map(|metric| bench.mean(&slug, metric))
                .sum();
            assert_eq!(parts, bench.mean(&slug, "lost"), "{slug}");
        }
    }
    for side in ["transmitter", "receiver"] {
        let parts: f64 = ["user", "system", "irq", "softirq", "steal", "idle"]
            .iter()
            .map(|part| bench.mean("tcp4", &format!("{side}.cpu_{part}")))
            .sum();
        assert!((parts - 100.0).abs() < 0.01, "{side}: {parts} %");
        // On a machine that works for others, too, it cannot be told, and each such run says so.
        let demand = bench.values("tcp4", &format!("{side}.service_demand_byte"));
        let runs = bench.values("tcp4", "throughput").len();
        assert_eq!(runs, 1);
        assert!(demand.iter().all(|ns| *ns > 0.0), "{demand:?}");
        assert_eq!(demand.len() + bench.left_out("tcp4", side), runs);
        assert!(bench.mean("tcp4", &format!("{side}.wire_packets")) > 0.0);
    }
}

#[test]
#[ignore = "the gate proves this as an ordinary user"]
fn traffic_veth_as_root() {
    if !is_root() {
        return skip("traffic_veth_as_root", "not root");
    }
    let bench = Bench::new();
    let study = bench.write("all.toml", &every_workload("veth"));
    expect(&bench.run(&["run", study.to_str().unwrap()]), 0);
    check_every_workload(&bench);
    let environment: String = bench
        .database()
        .query_row(
            "SELECT json FROM document JOIN boot ON boot.environment = document.id LIMIT 1",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(environment.contains("\"rootless\":false"), "{environment}");
}

#[test]
fn traffic_veth_rootless() {
    let bench = Bench::new();
    let study = bench.write("all.toml", &every_workload("veth"));
    let output = bench.netassay_as_nobody(&["run", study.to_str().unwrap()]).output().unwrap();
    expect(&output, 0);
    check_every_workload(&bench);
    // Linux 6.3 and later let an ordinary user steer. What he cannot have elsewhere is said, not
    // passed over.
    let steers = std::path::Path::new("/proc/sys/net/core/rps_default_mask").exists();
    for said in [stderr(&output), stdout(&output)] {
        assert_eq!(said.contains("receive work is not steered"), !steers, "{said}");
    }
}

#[test]
#[ignore = "the gate proves this over veth"]
fn traffic_loopback_as_root_and_rootless() {
    let bench = Bench::new();
    let study = bench.write("all.toml", &every_workload("loopback"));
    if is_root() {
        expect(&bench.run(&["run", study.to_str().unwrap()]), 0);
        check_every_workload(&bench);
        std::fs::remove_file(bench.path("netassay.db")).unwrap();
    } else {
        skip("traffic_loopback_as_root", "not root");
    }
    expect(&bench.netassay_as_nobody(&["run", study.to_str().unwrap()]).output().unwrap(), 0);
    check_every_workload(&bench);
}

#[test]
fn traffic_shows_that_offloads_and_mtu_acted() {
    let bench = Bench::new();
    let study = bench.write(
        "proof.toml",
        r#"
        name = "proof"
        question = "Did they act?"
        scenario = "veth"
        [[workload]]
        kind = "tcp_stream"
        message = 131072
        duration = "200ms"
        ramp = "50ms"
        [factors]
        offloads = ["default", "none"]
        mtu = [1500, 9000]
        [protocol]
        boots = 1
        warmup = 0
        runs = 2
        "#,
    );
    expect(&bench.netassay_as_nobody(&["run", study.to_str().unwrap()]).output().unwrap(), 0);
    let bytes = |slug: &str| bench.mean(slug, "transmitter.bytes_per_wire_packet");
    // With segmentation offload a packet of the wire carries many segments; without, one, of the
    // MTU's size.
    assert!(bytes("tcp4_default_mtu1500") > 9100.0, "{}", bytes("tcp4_default_mtu1500"));
    assert!(bytes("tcp4_nooffload_mtu1500") <= 1514.0, "{}", bytes("tcp4_nooffload_mtu1500"));
    let jumbo = bytes("tcp4_nooffload_mtu9000");
    assert!((4000.0..=9014.0).contains(&jumbo), "{jumbo}");
    let segments = |slug: &str| bench.mean(slug, "transmitter.segments_per_wire_packet");
    assert!(segments("tcp4_default_mtu1500") > 5.0, "{}", segments("tcp4_default_mtu1500"));
    assert!((segments("tcp4_nooffload_mtu1500") - 1.0).abs() < 0.1, "{}", segments("tcp4_nooffload_mtu1500"));
}

#[test]
fn traffic_switches_are_read_back_and_equal_states_merge() {
    let bench = Bench::new();
    let study = bench.write(
        "switches.toml",
        r#"
        name = "switches"
        question = "What does the kernel make of this?"
        scenario = "veth"
        [[workload]]
        kind = "udp_stream"
        duration = "50ms"
        ramp = "10ms"
        [factors]
        transmitter.tx = ["on", "off"]
        transmitter.tso = ["on", "off"]
        receiver.lro = ["off", "on"]
        [protocol]
        boots = 1
        warmup = 0
        runs = 1
        "#,
    );
    let output = bench
        .netassay_as_nobody(&["run", study.to_str().unwrap(), "--dry-run", "--format", "json"])
        .output()
        .unwrap();
    expect(&output, 0);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // lro is not to be had on a veth, so the 8 combinations are at most 4 states; tx off drags tso
    // off, and on kernels whose tso has no part that stays they are 3.
    let states = plan["effective"].as_array().unwrap();
    let merged = plan["merged"].as_array().unwrap();
    assert!((3..=4).contains(&states.len()), "{plan:#}");
    assert_eq!(states.len() + merged.len(), 8);
    for (index, state) in states.iter().enumerate() {
        let active = |state: &serde_json::Value, side: &str| state[side]["active"].clone();
        let same = |other: &serde_json::Value| {
            ["transmitter", "receiver"].iter().all(|side| active(state, side) == active(other, side))
        };
        assert!(!states[..index].iter().any(same), "two conditions with the same state");
    }
    let is_called = |index: usize, factor: &str, level: &str| {
        let words = plan["conditions"][index]["label"].as_array().unwrap();
        words.contains(&serde_json::json!({ "factor": factor, "level": level }))
    };
    let is_on =
        |index: usize, feature: &str| plan["effective"][index]["transmitter"]["active"][feature] == true;
    let dragged = (0..states.len())
        .find(|index| {
            is_called(*index, "transmitter.tx", "off") && is_called(*index, "transmitter.tso", "on")
        })
        .unwrap();
    assert!(is_on(0, "tx-checksum-ip-generic") && is_on(0, "tx-tcp-segmentation"));
    assert!(!is_on(dragged, "tx-checksum-ip-generic") && !is_on(dragged, "tx-tcp-segmentation"));
    // What was asked for and not got, and the kernel's own doing, are on record.
    let side = &plan["effective"][dragged]["transmitter"];
    assert!(side["refused"]["tx-tcp-segmentation"].as_str().unwrap().contains("depends"), "{side:#}");
    assert_eq!(side["follow_on"]["tx-udp-segmentation"], false, "{side:#}");
    assert!(!bench.path("netassay.db").exists(), "a dry run stores nothing");
}

/// Each end's namespace has its own, so neither root nor `--change-machine` is needed.
#[test]
#[ignore = "the gate proves turns with `traffic_turns`"]
fn traffic_sysctls_of_namespaces_take_turns() {
    const OWN: &str = "/proc/sys/net/ipv4/tcp_autocorking";
    let before = std::fs::read_to_string(OWN).unwrap();
    let study = r#"
        name = "corked"
        question = "What does corking give?"
        scenario = "veth"
        [[workload]]
        kind = "tcp_stream"
        duration = "200ms"
        ramp = "20ms"
        [factors]
        transmitter.sysctl = [{ "net.ipv4.tcp_autocorking" = 0 }, "net.ipv4.tcp_autocorking=1"]
        [protocol]
        boots = 1
        warmup = 0
        runs = 1
        alternate = "100ms"
        "#;
    // Root records nothing into another user's database.
    let users = if is_root() { vec![false, true] } else { vec![false] };
    let run = |as_root: bool, arguments: &[&str]| {
        let bench = Bench::new();
        bench.write("corked.toml", study);
        let arguments = [&["run", "corked.toml", "--no-report"], arguments].concat();
        let mut command =
            if as_root { bench.netassay(&arguments) } else { bench.netassay_as_nobody(&arguments) };
        let done = command.output().unwrap();
        (bench, done)
    };
    for as_root in &users {
        let (bench, done) = run(*as_root, &[]);
        expect(&done, 0);
        let newest = |column: &str| {
            let text = format!("SELECT {column} FROM study ORDER BY id DESC LIMIT 1");
            bench.database().query_row(&text, [], |row| row.get::<_, String>(0)).unwrap()
        };
        let plan: serde_json::Value = serde_json::from_str(&newest("plan")).unwrap();
        let read = |side: &str| -> Vec<serde_json::Value> {
            let states = plan["effective"].as_array().unwrap();
            states.iter().map(|state| state[side]["tuning"]["sysctl"].clone()).collect()
        };
        assert_eq!(read("transmitter"), ["net.ipv4.tcp_autocorking=0", "net.ipv4.tcp_autocorking=1"]);
        assert_eq!(read("receiver"), [serde_json::Value::Null, serde_json::Value::Null]);
        let turns = "(SELECT CAST(count(*) AS TEXT) FROM run JOIN boot ON boot.id = run.boot \
                     WHERE boot.study = study.id AND json_array_length(run.detail, '$.turns.turns') > 0)";
        assert_eq!(newest(turns), "2", "{}{}", stdout(&done), stderr(&done));
        assert_eq!(std::fs::read_to_string(OWN).unwrap(), before);
    }
    // A namespace has none of its own of what is the whole machine's.
    let whole = ["--set", "transmitter.sysctl=net.core.netdev_budget=301", "--set", "alternate="];
    for as_root in users {
        let (_bench, refused) = run(as_root, &whole);
        expect(&refused, 3);
        assert!(stderr(&refused).contains("net.core.netdev_budget"), "{}", stderr(&refused));
    }
}

#[test]
#[ignore = "the gate proves this with `load`'s tests of sockets"]
fn traffic_checksum_is_off_for_ipv4_and_refused_for_ipv6() {
    let bench = Bench::new();
    let study = bench.write(
        "checksum.toml",
        r#"
        name = "checksum"
        question = "What does the checksum cost?"
        scenario = "loopback"
        [[workload]]
        kind = "udp_stream"
        duration = "300ms"
        ramp = "20ms"
        [factors]
        family = ["ipv4", "ipv6"]
        checksum = ["on", "off"]
        [protocol]
        boots = 1
        warmup = 0
        runs = 1
        "#,
    );
    let output = bench.netassay_as_nobody(&["run", study.to_str().unwrap(), "--dry-run"]).output().unwrap();
    assert!(stdout(&output).contains("RFC 8200"), "{}", stdout(&output));
    expect(&bench.netassay_as_nobody(&["run", study.to_str().unwrap()]).output().unwrap(), 0);
    assert!(bench.mean("udp4_nocksum", "throughput") > 1.0);
    assert_eq!(bench.values("udp6_nocksum", "throughput").len(), 0);
}
