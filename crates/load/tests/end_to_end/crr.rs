//! A new connection for each request: all are served, none leaves a port behind, and nobody else
//! is.

use netassay_load::LoadNote;
use std::io::Read;
use std::time::{Duration, Instant};

use crate::namespace::enter_namespace;
use crate::support::{PATIENCE, connect, failure, finish, run, spec, start, step, traffic, within};
use netassay_load::{EndOutcome, Kind, Phase, Reader, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(50);

#[test]
fn each_request_has_its_connection() {
    for local in ["127.0.0.1", "::1"] {
        for reader in [Reader::Recv, Reader::Spin] {
            for (message, response) in [(1, 1), (64, 1400), (100_000, 300_000)] {
                let spec = Spec {
                    traffic: Traffic {
                        flows: 2,
                        message,
                        response,
                        reader,
                        verify: true,
                        ..traffic(Kind::TcpCrr)
                    },
                    ..spec(Kind::TcpCrr, local)
                };
                let (sent, received) = run(&spec, WINDOW);
                let what = format!("{local} {reader} {message}/{response}: {sent:?} {received:?}");
                assert!(sent.sent.transactions > 0, "{what}");
                assert_eq!(sent.sent.bytes, sent.sent.messages * u64::from(message), "{what}");
                // What was begun at the stop may be broken off, one transaction of each flow.
                assert!(sent.sent.messages - sent.sent.transactions <= 2, "{what}");
                assert!(sent.sent.messages - received.received.messages <= 2, "{what}");
                assert!(received.received.transactions >= sent.sent.transactions, "{what}");
                assert_eq!(sent.flows[0].verified_bytes, u64::from(response), "{what}");
                let count = sent.latency.as_ref().map_or(0, |latency| latency.count);
                assert!(count <= sent.sent.transactions && (count > 0 || reader == Reader::Spin), "{what}");
                assert!(sent.notes.is_empty() && received.notes.is_empty(), "{what}");
                assert_eq!(sent.flows[0].local.port(), 0, "{what}");
            }
        }
    }
}

/// Enters a namespace whose sockets have these ports only; `false` if that cannot be had here.
fn narrow_ports(test: &str, range: &str) -> bool {
    // The file is that of the namespace of the thread which opens it.
    let entered = enter_namespace(test, &[]);
    if entered {
        std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", range).unwrap();
    }
    entered
}

#[test]
fn there_are_more_connections_than_ports() {
    let test = "there_are_more_connections_than_ports";
    if !narrow_ports(test, "40000 40063") {
        return;
    }
    for local in ["127.0.0.1", "::1"] {
        let spec =
            Spec { traffic: Traffic { flows: 3, ..traffic(Kind::TcpCrr) }, ..spec(Kind::TcpCrr, local) };
        let ends = start(&spec);
        let began = Instant::now();
        // Each of the 64 ports serves sixteen times and more.
        while ends.0.sample().sent.transactions < 1024 {
            assert_eq!(ends.0.failed().or(ends.1.failed()), None);
            assert!(began.elapsed() < PATIENCE, "{:?}", ends.0.sample());
            std::thread::sleep(Duration::from_millis(5));
        }
        step(&ends, Phase::Tail);
        let (sent, received) = finish(ends);
        assert!(received.received.transactions >= sent.sent.transactions);
    }
}

#[test]
fn ports_that_are_all_taken_are_named() {
    let test = "ports_that_are_all_taken_are_named";
    if !narrow_ports(test, "40000 40003") {
        return;
    }
    let (mut transmitter, receiver) = connect(&spec(Kind::TcpCrr, "127.0.0.1"));
    // A connection to the same address from this one uses a port that the flow would need.
    let taken: Vec<_> =
        (0..8).filter_map(|_| std::net::TcpStream::connect(receiver.addresses()[0]).ok()).collect();
    assert!(taken.len() >= 2, "{} ports taken", taken.len());
    transmitter.start().unwrap();
    let words = failure(PATIENCE, || transmitter.failed());
    assert!(words.contains("no local port is free") && words.contains("ip_local_port_range"), "{words}");
}

#[test]
fn strangers_get_no_answer() {
    let (mut transmitter, mut receiver) = connect(&spec(Kind::TcpCrr, "127.0.0.1"));
    receiver.start().unwrap();
    let stranger = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    stranger.bind(&"127.0.0.2:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    stranger.set_read_timeout(Some(PATIENCE)).unwrap();
    // On a busy machine it is reset before the kernel has said that it is connected.
    let connected = stranger.connect(&receiver.addresses()[0].into());
    let refused = connected.and_then(|()| (&stranger).read(&mut [0; 1])).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionReset, "{refused}");
    // One who may come, but asks for nothing.
    drop(std::net::TcpStream::connect(receiver.addresses()[0]).unwrap());
    transmitter.start().unwrap();
    let answered = || (transmitter.sample().sent.transactions > 0).then_some(());
    within(PATIENCE, answered).expect("requests are answered");
    transmitter.set_phase(Phase::Tail);
    receiver.set_phase(Phase::Tail);
    let (sent, received) = finish((transmitter, receiver));
    assert!(sent.sent.transactions > 0);
    assert_eq!(received.notes, [LoadNote::Rejected { connections: 2 }]);
    assert!(received.received.messages <= sent.sent.messages);
}

#[test]
#[ignore = "the gate proves this with a_receiver_that_dies_fails_the_transmitter"]
fn a_receiver_that_does_not_listen_any_more_is_reported() {
    let (transmitter, receiver) = start(&spec(Kind::TcpCrr, "::1"));
    std::thread::sleep(Duration::from_millis(50));
    transmitter.set_phase(Phase::Window);
    let endpoint = receiver.addresses()[0].to_string();
    drop(receiver);
    let words = failure(PATIENCE, || transmitter.failed());
    assert!(words.starts_with("flow 0") && words.contains(&endpoint), "{words}");
    assert!(transmitter.finish().is_err());
}

#[test]
#[ignore = "tells how long a stop takes: needs a quiet machine"]
fn a_receiver_that_never_answers_is_found_out_and_does_not_hold_up_the_stop() {
    // The kernel completes the connection; nobody takes the request.
    let (mut transmitter, receiver) = connect(&spec(Kind::TcpCrr, "127.0.0.1"));
    let mut stopped = connect(&spec(Kind::TcpCrr, "127.0.0.1"));
    transmitter.start().unwrap();
    stopped.0.start().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    stopped.0.set_phase(Phase::Tail);
    let began = Instant::now();
    let sent: EndOutcome = stopped.0.finish().unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "took {:?}", began.elapsed());
    assert_eq!((sent.sent.messages, sent.sent.transactions), (1, 0));
    let words = failure(PATIENCE, || transmitter.failed());
    assert!(words.contains("answered nothing") && words.contains("check that"), "{words}");
    drop(receiver);
}

#[test]
fn addresses_that_are_not_one_are_refused() {
    let spec = spec(Kind::TcpCrr, "127.0.0.1");
    let mut receiver = netassay_load::Endpoint::bind(&spec).unwrap();
    let local = "127.0.0.1:0".parse().unwrap();
    let words = receiver.attach(&[local, local]).unwrap_err().to_string();
    assert!(words.contains("2 addresses") && words.contains("come from one"), "{words}");
    receiver.attach(&[local]).unwrap();
}
