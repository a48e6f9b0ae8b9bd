//! Requirements of a workload that this host's kernel lacks, found by trying.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;

use nix::sys::resource::{Resource, getrlimit};
use socket2::{Domain, Protocol, Socket, Type};
use words::{Family, Reader, Sender, Traffic};

use crate::error::Errno;
use crate::message::Buffer;
use crate::socket::{self, Applied};
use crate::sys;

/// The requirements of this traffic over this version of IP that this host lacks, in words with the
/// consequence; empty if there are none. Tried on separate sockets: nothing leaves this host.
pub fn lacking(traffic: &Traffic, family: Family) -> Vec<String> {
    let (domain, local, version): (_, IpAddr, _) = match family {
        Family::Ipv4 => (Domain::IPV4, Ipv4Addr::UNSPECIFIED.into(), "IPv4"),
        Family::Ipv6 => (Domain::IPV6, Ipv6Addr::UNSPECIFIED.into(), "IPv6"),
    };
    let (kind, protocol) =
        if traffic.kind.is_udp() { (Type::DGRAM, Protocol::UDP) } else { (Type::STREAM, Protocol::TCP) };
    let socket = match Socket::new(domain, kind, Some(protocol)) {
        Ok(socket) => socket,
        Err(error) => {
            return vec![format!("cannot open an {version} socket: {}", Errno::from_error(&error))];
        }
    };
    let mut lacks = Vec::new();
    if let Some(name) = traffic.congestion_control.name()
        && let Err(error) = socket.set_tcp_congestion(name.as_bytes())
    {
        let there = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let there = there.map_or_else(|_| String::new(), |names| format!("; available: {}", names.trim()));
        lacks
            .push(format!("congestion control `{name}` not available: {}{there}", Errno::from_error(&error)));
    }
    if lacks.is_empty() {
        // The options of every socket, and their results.
        let tried = socket::open(traffic, local, "a socket");
        let applied = tried.and_then(|one| Applied::read_as_asked(&one, traffic));
        lacks.extend(applied.err().map(|error| error.to_string()));
    }
    let mut has = |name: &str, level, option, value, since: &str| {
        let tried = sys::set_option(socket.as_raw_fd(), level, option, value);
        let lack =
            |error| format!("{name} not supported: {}; it needs Linux {since}", Errno::from_error(error));
        lacks.extend(tried.as_ref().err().map(lack));
        tried.is_ok()
    };
    if traffic.sender.segments() {
        has("UDP_SEGMENT", libc::SOL_UDP, libc::UDP_SEGMENT, 1400, "4.18");
    }
    if traffic.reader == Reader::Gro {
        has("UDP_GRO", libc::SOL_UDP, sys::UDP_GRO, 1, "5.0");
    }
    let since = if traffic.kind.is_udp() { "5.0" } else { "4.14" };
    if traffic.sender == Sender::Zerocopy && has("SO_ZEROCOPY", libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1, since)
    {
        // The memory that one send may lend: a privilege may lift the limit, which only a try
        // shows.
        let most = getrlimit(Resource::RLIMIT_MEMLOCK).map_or(0, |(soft, _)| soft);
        let message = traffic.message;
        if most < u64::from(message) && lending_fails(message as usize) {
            lacks.push(format!(
                "RLIMIT_MEMLOCK too small for MSG_ZEROCOPY of {message} bytes: it is {most} bytes; raise it (`ulimit -l`)"
            ));
        }
    }
    lacks
}

/// Tries it with that many bytes, on a connection of this host with itself.
fn lending_fails(message: usize) -> bool {
    let connect = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let sender = std::net::TcpStream::connect(listener.local_addr()?)?;
        sys::set_option(sender.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1)?;
        Ok::<_, std::io::Error>((listener, sender))
    };
    // It cannot be tried without loopback; a run reports it then.
    let Ok((_listener, sender)) = connect() else { return false };
    let bytes = Buffer::room(message);
    let flags = libc::MSG_ZEROCOPY | libc::MSG_DONTWAIT;
    sys::send_flags(sender.as_raw_fd(), bytes.as_ref(), flags) < 0 && sys::errno() == libc::ENOBUFS
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::{CongestionControl, Kind};

    #[test]
    fn a_plain_workload_lacks_nothing_and_an_unknown_congestion_control_is_named() {
        for kind in Kind::ALL {
            assert_eq!(lacking(&Traffic::new(kind), Family::Ipv4), [] as [String; 0], "{kind}");
        }
        for kind in [Kind::UdpStream, Kind::TcpStream] {
            for (sender, reader) in Sender::ALL.into_iter().zip(Reader::ALL.into_iter().cycle()) {
                let traffic = Traffic { sender, reader, ..Traffic::new(kind) };
                if traffic.validate(Family::Ipv4).is_ok() {
                    assert_eq!(
                        lacking(&traffic, Family::Ipv4),
                        [] as [String; 0],
                        "{kind} {sender} {reader}"
                    );
                    assert_eq!(
                        lacking(&traffic, Family::Ipv6),
                        [] as [String; 0],
                        "{kind} {sender} {reader}"
                    );
                }
            }
        }
        // Less than the smallest buffer (`SOCK_MIN_SNDBUF` of net/sock.h).
        let small = Traffic { socket_buffer: Some(1), ..Traffic::new(Kind::UdpStream) };
        assert!(
            lacking(&small, Family::Ipv4)[0].starts_with("`socket_buffer` = 1 "),
            "{:?}",
            lacking(&small, Family::Ipv4)
        );
        let odd = Traffic {
            congestion_control: CongestionControl::Named("no_such".into()),
            ..Traffic::new(Kind::TcpStream)
        };
        let lacks = lacking(&odd, Family::Ipv4);
        assert!(lacks[0].contains("congestion control `no_such` not available"), "{lacks:?}");
        assert!(lacks[0].contains("cubic") || lacks[0].contains("reno"), "{lacks:?}");
    }
}
