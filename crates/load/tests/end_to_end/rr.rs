//! Transactions side by side, sockets that are connected to nobody, threads that never sleep.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::support::{PATIENCE, connect, failure, finish, run, spec, start, traffic, within};
use netassay_load::{EndOutcome, Family, Kind, Phase, Reader, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(50);

/// Moves such traffic and checks that its account is closed.
fn adds_up(spec: &Spec) -> (EndOutcome, EndOutcome) {
    let (sent, received) = run(spec, WINDOW);
    let traffic = &spec.traffic;
    let what = format!("{traffic:?} {}: {sent:?} {received:?}", spec.local);
    let (asked, answered) = (&sent.sent, &received.received);
    assert!(asked.transactions > 0, "{what}");
    assert!(asked.bytes >= asked.messages * u64::from(traffic.message), "{what}");
    let under_way = u64::from(traffic.in_flight * traffic.flows);
    assert!(asked.messages - asked.transactions <= under_way + asked.timeouts, "{what}");
    assert!((asked.transactions..=asked.messages).contains(&answered.transactions), "{what}");
    assert!(answered.messages + received.socket_drops() <= asked.messages, "{what}");
    assert!(answered.messages >= answered.transactions, "{what}");
    // A transaction of many may take longer than the window.
    let latency = sent.latency.as_ref();
    assert!(latency.is_none_or(|latency| latency.count <= asked.transactions && latency.max > 0), "{what}");
    assert!(latency.is_some() || traffic.in_flight > 100 || traffic.reader == Reader::Spin, "{what}");
    if let Some(latency) = latency {
        let histogram = latency.histogram.as_ref().unwrap();
        assert_eq!(histogram.count(), latency.count, "{what}");
        for quantile in [latency.min, latency.p50, latency.p90, latency.p99, latency.max] {
            let mut buckets = histogram.buckets();
            assert!(
                buckets.any(|(latencies, _)| latencies.contains(&quantile)),
                "{quantile} ns is in no bucket: {what}"
            );
        }
    }
    assert!(sent.notes.is_empty() && received.notes.is_empty(), "{what}");
    (sent, received)
}

#[test]
fn transactions_side_by_side_are_all_answered() {
    for kind in [Kind::TcpRr, Kind::UdpRr] {
        for (local, reader) in [("127.0.0.1", Reader::Recv), ("::1", Reader::Spin), ("::1", Reader::Recv)] {
            for (in_flight, message, response) in [(2, 1, 1), (16, 64, 1400), (100, 1400, 3), (128, 1, 9)] {
                // Threads that spin leave each other little where there are few CPUs.
                let flows = if reader == Reader::Spin { 1 } else { 2 };
                let traffic =
                    Traffic { flows, in_flight, message, response, reader, verify: true, ..traffic(kind) };
                adds_up(&Spec { traffic, ..spec(kind, local) });
            }
        }
    }
}

#[test]
fn more_under_way_than_the_buffers_hold_is_no_deadlock() {
    // Both ends' buffers hold a few messages; with both waiting for room, nothing would move.
    let traffic = Traffic {
        in_flight: 1024,
        message: 30_000,
        response: 40_000,
        socket_buffer: Some(65_536),
        verify: true,
        ..traffic(Kind::TcpRr)
    };
    let (sent, _) = adds_up(&Spec { traffic, ..spec(Kind::TcpRr, "127.0.0.1") });
    assert!(sent.flows[0].verified_bytes > 0);
}

#[test]
fn one_byte_tells_128_transactions_apart() {
    let many = Traffic { in_flight: 129, message: 1, response: 1, ..traffic(Kind::UdpRr) };
    let words = many.validate(Family::Ipv4).unwrap_err().to_string();
    assert!(words.contains("128 transactions") && words.contains("2 bytes"), "{words}");
    Traffic { kind: Kind::TcpRr, ..many }.validate(Family::Ipv4).unwrap();
}

#[test]
fn sockets_connected_to_nobody_serve_their_peers_only() {
    for local in ["127.0.0.1", "::1"] {
        for (in_flight, reader) in
            [(1, Reader::Recv), (8, Reader::Recv), (1, Reader::Spin), (8, Reader::Spin)]
        {
            let traffic = Traffic {
                connected: false,
                flows: 2,
                in_flight,
                reader,
                verify: true,
                ..traffic(Kind::UdpRr)
            };
            adds_up(&Spec { traffic, ..spec(Kind::UdpRr, local) });
        }
        let traffic = Traffic { connected: false, ..traffic(Kind::UdpRr) };
        let (mut transmitter, mut receiver) = connect(&Spec { traffic, ..spec(Kind::UdpRr, local) });
        receiver.start().unwrap();
        let stranger = UdpSocket::bind((local, 0)).unwrap();
        stranger.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        for at in [receiver.addresses()[0], transmitter.addresses()[0]] {
            stranger.send_to(&[1; 64], at).unwrap();
        }
        assert!(stranger.recv(&mut [0; 64]).is_err(), "a stranger was answered");
        assert_eq!(receiver.sample().received.messages, 0);
        transmitter.start().unwrap();
        let answered = || (transmitter.sample().sent.transactions > 0).then_some(());
        within(PATIENCE, answered).expect("requests are answered");
        transmitter.set_phase(Phase::Tail);
        receiver.set_phase(Phase::Tail);
        let (sent, received) = finish((transmitter, receiver));
        // An answer is late only if its request was given up; the stranger's is none.
        assert!(sent.sent.late <= sent.sent.timeouts, "{sent:?}");
        assert!(received.received.messages <= sent.sent.messages, "{sent:?} {received:?}");
    }
}

#[test]
#[ignore = "the gate proves this with transactions_side_by_side_are_all_answered"]
fn threads_that_spin_answer_and_end() {
    for kind in [Kind::TcpRr, Kind::UdpRr] {
        for local in ["127.0.0.1", "::1"] {
            for (message, response) in [(1, 1), (9000, 5000)] {
                let traffic = Traffic { reader: Reader::Spin, message, response, ..traffic(kind) };
                adds_up(&Spec { traffic, ..spec(kind, local) });
            }
        }
    }
}

/// Traffic in each of the ways in which requests can be under way.
fn ways() -> Vec<Spec> {
    let (mut side_by_side, mut open, mut spinning) = (vec![], vec![], vec![]);
    for kind in [Kind::TcpRr, Kind::UdpRr] {
        let spec = |traffic| Spec { traffic, ..spec(kind, "127.0.0.1") };
        side_by_side.push(spec(Traffic { in_flight: 4, ..traffic(kind) }));
        open.push(spec(Traffic { rate: Some(100), ..traffic(kind) }));
        spinning.push(spec(Traffic { reader: Reader::Spin, ..traffic(kind) }));
    }
    [side_by_side, open, spinning].concat()
}

#[test]
#[ignore = "the gate proves this with a_receiver_that_dies_fails_the_transmitter"]
fn a_receiver_that_dies_is_reported_in_every_way() {
    for spec in ways() {
        let (transmitter, receiver) = start(&spec);
        within(Duration::from_secs(5), || (transmitter.sample().sent.transactions > 0).then_some(()))
            .unwrap();
        let endpoint = receiver.addresses()[0].to_string();
        drop(receiver);
        let words = failure(PATIENCE, || transmitter.failed());
        assert!(words.contains(&endpoint), "{:?}: {words}", spec.traffic);
        assert!(words.contains("ended") || words.contains("closed"), "{:?}: {words}", spec.traffic);
        assert!(transmitter.finish().is_err());
    }
}

#[test]
#[ignore = "the gate proves this with a_stalled_receiver_is_found_out"]
fn a_receiver_that_never_answers_is_found_out_in_every_way() {
    // All at once: each takes five seconds to be given up.
    let ends: Vec<_> = ways()
        .into_iter()
        .map(|spec| {
            let (mut transmitter, receiver) = connect(&spec);
            transmitter.start().unwrap();
            (spec, transmitter, receiver)
        })
        .collect();
    for (spec, transmitter, receiver) in ends {
        let words = failure(PATIENCE, || transmitter.failed());
        let peer = receiver.addresses()[0].to_string();
        assert!(
            words.contains(&peer) && words.contains("answered nothing for 5 s"),
            "{:?}: {words}",
            spec.traffic
        );
        let began = Instant::now();
        assert!(transmitter.finish().is_err());
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", spec.traffic);
    }
}

#[test]
fn lost_requests_time_out_one_by_one() {
    // Nobody answers at first: the queue takes some of the requests, all of them are given up in
    // time, and what is answered later is late.
    for in_flight in [4, 64] {
        let traffic = Traffic { in_flight, ..traffic(Kind::UdpRr) };
        let (mut transmitter, mut receiver) = connect(&Spec { traffic, ..spec(Kind::UdpRr, "127.0.0.1") });
        transmitter.start().unwrap();
        let given_up = || {
            let waiting = transmitter.sample().sent;
            assert_eq!(waiting.transactions, 0);
            (waiting.timeouts >= u64::from(in_flight)).then_some(())
        };
        within(PATIENCE, given_up).expect("requests are given up while nobody answers");
        receiver.start().unwrap();
        let answered = || {
            let sent = transmitter.sample().sent;
            (sent.transactions > 0 && sent.late > 0).then_some(())
        };
        within(PATIENCE, answered).expect("old and new requests are answered");
        transmitter.set_phase(Phase::Tail);
        receiver.set_phase(Phase::Tail);
        let (sent, _) = finish((transmitter, receiver));
        let asked = &sent.sent;
        assert!(asked.transactions > 0 && asked.late > 0 && asked.late <= asked.timeouts, "{asked:?}");
        assert!(asked.messages - asked.transactions - asked.timeouts <= u64::from(in_flight), "{asked:?}");
    }
}
