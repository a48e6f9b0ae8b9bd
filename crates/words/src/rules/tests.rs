use std::time::Duration;

use super::*;
use crate::traffic::MAX_FLOWS;
use crate::{CongestionControl, Direction, Pacing, Percent, Sender};

fn refused(kind: Kind, change: impl FnOnce(&mut Traffic)) -> &'static str {
    let mut traffic = Traffic::new(kind);
    change(&mut traffic);
    traffic.validate(Family::Ipv4).map_or_else(|misfit| misfit.key, |()| "")
}

#[test]
fn plain_traffic_fits_over_both_families() {
    for kind in Kind::ALL {
        for family in [Family::Ipv4, Family::Ipv6] {
            assert_eq!(Traffic::new(kind).validate(family), Ok(()), "{kind} {family}");
        }
    }
    assert_eq!(refused(Kind::TcpRr, |t| t.message = crate::MAX_MESSAGE), "");
    assert_eq!(refused(Kind::TcpStream, |t| (t.port, t.flows) = (Some(65_535), 100)), "");
    assert_eq!(refused(Kind::TcpStream, |t| t.flows = MAX_FLOWS), "");
}

#[test]
fn numbers_that_a_peer_makes_up_are_refused_by_key() {
    use Kind::{TcpRr, TcpStream, UdpRr, UdpStream};
    for flows in [0, 10_000_000, u32::MAX] {
        assert_eq!(refused(UdpStream, |t| t.flows = flows), "flows");
    }
    for bytes in [0, 65_508, u32::MAX] {
        assert_eq!(refused(UdpStream, |t| t.message = bytes), "message");
    }
    assert_eq!(refused(TcpStream, |t| t.message = u32::MAX), "message");
    assert_eq!(refused(TcpStream, |t| t.response = 1), "response");
    assert_eq!(refused(TcpRr, |t| t.response = 0), "response");
    for bytes in [0, 1023, u32::MAX] {
        assert_eq!(refused(UdpStream, |t| t.socket_buffer = Some(bytes)), "socket_buffer");
    }
    assert_eq!(refused(UdpStream, |t| t.port = Some(0)), "port");
    assert_eq!(refused(UdpStream, |t| (t.port, t.flows) = (Some(65_535), 2)), "port");
    assert_eq!(refused(UdpRr, |t| t.in_flight = 0), "in_flight");
    assert_eq!(refused(UdpRr, |t| t.in_flight = 129), "in_flight");
    assert_eq!(refused(UdpRr, |t| t.rate = Some(0)), "rate");
    assert_eq!(refused(UdpRr, |t| t.busy_poll = Some(Duration::ZERO)), "busy_poll");
    assert_eq!(refused(UdpRr, |t| t.busy_poll = Some(Duration::from_secs(1))), "busy_poll");
    assert_eq!(refused(TcpRr, |t| t.dscp = Some(64)), "dscp");
    let name = |t: &mut Traffic| t.congestion_control = CongestionControl::Named("b/r".into());
    assert_eq!(refused(TcpRr, name), "congestion_control");
    assert_eq!(refused(TcpRr, |t| t.threads = Some(1025)), "threads");
    assert_eq!(refused(TcpStream, |t| (t.message, t.flows) = (16 << 20, 65)), "flows");
}

#[test]
fn what_each_fits_alone_is_refused_together() {
    let bare = Traffic { checksum: false, ..Traffic::new(Kind::UdpStream) };
    assert_eq!(bare.validate(Family::Ipv4), Ok(()));
    assert_eq!(bare.validate(Family::Ipv6).unwrap_err().key, "checksum");
    let cut = Traffic { sender: Sender::Gso, ..bare };
    assert_eq!(cut.validate(Family::Ipv4).unwrap_err().key, "sender");
    let bound = |t: &mut Traffic| t.loss = Percent::parse("1%").ok();
    assert_eq!(refused(Kind::UdpStream, bound), "loss");
    assert_eq!(refused(Kind::UdpStream, |t| (bound(t), t.find_rate = true).0), "");
    assert_eq!(refused(Kind::UdpRr, |t| t.find_rate = true), "find_rate");
    assert_eq!(refused(Kind::TcpStream, |t| (t.verify, t.reader) = (true, Reader::Trunc)), "verify");
}

