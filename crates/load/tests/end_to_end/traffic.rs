//! Every kind of workload moves real traffic, over IPv4 and IPv6, and every byte arrives.

use std::time::Duration;

use crate::support::{await_progress, finish, run, samples, spec, start, step, traffic};
use netassay_load::{EndOutcome, Kind, Phase, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(50);
const ADDRESSES: [&str; 2] = ["127.0.0.1", "::1"];

#[test]
fn a_tcp_stream_arrives_whole() {
    for local in ADDRESSES {
        for message in [1, 1000, 16384, 1 << 20] {
            let (sent, received) = run(
                &Spec {
                    traffic: Traffic { flows: 3, message, ..traffic(Kind::TcpStream) },
                    ..spec(Kind::TcpStream, local)
                },
                WINDOW,
            );
            assert!(sent.sent.bytes > 0, "{local} {message}");
            assert_eq!(sent.sent.bytes, received.received.bytes, "{local} {message}");
            same_flows(&sent, &received, |flow| flow.counts.bytes);
            for flow in sent.flows.iter().chain(&received.flows) {
                assert_eq!(flow.counts.messages, flow.counts.bytes / u64::from(message));
            }
            assert!(received.flows.iter().all(|flow| flow.verified_bytes > 0), "{received:?}");
            assert!(sent.flows.iter().all(|flow| flow.tcp.as_ref().is_some_and(|tcp| tcp.segments_out > 0)));
        }
    }
}

#[test]
#[ignore = "the gate proves this with every_tcp_sender_arrives_intact"]
fn writes_cut_short_are_counted_and_the_stream_stays_whole() {
    // Far more than the buffers hold: every write waits, and the stop cuts one short.
    let spec = Spec {
        traffic: Traffic { message: 16 << 20, socket_buffer: Some(65_536), ..traffic(Kind::TcpStream) },
        ..spec(Kind::TcpStream, "127.0.0.1")
    };
    for _ in 0..5 {
        let (sent, received) = run(&spec, Duration::from_millis(20));
        assert_eq!(sent.sent.bytes, received.received.bytes);
        assert!(received.flows[0].verified_bytes > 0);
    }
}

#[test]
fn a_udp_stream_adds_up() {
    for local in ADDRESSES {
        for message in [1, 18, 1472, 9000] {
            let (sent, received) = run(
                &Spec {
                    traffic: Traffic { flows: 3, message, ..traffic(Kind::UdpStream) },
                    ..spec(Kind::UdpStream, local)
                },
                WINDOW,
            );
            assert!(received.received.messages > 0, "{local} {message}");
            assert_eq!(received.received.bytes, received.received.messages * u64::from(message));
            assert_eq!(sent.sent.calls, sent.sent.messages + sent.sent.no_buffers);
            assert!(received.flows.iter().all(|flow| flow.verified_bytes == u64::from(message)));
            assert!(sent.flows.iter().all(|flow| flow.tcp.is_none()));
        }
    }
}

#[test]
fn the_largest_datagrams_pass() {
    for (local, message) in [("127.0.0.1", 65_507), ("::1", 65_527)] {
        let spec = Spec {
            traffic: Traffic { message, socket_buffer: Some(4 << 20), ..traffic(Kind::UdpStream) },
            ..spec(Kind::UdpStream, local)
        };
        let (sent, received) = run(&spec, WINDOW);
        assert!(sent.sent.messages > 0 && received.received.messages > 0, "{local}: {sent:?} {received:?}");
        assert_eq!(received.flows[0].verified_bytes, u64::from(message));
    }
}

#[test]
fn requests_are_answered() {
    for kind in [Kind::TcpRr, Kind::UdpRr] {
        for local in ADDRESSES {
            for (message, response) in [(1, 1), (7, 3), (64, 1400), (1400, 64), (9000, 9000)] {
                let spec = Spec {
                    traffic: Traffic { flows: 2, message, response, ..traffic(kind) },
                    ..spec(kind, local)
                };
                let (sent, received) = run(&spec, WINDOW);
                let what = format!("{kind} {local} {message}/{response}: {sent:?} {received:?}");
                let (asked, answered) = (&sent.sent, &received.received);
                assert!(asked.transactions > 0, "{what}");
                assert_eq!(asked.bytes, asked.messages * u64::from(message), "{what}");
                // At the stop one request of each flow may be on its way, or lost with its flow.
                assert!((asked.transactions..=asked.messages).contains(&answered.transactions), "{what}");
                assert!(asked.messages - asked.transactions <= 2 + asked.timeouts, "{what}");
                let latency = sent.latency.as_ref().unwrap_or_else(|| panic!("{what}"));
                assert!(latency.count <= asked.transactions, "{what}");
                assert!(latency.min <= latency.p50 && latency.p50 <= latency.p90, "{what}");
                assert!(latency.p90 <= latency.p99 && latency.p99 <= latency.p99_9, "{what}");
                assert!(latency.p99_9 <= latency.max && latency.mean <= latency.max as f64, "{what}");
                assert!(received.latency.is_none(), "{what}");
            }
        }
    }
}

#[test]
#[ignore = "the gate proves this with every_byte_is_compared_where_that_is_asked_for"]
fn content_is_verified_in_both_directions_of_a_request() {
    for kind in [Kind::TcpRr, Kind::UdpRr] {
        let spec =
            Spec { traffic: Traffic { message: 1000, response: 500, ..traffic(kind) }, ..spec(kind, "::1") };
        let (sent, received) = run(&spec, WINDOW);
        // The first eight bytes of a datagram are its number.
        let number = if kind == Kind::UdpRr { 8 } else { 0 };
        assert_eq!(sent.flows[0].verified_bytes, 500 - number, "{sent:?}");
        assert_eq!(received.flows[0].verified_bytes, 1000 - number, "{received:?}");
    }
}

#[test]
fn samples_grow_while_traffic_flows() {
    for kind in [Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr] {
        let spec = Spec { traffic: Traffic { flows: 2, ..traffic(kind) }, ..spec(kind, "127.0.0.1") };
        let ends = start(&spec);
        std::thread::sleep(Duration::from_millis(50));
        let before = samples(&ends);
        std::thread::sleep(WINDOW);
        await_progress(&ends, &spec, &before);
        let ([first_sent, first], [last_sent, last]) = (before, samples(&ends));
        step(&ends, Phase::Tail);
        let (sent, received) = (last_sent.since(&first_sent), last.since(&first));
        assert!(received.at_ns >= WINDOW.as_nanos() as u64, "{kind}");
        assert!(sent.sent.messages > 0 && received.received.messages > 0, "{kind}: {sent:?} {received:?}");
        assert!(received.flows.iter().all(|flow| flow.bytes > 0), "{kind}: {received:?}");
        assert_eq!(received.flows.iter().map(|flow| flow.bytes).sum::<u64>(), received.received.bytes);
        let (sent, received) = finish(ends);
        assert!(sent.sent.messages >= last_sent.sent.messages, "{kind}");
        assert!(received.received.messages >= last.received.messages, "{kind}");
    }
}

#[test]
fn socket_buffers_in_force_are_reported() {
    for kind in [Kind::TcpStream, Kind::UdpStream] {
        let (sent, received) = run(
            &Spec {
                traffic: Traffic { socket_buffer: Some(100_000), ..traffic(kind) },
                ..spec(kind, "127.0.0.1")
            },
            WINDOW,
        );
        for buffers in [sent.buffers, received.buffers] {
            // The kernel doubles what it is asked for (socket(7)).
            assert_eq!((buffers.send, buffers.receive), (200_000, 200_000), "{kind}");
        }
    }
}

#[test]
fn datagrams_go_without_checksum_when_asked() {
    let (sent, received) = run(
        &Spec {
            traffic: Traffic { checksum: false, ..traffic(Kind::UdpStream) },
            ..spec(Kind::UdpStream, "127.0.0.1")
        },
        WINDOW,
    );
    assert!(sent.sent.messages > 0 && received.received.messages > 0);
}

#[test]
fn an_account_survives_the_wire() {
    let (sent, received) = run(&spec(Kind::TcpRr, "127.0.0.1"), WINDOW);
    for outcome in [sent, received] {
        let text = serde_json::to_string(&outcome).unwrap();
        assert_eq!(serde_json::from_str::<EndOutcome>(&text).unwrap(), outcome);
    }
}

fn same_flows(sent: &EndOutcome, received: &EndOutcome, of: impl Fn(&netassay_load::FlowOutcome) -> u64) {
    for (sent, received) in sent.flows.iter().zip(&received.flows) {
        assert_eq!(of(sent), of(received));
        assert_eq!((sent.local, sent.peer), (received.peer, received.local));
    }
}
