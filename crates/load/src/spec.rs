//! One end of a workload.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::sys;
use crate::traffic::{Traffic, refuse};

/// One end of a workload: what both agree on, and where this end is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The same for both ends.
    pub traffic: Traffic,
    /// This end's address: the receiver listens there and nowhere else, the transmitter sends from there.
    pub local: IpAddr,
    /// The CPUs that flows are pinned to in turn; empty: not pinned.
    pub cpus: Vec<u32>,
}

impl Spec {
    /// Refuses, by the name of the field, what cannot be had.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for the first such field.
    pub fn validate(&self) -> Result<()> {
        self.check_local()?;
        self.traffic.validate(self.local.is_ipv6())?;
        if let Some(cpu) = self.cpus.iter().find(|cpu| **cpu >= sys::MAX_CPUS) {
            return refuse("cpus", cpu, format!("CPUs are numbered from 0 to {}", sys::MAX_CPUS - 1));
        }
        Ok(())
    }

    fn check_local(&self) -> Result<()> {
        let reason = match self.local {
            ip if ip.is_unspecified() => "name one address of this host: the other end connects to it",
            ip if ip.is_multicast() => "multicast is not supported: name one address of this host",
            IpAddr::V4(ip) if ip.is_broadcast() => {
                "broadcast is not supported: name one address of this host"
            }
            IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => "write it as an IPv4 address",
            IpAddr::V6(ip) if ip.is_unicast_link_local() => {
                "a link-local address means nothing without its interface: take a global or unique local one"
            }
            _ => return Ok(()),
        };
        refuse("local", self.local, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::MAX_THREADS;
    use crate::kind::Kind;
    use crate::mode::{Direction, Reader, Sender};
    use crate::traffic::{MAX_FLOWS, MAX_TCP_MESSAGE};
    use proptest::prelude::*;

    fn good() -> Spec {
        let traffic = Traffic { message: 1472, ..Traffic::new(Kind::UdpStream) };
        Spec { traffic, local: "127.0.0.1".parse().unwrap(), cpus: vec![] }
    }

    fn refused(change: impl FnOnce(&mut Spec)) -> String {
        let mut spec = good();
        change(&mut spec);
        spec.validate().unwrap_err().to_string()
    }

    #[test]
    fn a_plain_workload_is_taken() {
        good().validate().unwrap();
        for kind in Kind::ALL {
            Spec { traffic: Traffic::new(kind), ..good() }.validate().unwrap();
        }
        let rr = Traffic { message: MAX_TCP_MESSAGE, ..Traffic::new(Kind::TcpRr) };
        Spec { traffic: rr, ..good() }.validate().unwrap();
    }

    #[test]
    fn hostile_values_are_refused_by_name() {
        assert_eq!(refused(|s| s.traffic.flows = 0), "`flows` = 0: a workload needs at least one flow");
        assert_eq!(refused(|s| s.traffic.flows = 10_000_000), "`flows` = 10000000: at most 100000 flows");
        assert_eq!(
            refused(|s| s.traffic.message = 65_508),
            "`message` = 65508: a UDP datagram over IPv4 carries at most 65507 bytes"
        );
        assert_eq!(
            refused(|s| (s.traffic.message, s.local) = (65_528, "::1".parse().unwrap())),
            "`message` = 65528: a UDP datagram over IPv6 carries at most 65527 bytes"
        );
        assert!(refused(|s| s.traffic.message = 0).starts_with("`message` = 0: "));
        assert!(
            refused(|s| (s.traffic.kind, s.traffic.message) = (Kind::TcpStream, u32::MAX))
                .starts_with("`message` = 4294967295")
        );
        assert!(refused(|s| s.traffic.response = 1).contains("take tcp_rr or udp_rr"));
        assert!(refused(|s| s.traffic.kind = Kind::UdpRr).starts_with("`response` = 0: "));
        assert!(refused(|s| s.traffic.socket_buffer = Some(0)).starts_with("`socket_buffer` = 0: "));
        assert!(
            refused(|s| s.traffic.socket_buffer = Some(u32::MAX))
                .starts_with("`socket_buffer` = 4294967295: ")
        );
        assert!(refused(|s| s.traffic.port = Some(0)).starts_with("`port` = 0: "));
        assert!(
            refused(|s| (s.traffic.port, s.traffic.flows) = (Some(65_535), 2)).contains("ports up to 65536")
        );
        assert!(refused(|s| s.cpus = vec![0, u32::MAX]).starts_with("`cpus` = 4294967295: "));
        assert!(refused(|s| s.local = "0.0.0.0".parse().unwrap()).starts_with("`local` = 0.0.0.0: "));
        assert!(refused(|s| s.local = "ff02::1".parse().unwrap()).contains("multicast"));
        assert!(refused(|s| s.local = "fe80::1".parse().unwrap()).contains("link-local"));
        assert!(refused(|s| s.local = "::ffff:127.0.0.1".parse().unwrap()).contains("IPv4 address"));
        let heavy = |s: &mut Spec| {
            (s.traffic.kind, s.traffic.message, s.traffic.flows) = (Kind::TcpStream, 16 << 20, 65)
        };
        assert!(refused(heavy).contains("65 flows of such messages"));
    }

    #[test]
    fn checksum_off_needs_udp_over_ipv4() {
        let off = Traffic { udp_checksum: false, ..good().traffic };
        Spec { traffic: off, ..good() }.validate().unwrap();
        let v6 = refused(|s| (s.traffic.udp_checksum, s.local) = (false, "::1".parse().unwrap()));
        assert!(v6.contains("mandatory over IPv6") && v6.contains("RFC 8200, section 8.1"), "{v6}");
        let tcp = refused(|s| (s.traffic.udp_checksum, s.traffic.kind) = (false, Kind::TcpStream));
        assert!(tcp.contains("tcp_stream always has its checksum"), "{tcp}");
    }

    #[test]
    fn a_tcp_workload_needs_one_port_only() {
        let traffic = Traffic { port: Some(65_535), flows: 100, ..Traffic::new(Kind::TcpStream) };
        Spec { traffic, ..good() }.validate().unwrap();
    }

    #[test]
    fn what_a_kind_cannot_have_is_refused_by_name() {
        let of = |kind, change: &dyn Fn(&mut Traffic)| {
            let mut traffic = Traffic::new(kind);
            change(&mut traffic);
            traffic.validate(false).unwrap_err().to_string()
        };
        assert_eq!(
            of(Kind::TcpStream, &|t| t.sender = Sender::Gso),
            "`sender` = gso: tcp_stream has no such sender, use `send`"
        );
        assert!(of(Kind::UdpStream, &|t| t.sender = Sender::Sendfile).contains("`sender` = sendfile"));
        assert!(of(Kind::UdpRr, &|t| t.sender = Sender::Gso).contains("`sender` = gso"));
        assert!(of(Kind::UdpStream, &|t| t.reader = Reader::Trunc).contains("`reader` = trunc"));
        assert!(of(Kind::TcpRr, &|t| t.reader = Reader::IoUring).contains("`reader` = io_uring"));
        assert!(of(Kind::Pps, &|t| t.reader = Reader::Spin).contains("nobody receives"));
        assert!(of(Kind::TcpRr, &|t| t.direction = Direction::Both).contains("one way only"));
        assert!(of(Kind::TcpStream, &|t| (t.verify, t.reader) = (true, Reader::Trunc)).contains("unread"));
        assert!(of(Kind::TcpStream, &|t| t.connected = false).contains("by its nature"));
        assert!(of(Kind::TcpStream, &|t| t.in_flight = 2).contains("side by side"));
        assert!(of(Kind::TcpCrr, &|t| t.in_flight = 2).contains("side by side"));
        assert!(of(Kind::UdpRr, &|t| t.in_flight = 0).contains("1 to 1024"));
        assert!(of(Kind::UdpStream, &|t| t.rate = Some(1)).contains("`pacing` sets its pace"));
        assert!(of(Kind::UdpRr, &|t| t.rate = Some(0)).contains("requests per second"));
        assert!(of(Kind::UdpRr, &|t| t.pacing = Some(1)).contains("`rate` sets the pace"));
        assert!(of(Kind::UdpStream, &|t| t.pacing = Some(u64::MAX)).contains("bits/s"));
        assert!(of(Kind::UdpRr, &|t| t.busy_poll = Some(0)).contains("leave it out"));
        assert!(of(Kind::UdpRr, &|t| t.busy_poll = Some(u32::MAX)).contains("at most 100000"));
        assert!(of(Kind::UdpRr, &|t| t.congestion_control = Some("bbr".into())).contains("no congestion"));
        assert!(of(Kind::TcpRr, &|t| t.congestion_control = Some("b/r".into())).contains("kernel name"));
        assert!(of(Kind::TcpRr, &|t| t.dscp = Some(64)).contains("0 to 63"));
        let bare = |t: &mut Traffic| (t.sender, t.udp_checksum) = (Sender::Gso, false);
        assert!(of(Kind::UdpStream, &bare).contains("without a checksum"));
        assert!(of(Kind::UdpRr, &|t| t.nodelay = Some(true)).contains("delays nothing"));
    }

    #[test]
    fn what_takes_a_thread_for_each_flow_is_refused_by_name() {
        let of = |kind, change: &dyn Fn(&mut Traffic)| {
            let mut traffic = Traffic { flows: 8, threads: Some(2), ..Traffic::new(kind) };
            change(&mut traffic);
            traffic.validate(false).map_or_else(|error| error.to_string(), |()| String::new())
        };
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::TcpCrr) {
            assert_eq!(of(kind, &|_| ()), "", "{kind}");
            assert_eq!(
                of(kind, &|t| (t.verify, t.socket_buffer) = (kind != Kind::Pps, Some(1 << 16))),
                "",
                "{kind}"
            );
        }
        assert_eq!(of(Kind::TcpStream, &|t| (t.pacing, t.direction) = (Some(1 << 20), Direction::Both)), "");
        assert_eq!(of(Kind::UdpRr, &|t| (t.in_flight, t.threads) = (4, Some(8))), "");
        assert_eq!(
            of(Kind::UdpStream, &|t| t.sender = Sender::Gso),
            "`threads` = 2: sender `gso` needs one thread for each flow: give `threads` = 8, or leave it out"
        );
        assert!(of(Kind::TcpStream, &|t| t.reader = Reader::Trunc).contains("reader `trunc`"));
        assert!(of(Kind::TcpRr, &|t| t.reader = Reader::Spin).contains("reader `spin`"));
        assert!(of(Kind::TcpRr, &|t| t.in_flight = 2).contains("in_flight `2`"));
        assert!(of(Kind::UdpRr, &|t| t.rate = Some(5)).contains("rate `5`"));
        assert!(of(Kind::UdpStream, &|t| t.pacing = Some(5)).contains("pacing `5`"));
        assert!(of(Kind::UdpRr, &|t| t.busy_poll = Some(5)).contains("busy_poll `5`"));
        assert!(of(Kind::UdpRr, &|t| t.connected = false).contains("connected `off`"));
        assert!(of(Kind::TcpCrr, &|_| ()).contains("kind `tcp_crr`"));
        assert!(of(Kind::TcpRr, &|t| t.threads = Some(0)).contains("1 to 1024"));
        assert!(of(Kind::TcpRr, &|t| t.threads = Some(1025)).contains("1 to 1024"));
        let many = |t: &mut Traffic| (t.flows, t.threads) = (1025, None);
        // The way out is not more threads than there can be.
        for refused in [of(Kind::TcpCrr, &many), of(Kind::TcpCrr, &|t| t.flows = 1025)] {
            assert!(refused.starts_with("`flows` = 1025: kind `tcp_crr` needs one thread for each flow"));
        }
        assert_eq!(of(Kind::TcpRr, &many), "");
        assert!(of(Kind::UdpRr, &|t| t.flows = 64_513).contains("a port of its own"));
        assert_eq!(of(Kind::TcpStream, &|t| t.flows = MAX_FLOWS), "");
    }

    #[test]
    fn both_ways_take_twice_the_sockets() {
        let both = Traffic { direction: Direction::Both, flows: 3, ..Traffic::new(Kind::TcpStream) };
        assert_eq!(both.lanes(), 6);
        assert_eq!((0..6).filter(|lane| both.is_forward(*lane)).count(), 3);
        let reverse = Traffic { direction: Direction::Reverse, ..both };
        assert_eq!((reverse.lanes(), reverse.is_forward(0)), (3, false));
    }

    fn any_traffic() -> impl Strategy<Value = Traffic> {
        let size = || prop_oneof![0u32..4, 65_500u32..65_540, any::<u32>()];
        let flows = (prop_oneof![0u32..4, 1020u32..1030, any::<u32>()], any::<Option<u16>>());
        let sizes = (size(), size(), flows, proptest::option::of(size()));
        let modes = (
            prop::sample::select(&Kind::ALL[..]),
            prop::sample::select(Direction::ALL),
            prop::sample::select(Sender::ALL),
            prop::sample::select(Reader::ALL),
        );
        let name = proptest::option::of("[a-z_/]{0,20}");
        let paces = (0u32..1030, any::<Option<u32>>(), any::<Option<u64>>(), any::<Option<u32>>());
        let rest =
            (name, any::<Option<u8>>(), any::<Option<bool>>(), any::<[bool; 3]>(), any::<Option<u16>>());
        (sizes, modes, paces, rest).prop_map(
            |(
                (message, response, (flows, threads), socket_buffer),
                (kind, direction, sender, reader),
                (in_flight, rate, pacing, busy_poll),
                (congestion_control, dscp, nodelay, [connected, udp_checksum, verify], port),
            )| Traffic {
                kind,
                message,
                response,
                flows,
                threads: threads.map(u32::from),
                direction,
                sender,
                reader,
                in_flight,
                rate,
                pacing,
                busy_poll,
                congestion_control,
                dscp,
                nodelay,
                connected,
                socket_buffer,
                udp_checksum,
                port,
                verify,
            },
        )
    }

    /// Anything at all, or what differs from the plain traffic of a kind in little, so that some of it is taken.
    fn any_spec() -> impl Strategy<Value = Spec> {
        let near = (prop::sample::select(&Kind::ALL[..]), any_traffic()).prop_map(|(kind, other)| Traffic {
            message: other.message.clamp(1, 70_000),
            port: other.port,
            udp_checksum: other.udp_checksum,
            sender: other.sender,
            flows: other.flows,
            threads: other.threads,
            ..Traffic::new(kind)
        });
        let cpus = proptest::collection::vec(prop_oneof![0u32..4, any::<u32>()], 0..3);
        let traffic = prop_oneof![any_traffic(), near];
        (traffic, any::<IpAddr>(), cpus).prop_map(|(traffic, local, cpus)| Spec { traffic, local, cpus })
    }

    proptest! {
        #[test]
        fn what_is_taken_can_be_had(spec in any_spec()) {
            if spec.validate().is_err() {
                return Ok(());
            }
            prop_assert!((1..=MAX_FLOWS).contains(&spec.traffic.flows));
            prop_assert!(spec.traffic.message > 0);
            prop_assert_eq!(spec.traffic.response > 0, spec.traffic.kind.is_rr());
            if spec.traffic.kind.is_udp() {
                prop_assert!(spec.traffic.message <= 65_527 && spec.traffic.response <= 65_527);
            }
            prop_assert!(spec.traffic.udp_checksum || (spec.traffic.kind.is_udp() && spec.local.is_ipv4()));
            prop_assert!(spec.traffic.sender.suits(spec.traffic.kind.is_udp()));
            prop_assert!(spec.traffic.lanes() <= 2 * MAX_FLOWS);
            prop_assert!((1..=MAX_THREADS).contains(&spec.traffic.crew(spec.cpus.len())));
            prop_assert!(spec.traffic.crew(1) == spec.traffic.flows || spec.traffic.unshareable().is_none());
            prop_assert!(spec.cpus.iter().all(|cpu| *cpu < sys::MAX_CPUS));
        }

        #[test]
        fn a_spec_survives_the_wire(spec in any_spec()) {
            let text = serde_json::to_string(&spec).unwrap();
            prop_assert_eq!(serde_json::from_str::<Spec>(&text).unwrap(), spec);
        }

        #[test]
        fn validation_never_panics_on_what_a_peer_sends(text in ".{0,200}") {
            if let Ok(spec) = serde_json::from_str::<Spec>(&text) {
                let _ = spec.validate();
            }
        }
    }

    #[test]
    fn kinds_are_written_in_snake_case() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
    }
}
