use std::collections::HashSet;

use super::*;

#[test]
fn keys_are_unique_and_found() {
    let mut seen = HashSet::new();
    for metric in METRICS {
        assert!(seen.insert(metric.key), "{metric}");
        assert_eq!(find(metric.key), Some(*metric));
    }
    assert_eq!(METRICS.len(), 25 + 16 + 2 * 49);
    assert_eq!(find("speed"), None);
}

#[test]
fn a_bare_side_metric_is_the_transmitters() {
    assert_eq!(find("cpu").unwrap().key, "transmitter.cpu");
    assert_eq!(find("service_demand_byte").unwrap().side, Some(Side::Transmitter));
    assert_eq!(find("receiver.drops").unwrap().side, Some(Side::Receiver));
    assert_eq!(find("throughput").unwrap().side, None);
}

#[test]
fn counts_are_written_in_the_plural() {
    for key in ["transactions", "packets", "receiver.retransmits", "instructions_byte", "call_interrupts"] {
        assert!(find(key).unwrap().is_plural(), "{key}");
    }
    for key in ["throughput", "latency_p99", "loss", "lost", "cpu", "service_demand_byte"] {
        assert!(!find(key).unwrap().is_plural(), "{key}");
    }
}

#[test]
fn streams_have_no_transactions_and_rr_no_throughput() {
    assert!(!Kind::TcpStream.produces(TRANSACTIONS));
    assert!(Kind::UdpRr.produces(TRANSACTIONS));
    assert!(!Kind::TcpRr.produces(THROUGHPUT));
    assert!(!Kind::UdpStream.produces(RETRANSMITS.transmitter));
    assert!(Kind::UdpStream.produces(LOSS));
    assert!(Kind::TcpCrr.produces(LATENCY_P99_99));
}

#[test]
fn what_nobody_receives_is_counted_at_the_transmitter_only() {
    let yields: Vec<&str> =
        METRICS.iter().filter(|metric| Kind::Pps.produces(**metric)).map(|metric| metric.key).collect();
    assert_eq!(yields[0], "packets");
    let of_run = |key: &&&str| !key.starts_with("transmitter.");
    assert!(
        yields[1..]
            .iter()
            .filter(of_run)
            .all(|key| key.ends_with("instructions_packet") || key.ends_with("instructions_call")),
        "{yields:?}"
    );
    assert!(yields.contains(&"transmitter.service_demand_packet"));
    assert!(!yields.contains(&"transmitter.service_demand_byte"));
}

#[test]
fn the_kernels_part_is_without_programs() {
    for (key, includes) in [
        ("instructions_packet", true),
        ("user_instructions_byte", true),
        ("kernel_instructions_packet", false),
        ("softirq_instructions_call", false),
        ("receiver.cpu", true),
        ("cpu_user", true),
        ("cpu_softirq", false),
        ("service_demand_byte", true),
        ("latency_p99", false),
    ] {
        assert_eq!(find(key).unwrap().includes_programs(), includes, "{key}");
    }
}

#[test]
fn values_have_the_range_of_what_they_count() {
    for (key, range) in [
        ("throughput", (0.0, None)),
        ("loss", (0.0, Some(100.0))),
        ("receiver.cpu_idle", (0.0, Some(100.0))),
        ("transmitter.segments_per_underlay_packet", (1.0, None)),
        ("transmitter.segments", (0.0, None)),
    ] {
        assert_eq!(find(key).unwrap().range(), range, "{key}");
    }
}

#[test]
fn a_misspelt_key_is_understood() {
    assert_eq!(nearest("troughput"), Some("throughput"));
    assert_eq!(nearest("service_demand_bytes"), Some("service_demand_byte"));
    assert_eq!(nearest("transmiter.cpu"), Some("transmitter.cpu"));
}
