//! What limits a run is found in its own counters: each limit is brought about on real traffic, and
//! each must be named. What slows one thing down is far slower than a busy machine is; where that
//! cannot be, root's agents come before whatever else the machine does.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "../common/mod.rs"]
mod common;
mod wire;

use common::{is_root, skip};
use load::{Kind, Reader, Sender, Traffic};
use record::Label;
use study::Scenario;
use wire::{Hogs, Nap, Wire, hurry};

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_limit_of_a_receiver_that_sleeps_is_its_socket() {
    let mut wire = Wire::new(Scenario::Veth);
    let found = {
        let _nap = Nap::of(wire.receiver().pid());
        wire.run(Traffic::new(Kind::UdpStream))
    };
    found.expect(Label::ReceiverSocket, "receiver's socket dropped");
    found.expect_no_loss_unaccounted_for();
}

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_losses_add_up_for_senders_and_readers_of_many_datagrams() {
    let mut wire = Wire::new(Scenario::Veth);
    let _nap = Nap::of(wire.receiver().pid());
    for (sender, reader) in [
        (Sender::Sendmmsg, Reader::Recv),
        (Sender::Gso, Reader::Recv),
        (Sender::Gso, Reader::Gro),
        (Sender::Send, Reader::Gro),
    ] {
        let found = wire.run(Traffic { sender, reader, ..Traffic::new(Kind::UdpStream) });
        found.expect(Label::ReceiverSocket, "receiver's socket dropped");
        found.expect_no_loss_unaccounted_for();
    }
}

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_limit_of_a_queue_of_one_packet_is_the_device() {
    const NAME: &str = "traffic_limit_of_a_queue_of_one_packet_is_the_device";
    let mut wire = Wire::new(Scenario::Veth);
    // A rate far beyond what is sent, but room for one packet: of those that a send of many
    // segments becomes, the first finds it empty.
    if let Err(reason) = wire.shape("tbf rate 20gbit burst 3000 limit 1600") {
        return skip(NAME, &reason);
    }
    let found = wire.run(Traffic { sender: Sender::Gso, message: 1400, ..Traffic::new(Kind::UdpStream) });
    found.expect(
        Label::Device,
        "the queue before the transmitter's wire (tbf at the root of transmit0) dropped",
    );
    found.expect_no_loss_unaccounted_for();
}

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_limit_of_a_token_bucket_is_the_link() {
    const NAME: &str = "traffic_limit_of_a_token_bucket_is_the_link";
    let mut wire = Wire::new(Scenario::Veth);
    if let Err(reason) = wire.shape("tbf rate 10mbit burst 20000 limit 60000") {
        return skip(NAME, &reason);
    }
    for kind in [Kind::TcpStream, Kind::UdpStream] {
        let found = wire.run(Traffic::new(kind));
        found.expect(Label::Link, "of 10.0 Mbit/s (tbf at the root of transmit0)");
    }
}

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_limit_of_hogs_beside_the_receiver_is_contention() {
    let mut wire = Wire::that_others_hold_up(Scenario::Veth);
    // Whatever else the machine does, the receiver shall have less of its CPU than the transmitter.
    hurry(wire.transmitter());
    let cpus = wire.receiver().cpus.clone();
    let found = {
        // Who is not root cannot hurry, and others may keep the transmitter's CPU busy too.
        let _hogs = Hogs::on(&cpus, if is_root() { 8 } else { 32 });
        wire.run(Traffic { verify: true, ..Traffic::new(Kind::TcpStream) })
    };
    found.expect(Label::Contended, "receiver was ready but without a CPU");
}

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_limit_of_a_pace_that_is_kept_is_pacing() {
    let mut wire = Wire::new(Scenario::Veth);
    for kind in [Kind::TcpStream, Kind::UdpStream] {
        let found = wire.run(Traffic { pacing: load::Pacing::of_bits(5_000_000), ..Traffic::new(kind) });
        found.expect(Label::Pacing, "of the requested 5.0 Mbit/s");
    }
    let found = wire.run(Traffic { rate: Some(100), ..Traffic::new(Kind::TcpRr) });
    found.expect(Label::Pacing, "of the requested 100 requests per second");
}

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_limit_of_a_small_window_that_stays_closed_is_the_path() {
    let mut wire = Wire::new(Scenario::Veth);
    let found = {
        let _nap = Nap::of(wire.receiver().pid());
        wire.run(Traffic { socket_buffer: Some(8192), ..Traffic::new(Kind::TcpStream) })
    };
    found.expect(Label::Path, "TCP: ");
}

#[test]
#[ignore = "a busy machine is a limit itself: `runner` proves limits on recorded accounts"]
fn traffic_limit_of_packets_that_nobody_receives_is_their_sender() {
    let mut wire = Wire::new(Scenario::Discard);
    let found = wire.run(Traffic::new(Kind::Pps));
    found.expect(Label::TransmitterCpu, "transmitter's sending thread");
}
