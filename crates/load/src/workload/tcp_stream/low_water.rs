//! The bytes that must have arrived before the receiver of a TCP stream wakes (`SO_RCVLOWAT`).
//!
//! A receiver wakes when there is enough to fill half of its room: over loopback always, elsewhere
//! if writes have at least [`LARGE`] bytes. That was as fast as without a mark, or faster; over
//! veth it made writes of 1 and 4 KiB slower, with more and smaller packets. `bench/README.md` has
//! the experiments, under a congestion control that paces and one that does not. The rule does not
//! depend on a rate, so it favours no condition of the same message size.

use std::net::IpAddr;
use std::os::fd::AsRawFd;

use socket2::Socket;
use words::{Kind, Reader, Traffic};

use super::read_size::read_size;
use crate::socket::statistics;
use crate::sys;

/// The smallest write, in bytes, whose receiver has a mark over any path.
const LARGE: u32 = 8192;

/// The mark for the receivers of this traffic at the address `local`, in bytes; `None` where it
/// would slow them, where they do not sleep, or where a byte may be the last of an answer.
pub(crate) fn mark_for(traffic: &Traffic, local: IpAddr) -> Option<u32> {
    let sleeps = traffic.reader != Reader::Spin;
    let helps = local.is_loopback() || traffic.message >= LARGE;
    (traffic.kind == Kind::TcpStream && sleeps && helps).then(|| read_size(traffic.lanes()) / 2)
}

/// Sets it. The kernel limits it with a small receive buffer (`tcp_set_rcvlowat` in
/// net/ipv4/tcp.c).
pub(crate) fn set(socket: &Socket, bytes: u32) -> std::io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
}

/// Arrived bytes that do not wake the receiver yet. They count as received: otherwise a slow stream
/// would seem to come in lumps.
pub(crate) fn below(socket: &Socket, mark: u32) -> u64 {
    statistics::unread(socket.as_raw_fd()).unwrap_or(0).min(u64::from(mark))
}
