//! Senders and readers that change while their flow goes on.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::modes::{check, readers, senders};
use crate::support::{PATIENCE, backlog_drops, connect, finish, spec, start, step, traffic, within};
use netassay_load::{Direction, Endpoint, Kind, Phase, Reader, Sample, Sender, Spec, Traffic};

const TURN: Duration = Duration::from_millis(10);
const ADDRESSES: [&str; 2] = ["127.0.0.1", "::1"];

/// Two flows of which every byte is checked.
fn verified(kind: Kind, message: u32) -> Traffic {
    Traffic { message, verify: true, flows: 2, ..traffic(kind) }
}

/// One state for each sender.
fn with_senders(plain: &Traffic) -> Vec<Traffic> {
    senders(plain.kind.is_udp()).map(|sender| Traffic { sender, ..plain.clone() }).collect()
}

/// One state for each reader that sees the bytes.
fn with_readers(plain: &Traffic) -> Vec<Traffic> {
    let all = readers(plain.kind.is_udp()).filter(|reader| *reader != Reader::Trunc);
    all.map(|reader| Traffic { reader, ..plain.clone() }).collect()
}

/// Lets all these states take turns in one flow, three times; in each turn something arrives
/// wherever something is received. Returns the transmitter's counts in each turn. Every byte and
/// every number of the whole flow is checked as those of one sender and one reader are.
fn take_turns(states: &[Traffic], local: &str) -> Vec<(usize, Sample)> {
    let spec = Spec { traffic: states[0].clone(), ..spec(Kind::UdpStream, local) };
    let elsewhere = backlog_drops();
    let ends = start(&spec);
    let switches = [&ends.0, &ends.1].map(|end| end.take_turns(states.to_vec()).unwrap());
    let sample = || [ends.0.sample(), ends.1.sample()];
    let both_ways = spec.traffic.direction == Direction::Both;
    let mut made = Vec::new();
    step(&ends, Phase::Window);
    for state in (0..states.len()).chain((0..states.len()).rev()).chain(0..states.len()) {
        let what = format!("{} to {} at {local}", states[state].sender, states[state].reader);
        for (end, switches) in [&ends.0, &ends.1].into_iter().zip(&switches) {
            end.switch(switches, state).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        let (before, deadline) = (sample(), Instant::now() + PATIENCE);
        let sent = loop {
            std::thread::sleep(TURN);
            let [near, far] = sample();
            let arrives = |now: &Sample, end: usize| now.since(&before[end]).received.bytes > 0;
            if arrives(&far, 1) && (!both_ways || arrives(&near, 0)) {
                break near.since(&before[0]);
            }
            let failed = [ends.0.failed(), ends.1.failed()];
            assert_eq!(failed, [None; 2], "{what}");
            assert!(Instant::now() < deadline, "{what}: nothing arrives");
        };
        for (end, switches) in [&ends.0, &ends.1].into_iter().zip(&switches) {
            assert_eq!(end.check(switches, state), Ok(()), "{what}");
        }
        made.push((state, sent));
    }
    step(&ends, Phase::Tail);
    if both_ways {
        ends.0.quiet();
        ends.1.quiet();
        let (near, far) = finish(ends);
        let arrived = (far.received.bytes, near.received.bytes);
        assert_eq!((near.sent.bytes, far.sent.bytes), arrived, "{near:?} {far:?}");
    } else {
        check(&spec.traffic, &finish(ends), backlog_drops() - elsewhere);
    }
    made
}

/// The datagrams that each call of a sender hands over, if that is one number.
fn datagrams_per_call(sender: Sender) -> Option<u64> {
    match sender {
        Sender::Send => Some(1),
        Sender::Sendmmsg => Some(64),
        // Of 1400 bytes in a buffer of 65507.
        Sender::Gso => Some(46),
        _ => None,
    }
}

#[test]
fn all_senders_take_turns_and_all_arrives_intact() {
    for local in ADDRESSES {
        for message in [7, 100_001] {
            take_turns(&with_senders(&verified(Kind::TcpStream, message)), local);
        }
        let states = with_senders(&verified(Kind::UdpStream, 1400));
        for (state, Sample { sent, .. }) in take_turns(&states, local) {
            let Some(each) = datagrams_per_call(states[state].sender) else { continue };
            // A thread is caught between its counts.
            let apart = sent.messages.abs_diff(sent.calls * each);
            assert!(apart <= 4 * each, "{}: {sent:?}", states[state].sender);
        }
    }
}

#[test]
fn all_readers_take_turns_and_take_all_that_there_is() {
    for local in ADDRESSES {
        for message in [1000, 1 << 20] {
            take_turns(&with_readers(&verified(Kind::TcpStream, message)), local);
        }
        // Sent one by one, and joined: over loopback they arrive so. How many drops there were is
        // known where no drop may be one of several datagrams.
        for sender in [Sender::Send, Sender::Gso] {
            let plain = Traffic { sender, ..verified(Kind::UdpStream, 1400) };
            let (joined, others): (Vec<_>, Vec<_>) =
                with_readers(&plain).into_iter().partition(|state| state.reader == Reader::Gro);
            take_turns(&others, local);
            take_turns(&[joined, others].concat(), local);
        }
    }
}

#[test]
#[ignore = "the gate proves turns one way, and both ways without turns"]
fn both_change_where_streams_flow_both_ways() {
    let plain = Traffic { direction: Direction::Both, ..verified(Kind::TcpStream, 16_384) };
    let readers = with_readers(&plain);
    let both = with_senders(&plain).into_iter().zip(readers.iter().cycle());
    let states: Vec<Traffic> = both.map(|(state, other)| Traffic { reader: other.reader, ..state }).collect();
    take_turns(&states, "::1");
}

/// A sender that is stuck in a call is no state of a turn, and the flow can still be ended.
#[test]
fn a_thread_that_does_not_leave_is_an_error_in_bounded_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let all = with_senders(&verified(Kind::TcpStream, 1 << 20));
    let spec = Spec { traffic: all[0].clone(), ..spec(Kind::TcpStream, "127.0.0.1") };
    let mut end = Endpoint::connect(&spec, &[listener.local_addr().unwrap()]).unwrap();
    let _never_read = [(); 2].map(|()| listener.accept().unwrap());
    let switches = end.take_turns(all).unwrap();
    end.start().unwrap();
    // Nobody reads: it is in a call once nothing more is sent.
    let stuck = || {
        let before = end.sample().sent.bytes;
        std::thread::sleep(Duration::from_millis(300));
        (before > 0 && end.sample().sent.bytes == before).then_some(())
    };
    within(PATIENCE, stuck).expect("the buffers are full");
    let began = Instant::now();
    let error = end.switch(&switches, 1).unwrap_err().to_string();
    assert!(error.contains("did not leave its sender or reader"), "{error}");
    drop(end);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
}

/// One thread cannot serve the flows of a sender that waits in its calls.
#[test]
fn those_with_other_threads_do_not_share_a_flow() {
    let plain = Traffic { flows: 100, ..traffic(Kind::UdpStream) };
    let ends = connect(&Spec { traffic: plain.clone(), ..spec(Kind::UdpStream, "127.0.0.1") });
    let other = Traffic { sender: Sender::Zerocopy, ..plain.clone() };
    let refused = ends.0.take_turns(vec![plain, other]).unwrap_err().to_string();
    assert!(refused.contains("needs a thread for each flow"), "{refused}");
}
