//! How much must have arrived before the receiver of a TCP stream is woken (`SO_RCVLOWAT`).
//!
//! A receiver asks to be woken when there is enough to fill half of what it has room for: over
//! loopback always, elsewhere where a write is of [`LARGE`] bytes at least. There that was faster
//! than no mark, or as fast; over veth it made writes of 1 and 4 KiB slower, with more and smaller
//! packets. `bench/README.md` has the experiments, under a congestion control that paces and one
//! that does not. The rule looks at no rate, so that it favours no condition of the same message
//! size.

use std::net::IpAddr;
use std::os::fd::AsRawFd;

use socket2::Socket;
use words::{Kind, Reader, Traffic};

use super::room::room;
use crate::socket::queue;
use crate::sys;

/// The smallest write, in bytes, whose receiver has a mark over any path.
const LARGE: u32 = 8192;

/// The mark for the receivers of this traffic at the address `local`, in bytes; `None` where it
/// would slow them, where they do not sleep, or where a byte may be the last of an answer.
pub(crate) fn of(traffic: &Traffic, local: IpAddr) -> Option<u32> {
    let sleeps = traffic.reader != Reader::Spin;
    let helps = local.is_loopback() || traffic.message >= LARGE;
    (traffic.kind == Kind::TcpStream && sleeps && helps).then(|| room(traffic.lanes()) / 2)
}

/// Sets it. The kernel sets less where the receive buffer is small (`tcp_set_rcvlowat` in
/// net/ipv4/tcp.c).
pub(crate) fn set(socket: &Socket, bytes: u32) -> std::io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
}

/// What has arrived, in bytes, and is not worth waking the receiver yet. It counts as received:
/// without it a slow stream would be seen in lumps.
pub(crate) fn below(socket: &Socket, mark: u32) -> u64 {
    queue::unread(socket.as_raw_fd()).unwrap_or(0).min(u64::from(mark))
}
