//! One workload's side as the two ends agree on it.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::sys;

/// The most flows of one workload: each is a thread on either end.
pub const MAX_FLOWS: u32 = 1024;
/// The largest TCP message in bytes. Beyond it a write only measures how often it is interrupted.
pub const MAX_TCP_MESSAGE: u32 = 16 << 20;
/// The most memory in bytes that the messages of all flows may take on one end.
pub const MAX_MEMORY: u64 = 1 << 30;
/// The largest socket buffer in bytes that may be asked for: the kernel doubles it into a signed 32-bit number.
pub const MAX_SOCKET_BUFFER: u32 = 1 << 29;

/// What the traffic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A TCP connection kept full.
    TcpStream,
    /// UDP datagrams as fast as they can be sent.
    UdpStream,
    /// A request and its answer over TCP, one in flight per flow.
    TcpRr,
    /// A request and its answer over UDP, one in flight per flow.
    UdpRr,
}

impl Kind {
    /// Whether this traffic runs over UDP.
    #[must_use]
    pub fn is_udp(self) -> bool {
        matches!(self, Self::UdpStream | Self::UdpRr)
    }

    /// Whether requests are answered.
    #[must_use]
    pub fn is_rr(self) -> bool {
        matches!(self, Self::TcpRr | Self::UdpRr)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TcpStream => "tcp_stream",
            Self::UdpStream => "udp_stream",
            Self::TcpRr => "tcp_rr",
            Self::UdpRr => "udp_rr",
        })
    }
}

/// One end of a workload. Both ends take the same values but for `local` and `cpus`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What the traffic is.
    pub kind: Kind,
    /// This end's address: the receiver listens there and nowhere else, the transmitter sends from there.
    pub local: IpAddr,
    /// Bytes per write, datagram or request.
    pub message: u32,
    /// Bytes per answer; 0 for a stream.
    pub response: u32,
    /// Connections or sockets, each with a thread of its own on either end.
    pub flows: u32,
    /// `SO_SNDBUF` and `SO_RCVBUF` in bytes; `None` leaves the kernel's. The kernel doubles what it is asked for and
    /// may cap it: [`crate::Outcome::buffers`] tells what was in force.
    pub socket_buffer: Option<u32>,
    /// Whether UDP datagrams carry a checksum. Off only over IPv4.
    pub udp_checksum: bool,
    /// The receiver's port; UDP flows take this one and those that follow. `None`: the kernel chooses.
    pub port: Option<u16>,
    /// The CPUs that flows are pinned to in turn; empty: not pinned.
    pub cpus: Vec<u32>,
}

