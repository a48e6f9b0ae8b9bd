//! Threads that serve several flows each.

use std::time::Duration;

use crate::support::{
    PATIENCE, await_progress, backlog_drops, connect, failure, finish, run, samples, spec, start, step,
    traffic, within,
};
use netassay_load::{Counts, Direction, EndOutcome, Kind, Phase, Share, Spec, Traffic};

const FLOWS: u32 = 7;
const THREADS: u32 = 2;
const WINDOW: Duration = Duration::from_millis(100);
const SHARED: [Kind; 4] = [Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr];

/// Seven flows on two threads.
fn shared(kind: Kind, local: &str, change: impl FnOnce(&mut Traffic)) -> Spec {
    let mut traffic = Traffic { flows: FLOWS, threads: Some(THREADS), ..traffic(kind) };
    change(&mut traffic);
    Spec { traffic, ..spec(kind, local) }
}

/// The sums are those of the flows, and every flow moved something.
fn adds_up(outcome: &EndOutcome) {
    let sum = |sends| outcome.flows.iter().filter(|flow| flow.sends == sends).map(|flow| flow.counts).sum();
    assert_eq!((outcome.sent, outcome.received), (sum(true), sum(false)));
    assert!(outcome.flows.iter().all(|flow| flow.counts.bytes > 0), "{outcome:?}");
}

#[test]
fn every_kind_is_accounted_for_exactly() {
    for kind in SHARED {
        for local in ["127.0.0.1", "::1"] {
            let before = backlog_drops();
            let (sent, received) = run(&shared(kind, local, |_| ()), WINDOW);
            let elsewhere = backlog_drops() - before;
            adds_up(&sent);
            adds_up(&received);
            let shares = |sends| [Share { sends, flows: 3 }, Share { sends, flows: 4 }];
            assert_eq!((&sent.threads[..], &received.threads[..]), (&shares(true)[..], &shares(false)[..]));
            let (asked, taken) = (sent.sent, received.received);
            match kind {
                Kind::TcpStream => assert_eq!(asked.bytes, taken.bytes),
                Kind::UdpStream => {
                    let missing = asked.messages - taken.messages - received.socket_drops();
                    assert!(missing <= elsewhere, "{sent:?} {received:?}");
                }
                _ => {
                    assert!(
                        asked.messages - asked.transactions - asked.timeouts <= u64::from(FLOWS),
                        "{asked:?}"
                    );
                    assert!(taken.transactions >= asked.transactions, "{asked:?} {taken:?}");
                    assert!(
                        taken.transactions - asked.transactions <= u64::from(FLOWS) + asked.timeouts,
                        "{asked:?} {taken:?}"
                    );
                    let latency = sent.latency.unwrap();
                    assert!(latency.count > 0 && latency.count <= asked.transactions, "{latency:?}");
                }
            }
        }
    }
}

#[test]
#[ignore = "the gate proves both ways with a thread for each flow"]
fn both_ways_have_their_own_threads() {
    for kind in [Kind::TcpStream, Kind::UdpStream] {
        for direction in [Direction::Reverse, Direction::Both] {
            let spec = shared(kind, "127.0.0.1", |traffic| traffic.direction = direction);
            let ends = start(&spec);
            std::thread::sleep(WINDOW);
            let all_move = || {
                let [near, far] = samples(&ends);
                let move_something = |flows: &[Counts]| flows.iter().all(|flow| flow.bytes > 0);
                (move_something(&near.flows) && move_something(&far.flows)).then_some(())
            };
            within(PATIENCE, all_move).expect("all flows move");
            step(&ends, Phase::Tail);
            // Both stop sending before either stops receiving.
            ends.0.quiet();
            ends.1.quiet();
            let (transmitter, receiver) = finish(ends);
            adds_up(&transmitter);
            adds_up(&receiver);
            let ways = if direction == Direction::Both { 2 } else { 1 };
            assert_eq!(transmitter.threads.len(), ways * THREADS as usize);
            if kind == Kind::TcpStream {
                assert_eq!(receiver.sent.bytes, transmitter.received.bytes);
                assert_eq!(transmitter.sent.bytes, receiver.received.bytes);
            }
        }
    }
}

#[test]
fn every_byte_is_compared_where_that_is_asked_for() {
    for kind in SHARED {
        // Messages that no call moves whole, where a stream or TCP can cut them.
        let message = if matches!(kind, Kind::TcpStream | Kind::TcpRr) { 300_000 } else { 1400 };
        let spec = shared(kind, "127.0.0.1", |traffic| {
            (traffic.verify, traffic.message) = (true, message);
            traffic.response = if kind.is_rr() { message / 2 } else { 0 };
        });
        let (sent, received) = run(&spec, WINDOW);
        adds_up(&received);
        let verified: u64 = received.flows.iter().map(|flow| flow.verified_bytes).sum();
        match kind {
            Kind::UdpRr => assert_eq!(verified, received.received.messages * (1400 - 8)),
            _ => assert_eq!(verified, received.received.bytes, "{kind}"),
        }
        let answered: u64 = sent.flows.iter().map(|flow| flow.verified_bytes).sum();
        assert_eq!(answered > 0, kind.is_rr(), "{sent:?}");
    }
}

