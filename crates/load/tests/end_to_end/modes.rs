//! Every way of sending and of receiving moves real traffic, every byte and every number of which
//! is checked.

use netassay_load::LoadNote;
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::support::{
    PATIENCE, backlog_drops, connect, failure, finish, run, spec, start, step, traffic, within,
};
use netassay_load::{Direction, EndOutcome, Endpoint, Kind, Phase, Reader, Sender, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(50);
const ADDRESSES: [&str; 2] = ["127.0.0.1", "::1"];

/// A verified stream over an address of this host; gives both accounts after the checks that hold
/// for all of them.
fn stream(traffic: Traffic, local: &str) -> (EndOutcome, EndOutcome) {
    let spec = Spec { traffic: Traffic { verify: true, ..traffic }, ..spec(Kind::UdpStream, local) };
    let before = backlog_drops();
    let ends = run(&spec, WINDOW);
    check(&spec.traffic, &ends, backlog_drops() - before);
    ends
}

/// Checks the accounts of a verified stream, but for what was dropped `elsewhere`.
pub(crate) fn check(traffic: &Traffic, (sent, received): &(EndOutcome, EndOutcome), elsewhere: u64) {
    let what = format!("{} to {}: {sent:?} {received:?}", traffic.sender, traffic.reader);
    let message = u64::from(traffic.message);
    assert!(sent.sent.messages > 0 && received.received.messages > 0, "{what}");
    for flow in &received.flows {
        assert_eq!(flow.verified_bytes, flow.counts.bytes, "{what}");
    }
    if traffic.kind == Kind::TcpStream {
        assert_eq!(sent.sent.bytes, received.received.bytes, "{what}");
        return;
    }
    assert_eq!(sent.sent.bytes, sent.sent.messages * message, "{what}");
    assert_eq!(received.received.bytes, received.received.messages * message, "{what}");
    let accounted = received.received.messages + received.socket_drops();
    assert!(accounted <= sent.sent.messages, "{what}");
    // A buffer of datagrams that finds no room in the socket is one drop to the kernel.
    if traffic.reader == Reader::Gro {
        let is_noted = received.notes.contains(&LoadNote::GroCountsBuffers);
        assert!(!is_noted || received.socket_drops() > 0, "{what}");
    } else {
        let lost = sent.sent.messages - accounted;
        // The backlog drops a buffer of datagrams as one packet (`UDP_MAX_SEGMENTS`).
        let in_packet = if traffic.sender.segments() { 64 } else { 1 };
        assert!(
            lost <= elsewhere * in_packet,
            "{lost} of {accounted} lost, {elsewhere} packets elsewhere: {what}"
        );
    }
}

/// The senders, or readers, of a protocol.
pub(crate) fn senders(udp: bool) -> impl Iterator<Item = Sender> {
    Sender::ALL.into_iter().filter(move |sender| sender.sends(stream_of(udp)))
}

pub(crate) fn readers(udp: bool) -> impl Iterator<Item = Reader> {
    Reader::ALL.into_iter().filter(move |reader| reader.takes(stream_of(udp)))
}

/// The addresses that messages of a size go over: those of both families, or in the gate of one,
/// by turns.
fn addresses(all: bool, number: usize) -> impl Iterator<Item = &'static str> {
    let chosen = move |place: &usize| all || *place == number % 2;
    (0..ADDRESSES.len()).filter(chosen).map(|place| ADDRESSES[place])
}

#[test]
fn every_udp_sender_arrives_intact() {
    udp_senders(false);
}

#[test]
#[ignore = "each size over both families: the gate takes families by turns"]
fn every_udp_sender_arrives_intact_over_both_families() {
    udp_senders(true);
}

fn udp_senders(all: bool) {
    for (place, sender) in senders(true).enumerate() {
        let sizes = [(1400, true), (5, true), (40_000, true), (18, false)];
        for (number, (message, connected)) in sizes.into_iter().enumerate() {
            for local in addresses(all, place + number) {
                let plain = traffic(Kind::UdpStream);
                stream(Traffic { sender, message, connected, flows: 2, ..plain }, local);
            }
        }
    }
}

#[test]
fn every_udp_reader_takes_all_that_there_is() {
    udp_readers(false);
}

#[test]
#[ignore = "each size over both families: the gate takes families by turns"]
fn every_udp_reader_takes_all_that_there_is_over_both_families() {
    udp_readers(true);
}

fn udp_readers(all: bool) {
    for (place, reader) in readers(true).enumerate() {
        let ways = [(1400, Sender::Send), (1400, Sender::Gso), (65_507, Sender::Send)];
        for (number, (message, sender)) in ways.into_iter().enumerate() {
            for local in addresses(all, place + number) {
                let plain = traffic(Kind::UdpStream);
                stream(Traffic { sender, reader, message, flows: 2, ..plain }, local);
            }
        }
    }
}

