//! Over the whole life of a UDP stream, sent = received + dropped, and each drop is counted where
//! it happened.

use std::net::UdpSocket;
use std::time::Duration;

use crate::support::{PATIENCE, backlog_drops, finish, spec, start, step, traffic, within};
use netassay_load::{Endpoint, Kind, Phase, Spec, Traffic};

#[test]
fn sent_is_received_plus_dropped() {
    for local in ["127.0.0.1", "::1"] {
        // A receive buffer of a few datagrams makes drops certain.
        let spec = Spec {
            traffic: Traffic { flows: 2, socket_buffer: Some(4096), ..traffic(Kind::UdpStream) },
            ..spec(Kind::UdpStream, local)
        };
        let before = backlog_drops();
        let ends = start(&spec);
        std::thread::sleep(Duration::from_millis(200));
        let drops = || (ends.1.sample().received.socket_drops > 0).then_some(());
        within(PATIENCE, drops).expect("a buffer of a few datagrams overflows");
        step(&ends, Phase::Tail);
        let (sent, received) = finish(ends);
        let elsewhere = backlog_drops() - before;
        let accounted = received.received.messages + received.socket_drops();
        assert!(received.socket_drops() > 0 && received.received.messages > 0, "{received:?}");
        assert!(accounted <= sent.sent.messages, "{sent:?} {received:?}");
        let missing = sent.sent.messages - accounted;
        assert!(
            missing <= elsewhere,
            "{missing} missing, {elsewhere} dropped elsewhere: {sent:?} {received:?}"
        );
        for flow in 0..2 {
            let counts = received.flows[flow].counts;
            assert!(counts.messages + counts.socket_drops <= sent.flows[flow].counts.messages);
        }
    }
}

#[test]
fn what_is_queued_when_the_sender_stops_is_still_received() {
    // The receiver's thread starts only after the sender has ended: all that it gets comes from its
    // queue.
    let spec = Spec {
        traffic: Traffic { socket_buffer: Some(1 << 20), ..traffic(Kind::UdpStream) },
        ..spec(Kind::UdpStream, "127.0.0.1")
    };
    let (mut transmitter, mut receiver) = crate::support::connect(&spec);
    let before = backlog_drops();
    transmitter.start().unwrap();
    let many = || (transmitter.sample().sent.messages > 1000).then_some(());
    within(PATIENCE, many).expect("datagrams are sent");
    transmitter.set_phase(Phase::Tail);
    let sent = transmitter.finish().unwrap();
    receiver.start().unwrap();
    receiver.set_phase(Phase::Tail);
    let received = receiver.finish().unwrap();
    let elsewhere = backlog_drops() - before;
    assert!(received.received.messages > 100, "{received:?}");
    let accounted = received.received.messages + received.socket_drops();
    assert!(sent.sent.messages - accounted <= elsewhere, "{sent:?} {received:?}");
}

#[test]
fn drops_in_the_window_show_in_the_samples() {
    let ends = start(&Spec {
        traffic: Traffic { socket_buffer: Some(4096), ..traffic(Kind::UdpStream) },
        ..spec(Kind::UdpStream, "127.0.0.1")
    });
    std::thread::sleep(Duration::from_millis(50));
    let first = ends.1.sample();
    let drops = || {
        let window = ends.1.sample().since(&first);
        (window.received.socket_drops > 0).then_some(window)
    };
    let window = within(PATIENCE, drops).expect("a buffer of a few datagrams overflows");
    step(&ends, Phase::Tail);
    let (_, received) = finish(ends);
    assert!(received.socket_drops() >= window.received.socket_drops);
}

