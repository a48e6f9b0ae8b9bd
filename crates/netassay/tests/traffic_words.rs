//! Every word that a study has for its traffic, through the whole program: what a file asks for is
//! what flows.

mod common;

use common::{Bench, code, stderr};

/// One workload for each word, so short that the rates mean nothing.
const WORDS: &[(&str, &str, &str)] = &[
    ("plain", "tcp_stream", "congestion_control = \"reno\"\nnodelay = \"on\"\ndscp = 46"),
    ("both", "tcp_stream", "direction = \"both\"\nsender = \"sendfile\""),
    ("reverse", "udp_stream", "direction = \"reverse\"\nsender = \"sendmmsg\""),
    ("segments", "udp_stream", "sender = \"gso\"\nreader = \"gro\"\nverify = true"),
    ("paced", "udp_stream", "pacing = \"8Mbit\"\nconnected = \"off\"\nmessage = 1000"),
    ("discarded", "tcp_stream", "reader = \"trunc\""),
    ("side by side", "udp_rr", "in_flight = 4\nreader = \"spin\""),
    ("open loop", "tcp_rr", "rate = 1000\nbusy_poll = \"50us\""),
    ("connections", "tcp_crr", "flows = 2"),
    ("crowd", "tcp_rr", "flows = 40\nthreads = 2"),
];

fn study() -> String {
    let mut text = "name = \"words\"\nquestion = \"Does every word flow?\"\nscenario = \"veth\"\n".to_owned();
    for (name, kind, words) in WORDS {
        let name = name.replace(' ', "-");
        text.push_str(&format!(
            "[[workload]]\nname = \"{name}\"\nkind = \"{kind}\"\nduration = \"400ms\"\nramp = \"100ms\"\n{words}\n"
        ));
    }
    text + "[protocol]\nboots = 1\nwarmup = 0\nruns = 1\n"
}

#[test]
fn every_word_of_a_study_flows() {
    let bench = Bench::new();
    bench.write("words.toml", &study());
    let output = bench.netassay_as_nobody(&["run", "words.toml", "--progress", "plain"]).output().unwrap();
    // Runs may be marked as disturbed where tests and builds share the machine; none may fail.
    assert!([0, 5].contains(&code(&output)), "{}", stderr(&output));
    let mean = |slug: &str, metric: &str| bench.mean(slug, metric);
    for slug in ["tcp4_plain", "tcp4_both", "udp4_reverse", "udp4_segments", "tcp4_discarded"] {
        assert!(mean(slug, "throughput") > 0.0, "{slug}");
    }
    let [sum, forward, reverse] =
        ["throughput", "throughput_forward", "throughput_reverse"].map(|metric| mean("tcp4_both", metric));
    assert!(forward > 0.0 && reverse > 0.0 && (sum - forward - reverse).abs() < 1e-6 * sum);
    assert!(bench.values("tcp4_plain", "throughput_reverse").is_empty(), "one way has one throughput");
    // Slower than the pace is what a busy machine makes of it; faster, over all of the run, is
    // nothing.
    let paced = mean("udp4_paced", "packets");
    assert!(paced > 0.0 && paced < 2.0 * 1000.0, "{paced} packets/s at a pace of 1000");
    for slug in ["udprr4_side-by-side", "tcprr4_open-loop", "tcpcrr4_connections", "tcprr4_crowd"] {
        assert!(mean(slug, "transactions") > 0.0, "{slug}");
        assert!(mean(slug, "latency_p99_99") >= mean(slug, "latency_p50"), "{slug}");
    }
    let asked = mean("tcprr4_open-loop", "transactions");
    assert!(asked < 2.0 * 1000.0, "{asked} transactions/s at a rate of 1000");
}