#[test]
#[ignore = "the gate counts what is not verified with a_udp_stream_adds_up"]
fn without_verify_each_sender_and_each_reader_are_counted_alike() {
    for sender in senders(true) {
        for reader in readers(true) {
            let plain = traffic(Kind::UdpStream);
            let (sent, received) = run(
                &Spec { traffic: Traffic { sender, reader, ..plain }, ..spec(Kind::UdpStream, "127.0.0.1") },
                WINDOW,
            );
            let what = format!("{sender} to {reader}: {sent:?} {received:?}");
            assert!(received.received.messages > 0, "{what}");
            assert_eq!(received.received.bytes, received.received.messages * 1400, "{what}");
            assert_eq!(received.flows[0].verified_bytes, 1400, "{what}");
        }
    }
}

#[test]
fn every_tcp_sender_arrives_intact() {
    tcp_senders(false);
}

#[test]
#[ignore = "each size over both families: the gate takes families by turns"]
fn every_tcp_sender_arrives_intact_over_both_families() {
    tcp_senders(true);
}

fn tcp_senders(all: bool) {
    for (place, sender) in senders(false).enumerate() {
        for (number, message) in [1, 1000, 16_384, 100_001, 3 << 20].into_iter().enumerate() {
            for local in addresses(all, place + number) {
                let plain = traffic(Kind::TcpStream);
                let (sent, _) = stream(Traffic { sender, message, flows: 2, ..plain }, local);
                assert_eq!(
                    sent.sent.messages,
                    sent.flows.iter().map(|flow| flow.counts.messages).sum::<u64>()
                );
            }
        }
    }
}

#[test]
fn every_tcp_reader_takes_all_that_there_is() {
    for reader in readers(false).filter(|reader| *reader != Reader::Trunc) {
        for local in ADDRESSES {
            for message in [1000, 1 << 20] {
                stream(Traffic { reader, message, flows: 2, ..traffic(Kind::TcpStream) }, local);
            }
        }
    }
    // Nobody sees what is thrown away.
    let spec = Spec {
        traffic: Traffic { reader: Reader::Trunc, ..traffic(Kind::TcpStream) },
        ..spec(Kind::TcpStream, "::1")
    };
    let (sent, received) = run(&spec, WINDOW);
    assert!(received.received.bytes > 0);
    assert_eq!(sent.sent.bytes, received.received.bytes);
    assert_eq!(received.flows[0].verified_bytes, 0);
}

#[test]
fn loopback_copies_what_was_to_be_sent_without_copying() {
    for kind in [Kind::UdpStream, Kind::TcpStream] {
        let traffic = Traffic { sender: Sender::Zerocopy, ..traffic(kind) };
        let (sent, received) = run(&Spec { traffic, ..spec(kind, "127.0.0.1") }, WINDOW);
        let zerocopy = sent.zerocopy.unwrap();
        assert!(zerocopy.completed > 0, "{kind}: {sent:?}");
        assert_eq!(zerocopy.completed, zerocopy.copied, "{kind}: {sent:?}");
        if kind == Kind::UdpStream {
            assert_eq!(zerocopy.completed, sent.sent.messages, "{sent:?}");
        }
        assert_eq!(received.zerocopy, None);
        let (sent, _) = run(&spec(kind, "::1"), WINDOW);
        assert_eq!(sent.zerocopy, None);
    }
}

#[test]
fn every_way_flows_both_ways() {
    for direction in [Direction::Reverse, Direction::Both] {
        for kind in [Kind::UdpStream, Kind::TcpStream] {
            let readers: Vec<Reader> = readers(kind.is_udp()).filter(|one| *one != Reader::Trunc).collect();
            for (sender, reader) in senders(kind.is_udp()).zip(readers.iter().cycle()) {
                both_ways(Traffic { sender, reader: *reader, direction, verify: true, ..traffic(kind) });
            }
        }
    }
}

fn both_ways(traffic: Traffic) {
    let message = u64::from(traffic.message);
    let spec = Spec { traffic, ..spec(Kind::UdpStream, "127.0.0.1") };
    let ends = start(&spec);
    std::thread::sleep(WINDOW);
    let is_both = spec.traffic.direction == Direction::Both;
    let arrived = |end: &Endpoint| end.sample().received.bytes >= message;
    let moved = || (arrived(&ends.0) && (!is_both || arrived(&ends.1))).then_some(());
    within(PATIENCE, moved).expect("messages arrive");
    step(&ends, Phase::Tail);
    ends.0.quiet();
    ends.1.quiet();
    let (near, far) = finish(ends);
    let Traffic { sender, reader, direction, .. } = spec.traffic;
    let what = format!("{sender} {reader} {direction}: {near:?} {far:?}");
    assert!(far.sent.bytes > 0 && near.received.bytes >= message, "{what}");
    assert_eq!(direction == Direction::Both, far.received.bytes >= message, "{what}");
    if spec.traffic.kind == Kind::TcpStream {
        assert_eq!((near.sent.bytes, far.sent.bytes), (far.received.bytes, near.received.bytes), "{what}");
    }
}