#[test]
fn datagrams_of_strangers_are_not_counted() {
    let spec = Spec {
        traffic: Traffic { flows: 2, ..traffic(Kind::UdpStream) },
        ..spec(Kind::UdpStream, "127.0.0.1")
    };
    let mut receiver = Endpoint::bind(&spec).unwrap();
    let mut transmitter = Endpoint::connect(&spec, receiver.addresses()).unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let bother = || {
        for endpoint in receiver.addresses() {
            for _ in 0..50 {
                // Once the receiver is connected, its port refuses strangers; that is the point.
                let _ = stranger.send_to(&[0; 300], endpoint);
            }
        }
    };
    bother();
    receiver.attach(transmitter.addresses()).unwrap();
    for endpoint in receiver.addresses() {
        let _ = stranger.send_to(&[0; 300], endpoint);
    }
    receiver.start().unwrap();
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(receiver.sample().received, netassay_load::Counts::default());
    transmitter.start().unwrap();
    let arrives = || (receiver.sample().received.messages > 0).then_some(());
    within(PATIENCE, arrives).expect("datagrams arrive");
    step_both(&transmitter, &receiver);
    let sent = transmitter.finish().unwrap();
    let received = receiver.finish().unwrap();
    assert!(received.received.messages + received.socket_drops() <= sent.sent.messages);
}

fn step_both(transmitter: &Endpoint, receiver: &Endpoint) {
    transmitter.set_phase(Phase::Tail);
    receiver.set_phase(Phase::Tail);
}

#[test]
#[ignore = "counts what is given up in a time: needs a quiet machine"]
fn late_answers_are_counted_and_not_taken_for_others() {
    // Numbers of eight bytes, of three, and of one.
    for (message, response) in [(64, 64), (3, 100), (1, 1)] {
        let spec = Spec {
            traffic: Traffic { message, response, ..traffic(Kind::UdpRr) },
            ..spec(Kind::UdpRr, "127.0.0.1")
        };
        let (mut transmitter, mut receiver) = crate::support::connect(&spec);
        transmitter.start().unwrap();
        // Three or four requests are given up before anybody answers; then all are answered at
        // once.
        std::thread::sleep(Duration::from_millis(370));
        assert_eq!(transmitter.sample().sent.transactions, 0);
        receiver.start().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        step_both(&transmitter, &receiver);
        let asked = transmitter.finish().unwrap().sent;
        let answered = receiver.finish().unwrap().received;
        assert!((3..=4).contains(&asked.timeouts), "{asked:?}");
        assert_eq!(asked.late, asked.timeouts, "{asked:?}");
        assert!(asked.transactions > 0, "{asked:?}");
        assert!(asked.messages - asked.transactions - asked.timeouts <= 1, "{asked:?}");
        assert!(answered.transactions >= asked.transactions + asked.timeouts, "{asked:?} {answered:?}");
    }
}

#[test]
fn only_the_window_enters_the_latencies() {
    for kind in [Kind::TcpRr, Kind::UdpRr] {
        let (sent, _) = {
            let ends = start(&spec(kind, "127.0.0.1"));
            let answered = || (ends.0.sample().sent.transactions > 0).then_some(());
            within(PATIENCE, answered).expect("requests are answered");
            step(&ends, Phase::Tail);
            std::thread::sleep(Duration::from_millis(20));
            finish(ends)
        };
        assert!(sent.sent.transactions > 0);
        assert_eq!(sent.latency, None, "there was no window");
    }
    // A transaction that starts before the window and ends in it: TCP waits for its answer.
    let (mut transmitter, mut receiver) = crate::support::connect(&spec(Kind::TcpRr, "127.0.0.1"));
    transmitter.start().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    transmitter.set_phase(Phase::Window);
    std::thread::sleep(Duration::from_millis(700));
    receiver.start().unwrap();
    let answered = || (transmitter.sample().sent.transactions > 1).then_some(());
    within(PATIENCE, answered).expect("requests are answered");
    step_both(&transmitter, &receiver);
    let sent = transmitter.finish().unwrap();
    receiver.finish().unwrap();
    let latency = sent.latency.unwrap();
    assert!(latency.count >= 1 && latency.count < sent.sent.transactions, "{latency:?}");
    assert!(latency.max < 700_000_000, "the transaction across the edge was recorded: {latency:?}");
}
