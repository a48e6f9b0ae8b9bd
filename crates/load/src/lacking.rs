//! What this host's kernel lacks for a workload, found out by trying.

use std::os::fd::AsRawFd;

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::Errno;
use crate::sys;
use crate::traffic::Traffic;

/// What this host lacks for this traffic over this version of IP, each in words with what follows from it; empty if it has
/// everything. Tried on sockets that are never connected: nothing is sent.
#[must_use]
pub fn lacking(traffic: &Traffic, ipv6: bool) -> Vec<String> {
    let domain = if ipv6 { Domain::IPV6 } else { Domain::IPV4 };
    let (kind, protocol) =
        if traffic.kind.is_udp() { (Type::DGRAM, Protocol::UDP) } else { (Type::STREAM, Protocol::TCP) };
    let socket = match Socket::new(domain, kind, Some(protocol)) {
        Ok(socket) => socket,
        Err(error) => {
            let version = if ipv6 { "IPv6" } else { "IPv4" };
            return vec![format!("no {version} socket: {}", Errno::of(&error))];
        }
    };
    let mut lacks = Vec::new();
    if let Some(name) = &traffic.congestion_control
        && let Err(error) = sys::set_option_bytes(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_bytes(),
        )
    {
        let there = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let there = there.map_or_else(|_| String::new(), |names| format!("; it has {}", names.trim()));
        lacks.push(format!("no congestion control `{name}`: {}{there}", Errno::of(&error)));
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn a_plain_workload_lacks_nothing_and_an_unknown_congestion_control_is_named() {
        for kind in Kind::ALL {
            assert_eq!(lacking(&Traffic::new(kind), false), [] as [String; 0], "{kind}");
        }
        let odd = Traffic { congestion_control: Some("no_such".into()), ..Traffic::new(Kind::TcpStream) };
        let lacks = lacking(&odd, false);
        assert!(lacks[0].contains("no congestion control `no_such`"), "{lacks:?}");
        assert!(lacks[0].contains("cubic") || lacks[0].contains("reno"), "{lacks:?}");
    }
}
