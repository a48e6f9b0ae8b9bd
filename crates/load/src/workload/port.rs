//! The socket of a request-response loop. The loops are compiled once for each kind.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use socket2::SockAddr;

use crate::lane::{Lane, PhaseCell};
use crate::sys::{self, Destination};

pub(crate) trait Port {
    /// Returns bytes, or -1 with [`sys::errno`] set.
    fn send(&self, bytes: &[u8]) -> isize;

    /// Returns bytes, 0 at the end, or -1 with [`sys::errno`] set.
    fn receive(&self, room: &mut [u8], flags: libc::c_int) -> isize;
}

// A connected socket: the kernel discards datagrams of others than the peer.
impl Port for BorrowedFd<'_> {
    #[inline(always)]
    fn send(&self, bytes: &[u8]) -> isize {
        sys::send_flags(self.as_raw_fd(), bytes, 0)
    }

    #[inline(always)]
    fn receive(&self, room: &mut [u8], flags: libc::c_int) -> isize {
        sys::receive(self.as_raw_fd(), room, flags)
    }
}

// Each datagram carries its destination, and datagrams from others than the peer are discarded.
pub(crate) struct Addressed<'a> {
    fd: RawFd,
    to: Destination<'a>,
    peer: [u8; sys::NAME],
}

impl<'a> Addressed<'a> {
    pub(crate) fn new(lane: &Lane, destination: &'a SockAddr) -> Self {
        Self { fd: lane.fd, to: Destination::new(Some(destination)), peer: socket_name(lane.peer) }
    }
}

impl Port for Addressed<'_> {
    #[inline(always)]
    fn send(&self, bytes: &[u8]) -> isize {
        sys::send_to(self.fd, bytes, 0, self.to)
    }

    #[inline(always)]
    fn receive(&self, room: &mut [u8], flags: libc::c_int) -> isize {
        loop {
            let mut from = [0; sys::NAME];
            let got = sys::receive_from(self.fd, room, flags, &mut from);
            // The end of the socket has no sender.
            if got <= 0 || is_same_peer(&from, &self.peer) {
                return got;
            }
        }
    }
}

pub(crate) struct Spinning<'a, P> {
    port: P,
    phase: &'a PhaseCell,
    over: u8,
    /// In ns.
    patience: u64,
}

impl<'a, P> Spinning<'a, P> {
    pub(crate) fn new(lane: &'a Lane, port: P, over: u8, patience: Duration) -> Self {
        let patience = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        Self { port, phase: lane.phase(), over, patience }
    }
}

impl<P: Port> Port for Spinning<'_, P> {
    #[inline(always)]
    fn send(&self, bytes: &[u8]) -> isize {
        self.port.send(bytes)
    }

    #[inline(always)]
    fn receive(&self, room: &mut [u8], flags: libc::c_int) -> isize {
        // Calls between two readings of the clock.
        const CALLS: u32 = 64;
        let (mut calls, mut since) = (0, 0);
        loop {
            let got = self.port.receive(room, flags | libc::MSG_DONTWAIT);
            if got >= 0 || sys::errno() != libc::EAGAIN || flags & libc::MSG_DONTWAIT != 0 {
                return got;
            }
            if self.phase.load() >= self.over {
                return got;
            }
            calls += 1;
            if calls % CALLS == 0 {
                // Reading the clock keeps the call's error.
                let now = sys::now();
                if since == 0 {
                    since = now;
                }
                if now - since >= self.patience {
                    return got;
                }
            }
        }
    }
}

// The loop is compiled for each port. A spinning one waits for `$patience`, and until `$over`.
macro_rules! through {
    ($lane:expr, $port:expr, ($over:expr, $patience:expr), $run:path) => {
        match ($lane, $port) {
            (lane, port) if lane.traffic.reader == words::Reader::Spin => {
                $run(lane, &$crate::workload::port::Spinning::new(lane, port, $over, $patience))
            }
            (lane, port) => $run(lane, &port),
        }
    };
}
pub(crate) use through;

const INET: [u8; 2] = (libc::AF_INET as libc::sa_family_t).to_ne_bytes();
const INET6: [u8; 2] = (libc::AF_INET6 as libc::sa_family_t).to_ne_bytes();

// As the kernel writes it, `sockaddr_in` or `sockaddr_in6`, so that no datagram's name is parsed.
fn socket_name(address: SocketAddr) -> [u8; sys::NAME] {
    let mut name = [0; sys::NAME];
    let mut put = |at: usize, bytes: &[u8]| name[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, if address.is_ipv4() { &INET } else { &INET6 });
    put(2, &address.port().to_be_bytes());
    match address {
        SocketAddr::V4(v4) => put(4, &v4.ip().octets()),
        SocketAddr::V6(v6) => put(8, &v6.ip().octets()),
    }
    name
}

// IPv6's flow label and interface do not count.
#[inline(always)]
fn is_same_peer(a: &[u8; sys::NAME], b: &[u8; sys::NAME]) -> bool {
    // An IPv4 name has 8 significant bytes; zeros follow.
    a[..4] == b[..4] && a[8..24] == b[8..24] && (a[..2] != INET || a[4..8] == b[4..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::STOP;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn the_kernel_writes_names_as_read_here() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let (near, far) = (UdpSocket::bind(local).unwrap(), UdpSocket::bind(local).unwrap());
            far.send_to(b"x", near.local_addr().unwrap()).unwrap();
            let mut from = [0; sys::NAME];
            assert_eq!(sys::receive_from(near.as_raw_fd(), &mut [0; 8], 0, &mut from), 1);
            assert!(is_same_peer(&from, &socket_name(far.local_addr().unwrap())), "{from:?}");
            assert!(!is_same_peer(&from, &socket_name(near.local_addr().unwrap())));
            assert!(!is_same_peer(&from, &socket_name("198.51.100.7:9".parse().unwrap())));
        }
        let same = |pair: [&str; 2]| {
            is_same_peer(&socket_name(pair[0].parse().unwrap()), &socket_name(pair[1].parse().unwrap()))
        };
        assert!(!same(["127.0.0.1:9", "127.0.0.2:9"]));
        assert!(same(["127.0.0.1:9"; 2]) && !same(["[::1]:9", "[::2]:9"]));
    }

    #[test]
    fn spinning_ends_when_patience_or_the_phase_does() {
        let (near, far) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        let phase = PhaseCell::default();
        let spinning = |patience| Spinning { port: near.as_fd(), phase: &phase, over: STOP, patience };
        let began = sys::now();
        assert_eq!(spinning(2_000_000).receive(&mut [0; 8], 0), -1);
        assert_eq!(sys::errno(), libc::EAGAIN);
        assert!(sys::now() - began >= 2_000_000);
        assert_eq!(spinning(u64::MAX).receive(&mut [0; 8], libc::MSG_DONTWAIT), -1);
        far.send(b"abc").unwrap();
        assert_eq!(spinning(u64::MAX).receive(&mut [0; 8], 0), 3);
        phase.advance(STOP);
        assert_eq!(spinning(u64::MAX).receive(&mut [0; 8], 0), -1);
    }
}