impl Spec {
    /// Refuses, by the name of the field, what cannot be had.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the first such field.
    pub fn validate(&self) -> Result<()> {
        self.check_local()?;
        self.check_sizes()?;
        if self.flows == 0 {
            return refuse("flows", 0, "a workload needs at least one flow");
        }
        if self.flows > MAX_FLOWS {
            return refuse("flows", self.flows, format!("at most {MAX_FLOWS} flows, one thread each"));
        }
        let memory = u64::from(self.flows) * (u64::from(self.message) + u64::from(self.response));
        if memory > MAX_MEMORY {
            let reason = format!(
                "{} flows of such messages take {memory} bytes, more than {MAX_MEMORY}: take fewer flows",
                self.flows
            );
            return refuse("message", self.message, reason);
        }
        match self.socket_buffer {
            Some(0) => return refuse("socket_buffer", 0, "leave it out for the kernel's own size"),
            Some(bytes) if bytes > MAX_SOCKET_BUFFER => {
                return refuse("socket_buffer", bytes, format!("at most {MAX_SOCKET_BUFFER} bytes"));
            }
            _ => {}
        }
        self.check_checksum()?;
        self.check_port()?;
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

    fn check_sizes(&self) -> Result<()> {
        let over = if self.kind.is_udp() {
            let version = if self.local.is_ipv4() { "IPv4" } else { "IPv6" };
            format!("a UDP datagram over {version}")
        } else {
            "one TCP message".to_owned()
        };
        let most = if self.kind.is_udp() { max_datagram(self.local) } else { MAX_TCP_MESSAGE };
        if self.message == 0 {
            return refuse("message", 0, "a message has at least one byte");
        }
        if self.message > most {
            return refuse("message", self.message, format!("{over} carries at most {most} bytes"));
        }
        match (self.kind.is_rr(), self.response) {
            (true, 0) => refuse("response", 0, "an answer has at least one byte"),
            (true, bytes) if bytes > most => {
                refuse("response", bytes, format!("{over} carries at most {most} bytes"))
            }
            (false, bytes) if bytes > 0 => {
                let reason =
                    format!("a {} has no answers: leave it out, or take tcp_rr or udp_rr", self.kind);
                refuse("response", bytes, reason)
            }
            _ => Ok(()),
        }
    }

    fn check_checksum(&self) -> Result<()> {
        if self.udp_checksum {
            return Ok(());
        }
        if !self.kind.is_udp() {
            return refuse("udp_checksum", false, format!("a {} always has its checksum", self.kind));
        }
        if self.local.is_ipv6() {
            let reason = "the UDP checksum is mandatory over IPv6, whose header has none (RFC 8200, section 8.1): \
                          leave it on, or take IPv4";
            return refuse("udp_checksum", false, reason);
        }
        Ok(())
    }

    fn check_port(&self) -> Result<()> {
        let Some(port) = self.port else { return Ok(()) };
        if port == 0 {
            return refuse("port", 0, "leave it out and the kernel chooses one");
        }
        let ports = if self.kind.is_udp() { self.flows } else { 1 };
        let last = u32::from(port) + ports - 1;
        if last > u32::from(u16::MAX) {
            let reason =
                format!("{ports} flows need the ports up to {last}, and there are 65535: take a lower one");
            return refuse("port", port, reason);
        }
        Ok(())
    }
}

/// The most payload bytes of one UDP datagram from `local`: 65,535 less the UDP header and, over IPv4, whose length
/// field counts it, the IP header (RFC 768; RFC 791, section 3.1; RFC 8200, section 3).
#[must_use]
pub fn max_datagram(local: IpAddr) -> u32 {
    match local {
        IpAddr::V4(_) => 65_535 - 20 - 8,
        IpAddr::V6(_) => 65_535 - 8,
    }
}

fn refuse(field: &'static str, value: impl fmt::Display, reason: impl Into<String>) -> Result<()> {
    Err(Error::Invalid { field, value: value.to_string(), reason: reason.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn good() -> Spec {
        Spec {
            kind: Kind::UdpStream,
            local: "127.0.0.1".parse().unwrap(),
            message: 1472,
            response: 0,
            flows: 1,
            socket_buffer: None,
            udp_checksum: true,
            port: None,
            cpus: vec![],
        }
    }

    fn refused(change: impl FnOnce(&mut Spec)) -> String {
        let mut spec = good();
        change(&mut spec);
        spec.validate().unwrap_err().to_string()
    }

    #[test]
    fn a_plain_workload_is_taken() {
        good().validate().unwrap();
        let rr = Spec { kind: Kind::TcpRr, response: 1, message: MAX_TCP_MESSAGE, ..good() };
        rr.validate().unwrap();
    }

    #[test]
    fn hostile_values_are_refused_by_name() {
        assert_eq!(refused(|s| s.flows = 0), "`flows` = 0: a workload needs at least one flow");
        assert_eq!(
            refused(|s| s.flows = 10_000_000),
            "`flows` = 10000000: at most 1024 flows, one thread each"
        );
        assert_eq!(
            refused(|s| s.message = 65_508),
            "`message` = 65508: a UDP datagram over IPv4 carries at most 65507 bytes"
        );
        assert_eq!(
            refused(|s| (s.message, s.local) = (65_528, "::1".parse().unwrap())),
            "`message` = 65528: a UDP datagram over IPv6 carries at most 65527 bytes"
        );
        assert!(refused(|s| s.message = 0).starts_with("`message` = 0: "));
        assert!(
            refused(|s| (s.kind, s.message) = (Kind::TcpStream, u32::MAX))
                .starts_with("`message` = 4294967295")
        );
        assert!(refused(|s| s.response = 1).contains("take tcp_rr or udp_rr"));
        assert!(refused(|s| s.kind = Kind::UdpRr).starts_with("`response` = 0: "));
        assert!(refused(|s| s.socket_buffer = Some(0)).starts_with("`socket_buffer` = 0: "));
        assert!(refused(|s| s.socket_buffer = Some(u32::MAX)).starts_with("`socket_buffer` = 4294967295: "));
        assert!(refused(|s| s.port = Some(0)).starts_with("`port` = 0: "));
        assert!(refused(|s| (s.port, s.flows) = (Some(65_535), 2)).contains("ports up to 65536"));
        assert!(refused(|s| s.cpus = vec![0, u32::MAX]).starts_with("`cpus` = 4294967295: "));
        assert!(refused(|s| s.local = "0.0.0.0".parse().unwrap()).starts_with("`local` = 0.0.0.0: "));
        assert!(refused(|s| s.local = "ff02::1".parse().unwrap()).contains("multicast"));
        assert!(refused(|s| s.local = "fe80::1".parse().unwrap()).contains("link-local"));
        assert!(refused(|s| s.local = "::ffff:127.0.0.1".parse().unwrap()).contains("IPv4 address"));
        let heavy = |s: &mut Spec| (s.kind, s.message, s.flows) = (Kind::TcpStream, 16 << 20, 65);
        assert!(refused(heavy).contains("65 flows of such messages"));
    }

    #[test]
    fn checksum_off_needs_udp_over_ipv4() {
        Spec { udp_checksum: false, ..good() }.validate().unwrap();
        let v6 = refused(|s| (s.udp_checksum, s.local) = (false, "::1".parse().unwrap()));
        assert!(v6.contains("mandatory over IPv6") && v6.contains("RFC 8200, section 8.1"), "{v6}");
        let tcp = refused(|s| (s.udp_checksum, s.kind) = (false, Kind::TcpStream));
        assert!(tcp.contains("tcp_stream always has its checksum"), "{tcp}");
    }

    #[test]
    fn a_tcp_workload_needs_one_port_only() {
        Spec { kind: Kind::TcpStream, port: Some(65_535), flows: 100, ..good() }.validate().unwrap();
    }

    fn any_spec() -> impl Strategy<Value = Spec> {
        let kind =
            prop_oneof![Just(Kind::TcpStream), Just(Kind::UdpStream), Just(Kind::TcpRr), Just(Kind::UdpRr)];
        let size = || prop_oneof![0u32..4, 65_500u32..65_540, any::<u32>()];
        let flows = prop_oneof![0u32..4, 1020u32..1030, any::<u32>()];
        let buffer = proptest::option::of(size());
        let port = proptest::option::of(any::<u16>());
        let cpus = proptest::collection::vec(prop_oneof![0u32..4, any::<u32>()], 0..3);
        (kind, any::<IpAddr>(), size(), size(), flows, buffer, any::<bool>(), port, cpus).prop_map(
            |(kind, local, message, response, flows, socket_buffer, udp_checksum, port, cpus)| Spec {
                kind,
                local,
                message,
                response,
                flows,
                socket_buffer,
                udp_checksum,
                port,
                cpus,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_taken_can_be_had(spec in any_spec()) {
            if spec.validate().is_err() {
                return Ok(());
            }
            prop_assert!((1..=MAX_FLOWS).contains(&spec.flows));
            prop_assert!(spec.message > 0);
            prop_assert_eq!(spec.response > 0, spec.kind.is_rr());
            if spec.kind.is_udp() {
                prop_assert!(spec.message <= 65_527 && spec.response <= 65_527);
            }
            prop_assert!(spec.udp_checksum || (spec.kind.is_udp() && spec.local.is_ipv4()));
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
        for kind in [Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr] {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
    }
}