#[test]
fn what_needs_a_thread_for_each_flow_is_refused_by_key() {
    let of = |kind, change: &dyn Fn(&mut Traffic)| {
        let mut traffic = Traffic { flows: 8, threads: Some(2), ..Traffic::new(kind) };
        change(&mut traffic);
        traffic.validate(Family::Ipv4).map_or_else(|misfit| misfit.key, |()| "")
    };
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::TcpCrr) {
        assert_eq!(of(kind, &|_| ()), "", "{kind}");
    }
    let pace = Pacing::parse("1Mbit").ok();
    assert_eq!(of(Kind::TcpStream, &|t| (t.pacing, t.direction) = (pace, Direction::Both)), "");
    assert_eq!(of(Kind::UdpRr, &|t| (t.in_flight, t.threads) = (4, Some(8))), "");
    assert_eq!(of(Kind::UdpStream, &|t| t.sender = Sender::Gso), "threads");
    assert_eq!(of(Kind::TcpStream, &|t| t.reader = Reader::Trunc), "threads");
    assert_eq!(of(Kind::TcpRr, &|t| t.in_flight = 2), "threads");
    assert_eq!(of(Kind::UdpRr, &|t| t.rate = Some(5)), "threads");
    assert_eq!(of(Kind::UdpStream, &|t| t.pacing = pace), "threads");
    assert_eq!(of(Kind::UdpRr, &|t| t.busy_poll = Some(Duration::from_micros(5))), "threads");
    assert_eq!(of(Kind::UdpRr, &|t| t.connected = false), "threads");
    assert_eq!(of(Kind::TcpCrr, &|_| ()), "threads");
    assert_eq!(of(Kind::UdpStream, &|t| t.find_rate = true), "threads");
    // The way out is not more threads than there can be.
    assert_eq!(of(Kind::TcpCrr, &|t| (t.flows, t.threads) = (1025, None)), "flows");
    assert_eq!(of(Kind::TcpRr, &|t| (t.flows, t.threads) = (1025, None)), "");
    assert_eq!(of(Kind::UdpRr, &|t| t.flows = 64_513), "flows");
}

#[test]
fn exact_mode_has_one_flow_that_does_the_same_each_time() {
    let plain = Traffic::new(Kind::UdpStream);
    assert_eq!(plain.validate_exact(), Ok(()));
    for (traffic, key) in [
        (Traffic::new(Kind::TcpCrr), "kind"),
        (Traffic { flows: 2, ..plain.clone() }, "flows"),
        (Traffic { sender: Sender::Zerocopy, ..plain.clone() }, "sender"),
        (Traffic { direction: Direction::Both, ..Traffic::new(Kind::TcpStream) }, "direction"),
        (Traffic { in_flight: 2, ..Traffic::new(Kind::UdpRr) }, "in_flight"),
        (Traffic { rate: Some(7), ..Traffic::new(Kind::UdpRr) }, "rate"),
        (Traffic { pacing: Pacing::parse("1kbit").ok(), ..plain.clone() }, "pacing"),
        (Traffic { busy_poll: Some(Duration::from_micros(50)), ..plain.clone() }, "busy_poll"),
        (Traffic { connected: false, ..Traffic::new(Kind::UdpRr) }, "connected"),
        (Traffic { verify: true, ..plain.clone() }, "verify"),
    ] {
        assert_eq!(traffic.validate_exact().unwrap_err().key, key);
    }
    for traffic in [
        Traffic { sender: Sender::Gso, reader: Reader::Gro, ..plain.clone() },
        Traffic { connected: false, dscp: Some(46), ..plain.clone() },
        Traffic { nodelay: Some(true), ..Traffic::new(Kind::TcpStream) },
    ] {
        assert_eq!(traffic.validate_exact(), Ok(()), "{traffic:?}");
    }
}
