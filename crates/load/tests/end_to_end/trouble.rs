//! Peers that die or stall, peers of another run, ports in use, steps out of order: a clear error
//! in bounded time.

use std::io::Read;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::support::{PATIENCE, connect, failure, spec, start, step, traffic, within};
use netassay_load::{Endpoint, Error, Kind, Phase, Spec, Traffic};

const KINDS: [Kind; 5] = [Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr, Kind::TcpCrr];

#[test]
#[ignore = "tells how long a stop takes: needs a quiet machine"]
fn everything_stops_in_two_seconds() {
    for kind in KINDS {
        let ends = start(&Spec { traffic: Traffic { flows: 4, ..traffic(kind) }, ..spec(kind, "127.0.0.1") });
        std::thread::sleep(Duration::from_millis(50));
        step(&ends, Phase::Tail);
        let began = Instant::now();
        crate::support::finish(ends);
        assert!(began.elapsed() < Duration::from_secs(2), "{kind} took {:?}", began.elapsed());
    }
}

#[test]
fn ends_that_are_not_finished_stop_too() {
    for kind in KINDS {
        let ends = start(&Spec { traffic: Traffic { flows: 2, ..traffic(kind) }, ..spec(kind, "::1") });
        let began = Instant::now();
        drop(ends);
        assert!(began.elapsed() < PATIENCE, "{kind} took {:?}", began.elapsed());
    }
}

#[test]
fn an_idle_receiver_stops() {
    for_all_kinds_at_once(|kind| {
        let (transmitter, mut receiver) = connect(&spec(kind, "127.0.0.1"));
        receiver.start().unwrap();
        receiver.set_phase(Phase::Tail);
        let began = Instant::now();
        receiver.finish().unwrap();
        assert!(began.elapsed() < PATIENCE, "{kind} took {:?}", began.elapsed());
        drop(transmitter);
    });
}

/// For steps that wait for most of their time.
fn for_all_kinds_at_once(step: impl Fn(Kind) + Copy + Send) {
    std::thread::scope(|scope| KINDS.iter().for_each(|&kind| drop(scope.spawn(move || step(kind)))));
}

#[test]
fn a_receiver_that_dies_fails_the_transmitter() {
    for kind in KINDS {
        let (transmitter, receiver) =
            start(&Spec { traffic: Traffic { flows: 2, ..traffic(kind) }, ..spec(kind, "127.0.0.1") });
        std::thread::sleep(Duration::from_millis(50));
        step_window(&transmitter, &receiver);
        let endpoint = receiver.addresses()[0].ip().to_string();
        drop(receiver);
        let words = failure(PATIENCE, || transmitter.failed());
        assert!(words.starts_with("flow ") && words.contains(&endpoint), "{kind}: {words}");
        assert!(words.contains("ended") || words.contains("closed"), "{kind}: {words}");
        let began = Instant::now();
        assert_eq!(transmitter.finish().unwrap_err().to_string(), words);
        assert!(began.elapsed() < PATIENCE, "{kind} took {:?}", began.elapsed());
    }
}

fn step_window(transmitter: &Endpoint, receiver: &Endpoint) {
    transmitter.set_phase(Phase::Window);
    receiver.set_phase(Phase::Window);
}

#[test]
fn a_transmitter_that_dies_fails_a_tcp_receiver() {
    for kind in [Kind::TcpStream, Kind::TcpRr] {
        let (transmitter, receiver) = start(&spec(kind, "::1"));
        step_window(&transmitter, &receiver);
        std::thread::sleep(Duration::from_millis(30));
        drop(transmitter);
        let words = failure(PATIENCE, || receiver.failed());
        assert!(
            words.contains("before the end of the window")
                || words.contains("the other end closed the connection"),
            "{words}"
        );
        assert!(receiver.finish().is_err());
    }
}

#[test]
fn a_peer_that_goes_in_the_tail_is_no_failure() {
    for_all_kinds_at_once(|kind| {
        let (transmitter, receiver) = start(&spec(kind, "127.0.0.1"));
        std::thread::sleep(Duration::from_millis(30));
        transmitter.set_phase(Phase::Tail);
        receiver.set_phase(Phase::Tail);
        // The wrong order, but the window is over.
        receiver.finish().unwrap_or_else(|e| panic!("{kind}: {e}"));
        transmitter.finish().unwrap_or_else(|e| panic!("{kind}: {e}"));
    });
}

#[test]
#[ignore = "the gate proves this with a_stalled_receiver_does_not_hold_up_any_sender"]
fn a_stalled_receiver_does_not_hold_up_the_stop() {
    // Attached, never started: nobody reads, the sender's write waits.
    let (mut transmitter, receiver) = connect(&spec(Kind::TcpStream, "127.0.0.1"));
    transmitter.start().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let before = transmitter.sample().sent.bytes;
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(transmitter.sample().sent.bytes, before, "the sender should be stuck");
    transmitter.set_phase(Phase::Tail);
    let began = Instant::now();
    let sent = transmitter.finish().unwrap();
    assert!(began.elapsed() < PATIENCE, "took {:?}", began.elapsed());
    assert!(sent.sent.bytes >= before);
    drop(receiver);
}

