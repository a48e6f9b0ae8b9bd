//! Room in a socket for datagrams that arrive while their receiver waits for its CPU.
//!
//! Datagrams without room are dropped. The kernel charges a fragmented datagram with the buffer of
//! every fragment: its default (`net.core.rmem_default`, 208 KiB) has room for 30 datagrams of 4096
//! bytes at MTU 1500 (counted on Linux 6.18, over either version of IP). More than 1 MiB is worse
//! again: queued data leave the CPU's own cache before they are read (a guess). `bench/README.md`
//! has the experiments.

use std::io;

use socket2::Socket;
use words::{Kind, Traffic};

use super::buffers;

/// The requested bytes; the kernel doubles that to 1 MiB, and limits it to `net.core.rmem_max`
/// without privileges.
const BYTES: libc::c_int = 512 << 10;

/// Whether sockets of this traffic need such room: those of a stream of datagrams without requested
/// buffers.
pub(super) fn is_needed(traffic: &Traffic) -> bool {
    matches!(traffic.kind, Kind::UdpStream | Kind::Pps) && traffic.socket_buffer.is_none()
}

/// Raises the receive buffer, unless it is larger already.
pub(super) fn raise(socket: &Socket) -> io::Result<()> {
    if socket.recv_buffer_size()? >= 2 * BYTES as usize {
        return Ok(());
    }
    buffers::size(socket, buffers::RECEIVE, BYTES)
}