#[test]
fn what_comes_after_the_window_is_compared_always() {
    for kind in SHARED {
        let spec = shared(kind, "127.0.0.1", |_| ());
        let ends = start(&spec);
        std::thread::sleep(Duration::from_millis(50));
        step(&ends, Phase::Tail);
        await_progress(&ends, &spec, &samples(&ends));
        let (sent, received) = finish(ends);
        assert!(received.flows.iter().all(|flow| flow.verified_bytes > 0), "{kind}: {received:?}");
        assert_eq!(sent.flows.iter().all(|flow| flow.verified_bytes > 0), kind.is_rr(), "{kind}: {sent:?}");
    }
}

#[test]
fn damage_is_found_and_its_flow_named() {
    // The ends do not agree on how long a message is: what arrives is not what is expected.
    for kind in [Kind::TcpStream, Kind::UdpStream, Kind::TcpRr] {
        let sending = shared(kind, "127.0.0.1", |traffic| traffic.verify = true);
        let mut receiving = sending.clone();
        receiving.traffic.message -= 1;
        let mut receiver = netassay_load::Endpoint::bind(&receiving).unwrap();
        let mut transmitter = netassay_load::Endpoint::connect(&sending, receiver.addresses()).unwrap();
        receiver.attach(transmitter.addresses()).unwrap();
        receiver.start().unwrap();
        transmitter.start().unwrap();
        let words = failure(PATIENCE, || receiver.failed());
        assert!(words.starts_with("flow ") && words.contains("corrupt"), "{kind}: {words}");
    }
}

#[test]
#[ignore = "answers at times of the clock: needs a quiet machine"]
fn a_flow_that_stalls_is_named_while_the_others_go_on() {
    // One flow's answer comes byte by byte, one's answers come at once, and one's never.
    let spec = shared(Kind::TcpRr, "127.0.0.1", |traffic| (traffic.flows, traffic.threads) = (3, Some(1)));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoints = [listener.local_addr().unwrap()];
    let mut transmitter = netassay_load::Endpoint::connect(&spec, &endpoints).unwrap();
    let mut slow = listener.accept().unwrap().0;
    let mut answering = listener.accept().unwrap().0;
    let silent = listener.accept().unwrap().0;
    transmitter.start().unwrap();
    let answered = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let mut request = [0; 64];
        let mut answers = 0u64;
        while answering.read_exact(&mut request).is_ok() && answering.write_all(&request[..32]).is_ok() {
            answers += 1;
        }
        answers
    });
    let trickled = std::thread::spawn(move || {
        use std::io::Write;
        // Longer than a flow may be silent.
        let bytes = (0..32).take_while(|byte| {
            std::thread::sleep(Duration::from_millis(300));
            slow.write_all(&[*byte]).is_ok()
        });
        bytes.count()
    });
    let words = failure(Duration::from_secs(9), || transmitter.failed());
    assert!(words.starts_with("flow 2: ") && words.contains("answered nothing for 5 s"), "{words}");
    assert!(transmitter.sample().flows[1].transactions > 1000);
    drop((transmitter, silent));
    assert!(answered.join().unwrap() > 1000);
    assert!((15..32).contains(&trickled.join().unwrap()), "its answer was under way to the end");
}

#[test]
#[ignore = "the gate proves this with a_transmitter_that_dies_fails_a_tcp_receiver"]
fn a_peer_that_goes_early_ends_its_flow_by_name() {
    for kind in [Kind::TcpStream, Kind::TcpRr] {
        let (transmitter, receiver) = start(&shared(kind, "127.0.0.1", |_| ()));
        std::thread::sleep(Duration::from_millis(30));
        drop(transmitter);
        let words = failure(PATIENCE, || receiver.failed());
        assert!(words.starts_with("flow "), "{kind}: {words}");
    }
}

#[test]
#[ignore = "the gate proves this with an_idle_receiver_stops"]
fn threads_that_wait_for_nothing_end_in_time() {
    for kind in SHARED {
        let (transmitter, mut receiver) = connect(&shared(kind, "127.0.0.1", |_| ()));
        receiver.start().unwrap();
        transmitter.set_phase(Phase::Tail);
        receiver.set_phase(Phase::Tail);
        let began = std::time::Instant::now();
        // The transmitter was never started: nothing was sent.
        transmitter.finish().unwrap();
        let received = receiver.finish().unwrap();
        assert_eq!(received.received.bytes, 0);
        assert!(began.elapsed() < Duration::from_secs(3), "{kind}: {:?}", began.elapsed());
    }
}

#[test]
#[ignore = "counts what is given up in a time: needs a quiet machine"]
fn late_answers_are_not_taken_for_others() {
    let spec = shared(Kind::UdpRr, "127.0.0.1", |_| ());
    let (mut transmitter, mut receiver) = connect(&spec);
    transmitter.start().unwrap();
    let lost = || (transmitter.sample().sent.timeouts >= 2 * u64::from(FLOWS)).then_some(());
    within(Duration::from_secs(3), lost).expect("requests are given up while nobody answers");
    receiver.start().unwrap();
    std::thread::sleep(Duration::from_millis(150));
    let ends = (transmitter, receiver);
    step(&ends, Phase::Tail);
    let (sent, _) = finish(ends);
    let asked = sent.sent;
    assert_eq!(asked.late, asked.timeouts, "{asked:?}");
    assert!(asked.transactions > 100, "{asked:?}");
    assert!(asked.messages - asked.transactions - asked.timeouts <= u64::from(FLOWS), "{asked:?}");
}