#[test]
fn a_stalled_receiver_is_found_out() {
    let kinds = [Kind::TcpStream, Kind::TcpRr, Kind::UdpRr];
    let ends = kinds.map(|kind| {
        let (mut transmitter, receiver) = connect(&spec(kind, "127.0.0.1"));
        transmitter.start().unwrap();
        (kind, transmitter, receiver)
    });
    for (kind, transmitter, receiver) in ends {
        let words = failure(PATIENCE, || transmitter.failed());
        let peer = receiver.addresses()[0].to_string();
        assert!(words.contains(&peer) && words.contains("check that"), "{kind}: {words}");
        assert!(transmitter.finish().is_err());
    }
}

#[test]
fn strangers_are_refused() {
    let spec = Spec {
        traffic: Traffic { flows: 3, ..traffic(Kind::TcpStream) },
        ..spec(Kind::TcpStream, "127.0.0.1")
    };
    let mut receiver = Endpoint::bind(&spec).unwrap();
    let endpoint = receiver.addresses()[0];
    let mut early = TcpStream::connect(endpoint).unwrap();
    let mut transmitter = Endpoint::connect(&spec, receiver.addresses()).unwrap();
    receiver.attach(transmitter.addresses()).unwrap();
    early.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(early.read(&mut [0; 1]).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    let late = TcpStream::connect(endpoint);
    assert_eq!(late.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    receiver.start().unwrap();
    transmitter.start().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    transmitter.set_phase(Phase::Tail);
    receiver.set_phase(Phase::Tail);
    let (sent, received) = crate::support::finish((transmitter, receiver));
    assert_eq!(sent.sent.bytes, received.received.bytes);
}

#[test]
fn flows_that_never_come_are_missed() {
    let spec = Spec {
        traffic: Traffic { flows: 2, ..traffic(Kind::TcpStream) },
        ..spec(Kind::TcpStream, "127.0.0.1")
    };
    let mut receiver = Endpoint::bind(&spec).unwrap();
    let _stranger = TcpStream::connect(receiver.addresses()[0]).unwrap();
    let transmitter = Endpoint::connect(&spec, receiver.addresses()).unwrap();
    let elsewhere = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let began = Instant::now();
    let error = receiver.attach(&[transmitter.addresses()[0], elsewhere]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("1 of 2 flows connected") && error.contains("rejected: 2"), "{error}");
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert!(receiver.start().unwrap_err().to_string().contains("attach its peers first"));
}

#[test]
fn addresses_that_do_not_fit_are_refused() {
    let spec = Spec {
        traffic: Traffic { flows: 2, ..traffic(Kind::UdpStream) },
        ..spec(Kind::UdpStream, "127.0.0.1")
    };
    let mut receiver = Endpoint::bind(&spec).unwrap();
    let endpoints = receiver.addresses().to_vec();
    let refused = |endpoints: &[_]| Endpoint::connect(&spec, endpoints).unwrap_err().to_string();
    assert!(refused(&endpoints[..1]).contains("1 endpoints, but 2 flows of udp_stream need 2"));
    assert!(refused(&["[::1]:9".parse().unwrap(), endpoints[1]]).contains("[::1]:9"));
    assert!(refused(&["127.0.0.1:0".parse().unwrap(), endpoints[1]]).contains("an address and a port"));
    let local = "127.0.0.1:9".parse().unwrap();
    let mut refused = |locals: &[_]| receiver.attach(locals).unwrap_err().to_string();
    assert!(refused(&[]).contains("there are 2 flows"));
    assert!(refused(&[local, "[::1]:9".parse().unwrap()]).contains("[::1]:9"));
}

#[test]
fn a_port_in_use_is_named_with_the_way_out() {
    for (kind, local) in [(Kind::TcpStream, "127.0.0.1"), (Kind::UdpStream, "::1"), (Kind::TcpRr, "::1")] {
        let first = Endpoint::bind(&spec(kind, local)).unwrap();
        let port = first.addresses()[0].port();
        let error = Endpoint::bind(&Spec {
            traffic: Traffic { port: Some(port), ..traffic(kind) },
            ..spec(kind, local)
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "port {port} of {local} is in use: leave `port` out of the workload and the kernel chooses a free one"
            )
        );
    }
}

#[test]
fn udp_flows_take_the_ports_that_follow() {
    // Somewhere there are three free ports in a row.
    let found = (20_000..32_000).step_by(3).find_map(|port| {
        let spec = Spec {
            traffic: Traffic { flows: 3, port: Some(port), ..traffic(Kind::UdpStream) },
            ..spec(Kind::UdpStream, "127.0.0.1")
        };
        Endpoint::bind(&spec).ok().map(|receiver| (port, receiver))
    });
    let (port, receiver) = found.unwrap();
    let ports: Vec<u16> = receiver.addresses().iter().map(|endpoint| endpoint.port()).collect();
    assert_eq!(ports, [port, port + 1, port + 2]);
    let second = Spec {
        traffic: Traffic { port: Some(port + 2), ..traffic(Kind::UdpStream) },
        ..spec(Kind::UdpStream, "127.0.0.1")
    };
    let error = Endpoint::bind(&second).unwrap_err().to_string();
    assert!(error.starts_with(&format!("port {} of 127.0.0.1 is in use", port + 2)), "{error}");
}

#[test]
fn a_fixed_port_serves_one_run_after_another() {
    // A port of an address that no other process uses stays free between two runs.
    let [.., high, low] = std::process::id().to_be_bytes();
    let local = format!("127.{high}.{low}.1");
    let port = Endpoint::bind(&spec(Kind::TcpStream, &local)).unwrap().addresses()[0].port();
    for kind in [Kind::TcpStream, Kind::TcpRr, Kind::TcpStream] {
        let spec = Spec { traffic: Traffic { port: Some(port), ..traffic(kind) }, ..spec(kind, &local) };
        let (sent, received) = crate::support::run(&spec, Duration::from_millis(20));
        assert_eq!(received.flows[0].local.port(), port);
        assert_eq!(sent.flows[0].peer.port(), port);
    }
}

#[test]
fn a_missing_listener_is_reported() {
    let endpoint = Endpoint::bind(&spec(Kind::TcpStream, "127.0.0.1")).unwrap().addresses()[0];
    let error = Endpoint::connect(&spec(Kind::TcpStream, "127.0.0.1"), &[endpoint]).unwrap_err().to_string();
    assert!(error.contains(&endpoint.to_string()) && error.contains("nothing listens there"), "{error}");
}

#[test]
fn an_address_of_another_host_is_refused() {
    let error = Endpoint::bind(&spec(Kind::UdpStream, "192.0.2.77")).unwrap_err().to_string();
    assert!(error.contains("192.0.2.77") && error.contains("assign it to an interface"), "{error}");
}

#[test]
fn checksum_off_over_ipv6_is_refused_at_both_ends() {
    let spec = Spec {
        traffic: Traffic { checksum: false, ..traffic(Kind::UdpStream) },
        ..spec(Kind::UdpStream, "::1")
    };
    for error in [
        Endpoint::bind(&spec).unwrap_err(),
        Endpoint::connect(&spec, &["[::1]:9".parse().unwrap()]).unwrap_err(),
    ] {
        assert!(error.to_string().contains("RFC 8200, section 8.1"), "{error}");
    }
}

#[test]
fn steps_out_of_order_are_refused() {
    let spec = spec(Kind::UdpStream, "127.0.0.1");
    let mut unattached = Endpoint::bind(&spec).unwrap();
    assert!(unattached.start().unwrap_err().to_string().contains("attach its peers first"));
    assert!(unattached.sample().flows.is_empty());
    assert!(unattached.finish().unwrap_err().to_string().contains("attach its peers first"));
    let (mut transmitter, mut receiver) = connect(&spec);
    let locals = transmitter.addresses().to_vec();
    for end in [&mut receiver, &mut transmitter] {
        assert!(end.attach(&locals).unwrap_err().to_string().contains("attached before"));
    }
    let (mut transmitter2, mut receiver2) = connect(&spec);
    transmitter2.start().unwrap();
    assert!(transmitter2.start().unwrap_err().to_string().contains("started before"));
    receiver2.start().unwrap();
    assert!(receiver2.start().is_err());
    assert!(transmitter.start().is_ok(), "a refused step must not spoil another transmitter");
}

#[test]
fn an_end_never_started_has_an_empty_account() {
    let (transmitter, receiver) = connect(&spec(Kind::TcpStream, "127.0.0.1"));
    assert_eq!(transmitter.finish().unwrap().sent, netassay_load::Counts::default());
    assert_eq!(receiver.finish().unwrap().received.bytes, 0);
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    let (mut transmitter, receiver) = connect(&Spec {
        traffic: Traffic { flows: 3, ..traffic(Kind::UdpStream) },
        cpus: vec![0, 8191],
        ..spec(Kind::UdpStream, "::1")
    });
    let began = Instant::now();
    let error = transmitter.start().unwrap_err();
    assert!(matches!(error, Error::Flow { flow: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("flow 1: cannot run on CPU 8191"), "{error}");
    assert!(began.elapsed() < PATIENCE);
    assert!(within(Duration::from_millis(20), || (transmitter.failed().is_none()).then_some(())).is_none());
    drop(receiver);
}
