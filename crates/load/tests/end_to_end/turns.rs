//! Senders that change while their flow goes on.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::modes::{check, senders};
use crate::support::{backlog_drops, finish, spec, start, step, traffic};
use netassay_load::{Endpoint, Kind, Phase, Sender, Spec, Traffic};

const TURN: Duration = Duration::from_millis(10);

/// One state for each sender of a kind.
fn states(kind: Kind, message: u32) -> Vec<Traffic> {
    let all = senders(kind.is_udp());
    all.map(|sender| Traffic { sender, message, verify: true, flows: 2, ..traffic(kind) }).collect()
}

/// The datagrams that each call of a sender hands over, if that is one number.
fn datagrams_per_call(sender: Sender) -> Option<u64> {
    match sender {
        Sender::Send => Some(1),
        Sender::Sendmmsg => Some(64),
        // Of 1400 bytes in a buffer of 65507.
        Sender::Gso => Some(46),
        Sender::GsoSendmmsg => Some(4 * 46),
        _ => None,
    }
}

/// Every byte and every number is checked as those of one sender are, and each turn is its
/// sender's.
#[test]
fn all_senders_take_turns_in_a_flow_and_all_arrives_intact() {
    for (kind, message) in [(Kind::UdpStream, 1400), (Kind::TcpStream, 100_001), (Kind::TcpStream, 7)] {
        for local in ["127.0.0.1", "::1"] {
            let all = states(kind, message);
            let spec = Spec { traffic: all[0].clone(), ..spec(kind, local) };
            let elsewhere = backlog_drops();
            let ends = start(&spec);
            let [sends, receives] = [&ends.0, &ends.1].map(|end| end.take_turns(all.clone()).unwrap());
            step(&ends, Phase::Window);
            for state in (0..all.len()).chain((0..all.len()).rev()).chain(0..all.len()) {
                ends.0.switch(&sends, state).unwrap();
                ends.1.switch(&receives, state).unwrap();
                let (before, arrived) = (ends.0.sample(), ends.1.sample().received.bytes);
                let sender = all[state].sender;
                let deadline = Instant::now() + Duration::from_secs(5);
                while ends.1.sample().received.bytes == arrived {
                    assert!(Instant::now() < deadline, "{sender} to {local}: nothing arrives");
                    std::thread::sleep(TURN);
                }
                assert_eq!(ends.0.check(&sends, state), Ok(()), "{sender}");
                let passed = ends.0.sample().since(&before).sent;
                if let Some(each) = datagrams_per_call(sender).filter(|_| kind.is_udp()) {
                    // A thread is caught between its counts.
                    let most = 2 * each;
                    let apart = passed.messages.abs_diff(passed.calls * each);
                    assert!(apart <= most, "{sender}: {passed:?}");
                }
            }
            step(&ends, Phase::Tail);
            check(&spec.traffic, &finish(ends), backlog_drops() - elsewhere);
        }
    }
}

/// A sender that is stuck in a call is no state of a turn, and the flow can still be ended.
#[test]
fn a_sender_that_does_not_leave_is_an_error_in_bounded_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let all = states(Kind::TcpStream, 1 << 20);
    let mut end = {
        let spec = Spec { traffic: all[0].clone(), ..spec(Kind::TcpStream, "127.0.0.1") };
        Endpoint::connect(&spec, &[listener.local_addr().unwrap()]).unwrap()
    };
    let _never_read = [(); 2].map(|()| listener.accept().unwrap());
    let switches = end.take_turns(all).unwrap();
    end.start().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    let error = end.switch(&switches, 1).unwrap_err().to_string();
    assert!(error.contains("did not leave its sender"), "{error}");
    drop(end);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

/// One thread cannot serve the flows of a sender that waits in its calls.
#[test]
fn senders_with_other_threads_do_not_share_a_flow() {
    let plain = Traffic { flows: 100, ..traffic(Kind::UdpStream) };
    let ends =
        crate::support::connect(&Spec { traffic: plain.clone(), ..spec(Kind::UdpStream, "127.0.0.1") });
    let other = Traffic { sender: Sender::Zerocopy, ..plain.clone() };
    let refused = ends.0.take_turns(vec![plain, other]).unwrap_err().to_string();
    assert!(refused.contains("needs a thread for each flow"), "{refused}");
}