#[test]
#[ignore = "the gate proves this with a_receiver_that_dies_fails_the_transmitter"]
fn a_receiver_that_dies_fails_every_sender() {
    for kind in [Kind::UdpStream, Kind::TcpStream] {
        for sender in senders(kind.is_udp()) {
            let (transmitter, receiver) =
                start(&Spec { traffic: Traffic { sender, ..traffic(kind) }, ..spec(kind, "127.0.0.1") });
            std::thread::sleep(Duration::from_millis(20));
            drop(receiver);
            let words = failure(PATIENCE, || transmitter.failed());
            assert!(words.starts_with("flow 0: ") && words.contains("127.0.0.1"), "{kind} {sender}: {words}");
            assert!(words.contains("ended") || words.contains("closed"), "{kind} {sender}: {words}");
            let began = Instant::now();
            assert_eq!(transmitter.finish().unwrap_err().to_string(), words);
            assert!(began.elapsed() < PATIENCE, "{kind} {sender} took {:?}", began.elapsed());
        }
    }
}

/// Each waits for most of its time.
#[test]
fn a_stalled_receiver_does_not_hold_up_any_sender() {
    let stalled = |sender: Sender| {
        let kind = Kind::TcpStream;
        let (mut transmitter, receiver) =
            connect(&Spec { traffic: Traffic { sender, ..traffic(kind) }, ..spec(kind, "::1") });
        transmitter.start().unwrap();
        let sends = || (transmitter.sample().sent.bytes > 0).then_some(());
        within(PATIENCE, sends).expect("buffers are filled");
        std::thread::sleep(Duration::from_millis(100));
        transmitter.set_phase(Phase::Tail);
        let began = Instant::now();
        let sent = transmitter.finish().unwrap_or_else(|error| panic!("{sender}: {error}"));
        assert!(began.elapsed() < PATIENCE, "{sender} took {:?}", began.elapsed());
        assert!(sent.sent.bytes > 0, "{sender}");
        drop(receiver);
    };
    std::thread::scope(|scope| {
        senders(false).for_each(|sender| drop(scope.spawn(move || stalled(sender))));
    });
}

#[test]
#[ignore = "the gate proves this with an_idle_receiver_stops"]
fn an_idle_receiver_of_any_kind_stops() {
    let idle = |kind: Kind, reader: Reader| {
        let (transmitter, mut receiver) =
            connect(&Spec { traffic: Traffic { reader, ..traffic(kind) }, ..spec(kind, "127.0.0.1") });
        receiver.start().unwrap();
        receiver.set_phase(Phase::Tail);
        let began = Instant::now();
        receiver.finish().unwrap_or_else(|error| panic!("{kind} {reader}: {error}"));
        assert!(began.elapsed() < PATIENCE, "{kind} {reader} took {:?}", began.elapsed());
        drop(transmitter);
    };
    std::thread::scope(|scope| {
        for kind in [Kind::UdpStream, Kind::TcpStream] {
            readers(kind.is_udp()).for_each(|reader| drop(scope.spawn(move || idle(kind, reader))));
        }
    });
}

#[test]
fn every_reader_finds_a_changed_byte() {
    for local in ADDRESSES {
        for reader in readers(true) {
            let plain = Traffic { reader, verify: true, ..traffic(Kind::UdpStream) };
            let mut receiver =
                Endpoint::bind(&Spec { traffic: plain, ..spec(Kind::UdpStream, local) }).unwrap();
            let peer = UdpSocket::bind((local, 0)).unwrap();
            peer.connect(receiver.addresses()[0]).unwrap();
            // The empty datagram that a transmitter sends first.
            peer.send(&[]).unwrap();
            receiver.attach(&[peer.local_addr().unwrap()]).unwrap();
            receiver.start().unwrap();
            // No byte of the pattern is 0.
            peer.send(&[0; 1400]).unwrap();
            let words = failure(PATIENCE, || receiver.failed());
            assert!(words.contains("corrupt at byte 0 of the last 1400"), "{reader}: {words}");
        }
        for reader in readers(false).filter(|reader| *reader != Reader::Trunc) {
            let plain = Traffic { reader, verify: true, ..traffic(Kind::TcpStream) };
            let mut receiver =
                Endpoint::bind(&Spec { traffic: plain, ..spec(Kind::TcpStream, local) }).unwrap();
            let mut peer = TcpStream::connect(receiver.addresses()[0]).unwrap();
            receiver.attach(&[peer.local_addr().unwrap()]).unwrap();
            receiver.start().unwrap();
            // Twice what a receiver that sleeps is woken for: what it had before it fell asleep is
            // no part of that.
            peer.write_all(&[0; 256 << 10]).unwrap();
            let words = failure(PATIENCE, || receiver.failed());
            assert!(words.contains("corrupt at byte 0 of the last"), "{reader}: {words}");
        }
    }
}

fn stream_of(udp: bool) -> Kind {
    if udp { Kind::UdpStream } else { Kind::TcpStream }
}
