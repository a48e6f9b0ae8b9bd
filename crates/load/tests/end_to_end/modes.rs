//! Every way of sending and of taking moves real traffic, every byte and every number of which is checked.

use std::time::Duration;

use crate::support::{finish, run, spec, start, step, traffic};
use netassay_load::{Direction, Kind, Outcome, Phase, Reader, Sender, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(100);
const ADDRESSES: [&str; 2] = ["127.0.0.1", "::1"];

/// A verified stream; gives both accounts after the checks that hold for all of them.
fn stream(traffic: Traffic, local: &str) -> (Outcome, Outcome) {
    let spec = Spec { traffic: Traffic { verify: true, ..traffic }, ..spec(Kind::UdpStream, local) };
    let (sent, received) = run(&spec, WINDOW);
    let what =
        format!("{} to {} over {local}: {sent:?} {received:?}", spec.traffic.sender, spec.traffic.reader);
    let message = u64::from(spec.traffic.message);
    assert!(sent.sent.messages > 0 && received.received.messages > 0, "{what}");
    for flow in &received.flows {
        assert_eq!(flow.verified_bytes, flow.counts.bytes, "{what}");
    }
    if spec.traffic.kind == Kind::TcpStream {
        assert_eq!(sent.sent.bytes, received.received.bytes, "{what}");
        return (sent, received);
    }
    assert_eq!(sent.sent.bytes, sent.sent.messages * message, "{what}");
    assert_eq!(received.received.bytes, received.received.messages * message, "{what}");
    assert!(received.received.messages + received.socket_drops() <= sent.sent.messages, "{what}");
    for (from, to) in sent.flows.iter().zip(&received.flows) {
        assert_eq!(to.sequence.is_some(), message >= 8, "{what}");
        let Some(sequence) = to.sequence else { continue };
        assert_eq!(sequence.duplicates, 0, "{what}");
        // What was lost behind the highest number that came is not missing to the receiver.
        assert!(to.counts.messages + sequence.missing <= from.counts.messages, "{what}");
    }
    (sent, received)
}

const UDP_SENDERS: [Sender; 4] = [Sender::Send, Sender::Sendmmsg, Sender::Gso, Sender::GsoSendmmsg];
const UDP_READERS: [Reader; 2] = [Reader::Recv, Reader::Recvmmsg];

#[test]
fn every_udp_sender_arrives_intact() {
    for sender in UDP_SENDERS {
        for local in ADDRESSES {
            for (message, connected) in [(1400, true), (5, true), (40_000, true), (18, false)] {
                let plain = traffic(Kind::UdpStream);
                stream(Traffic { sender, message, connected, flows: 2, ..plain }, local);
            }
        }
    }
}

#[test]
fn every_udp_reader_takes_all_that_there_is() {
    for reader in UDP_READERS {
        for local in ADDRESSES {
            for (message, sender) in [(1400, Sender::Send), (1400, Sender::Gso), (65_507, Sender::Send)] {
                let plain = traffic(Kind::UdpStream);
                stream(Traffic { sender, reader, message, flows: 2, ..plain }, local);
            }
        }
    }
}

#[test]
fn without_verify_each_way_is_counted_alike() {
    for sender in UDP_SENDERS {
        for reader in UDP_READERS {
            let plain = traffic(Kind::UdpStream);
            let (sent, received) = run(
                &Spec { traffic: Traffic { sender, reader, ..plain }, ..spec(Kind::UdpStream, "127.0.0.1") },
                WINDOW,
            );
            let what = format!("{sender} to {reader}: {sent:?} {received:?}");
            assert!(received.received.messages > 0, "{what}");
            assert_eq!(received.received.bytes, received.received.messages * 1400, "{what}");
            assert_eq!(received.flows[0].verified_bytes, 1400, "{what}");
            assert_eq!(received.flows[0].sequence, None, "{what}");
        }
    }
}

#[test]
fn every_way_flows_both_ways() {
    for direction in [Direction::Reverse, Direction::Both] {
        for sender in UDP_SENDERS {
            let reader = Reader::Recv;
            let plain = traffic(Kind::UdpStream);
            let spec = Spec {
                traffic: Traffic { sender, reader, direction, verify: true, ..plain },
                ..spec(Kind::UdpStream, "127.0.0.1")
            };
            let ends = start(&spec);
            std::thread::sleep(WINDOW);
            step(&ends, Phase::Tail);
            ends.0.quiet();
            ends.1.quiet();
            let (near, far) = finish(ends);
            let what = format!("{sender} {direction}: {near:?} {far:?}");
            assert!(far.sent.messages > 0 && near.received.messages > 0, "{what}");
            assert_eq!(direction == Direction::Both, far.received.messages > 0, "{what}");
        }
    }
}
