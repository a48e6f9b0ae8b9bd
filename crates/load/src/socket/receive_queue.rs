//! Room in a socket for the datagrams that arrive while their receiver waits for its CPU.
//!
//! What does not fit into the socket meanwhile is dropped. The kernel charges a datagram that came
//! in fragments with the buffer of every fragment: its default (`net.core.rmem_default`, 208 KiB)
//! has room for 30 datagrams of 4096 bytes at MTU 1500 (counted on Linux 6.18, over either version
//! of IP). More than 1 MiB loses again: what waits there is no longer in the CPU's own cache when
//! it is read (a guess). `bench/README.md` has the experiments.

use std::io;

use socket2::Socket;
use words::{Kind, Traffic};

use super::buffers;

/// What the kernel is asked for, in bytes; it doubles that to 1 MiB. Unprivileged, it grants no
/// more than `net.core.rmem_max`.
const BYTES: libc::c_int = 512 << 10;

/// Whether sockets of this traffic need such room: those of a stream of datagrams whose buffers the
/// user left open.
pub(super) fn is_needed(traffic: &Traffic) -> bool {
    matches!(traffic.kind, Kind::UdpStream | Kind::Pps) && traffic.socket_buffer.is_none()
}

/// Raises the receive buffer; one that is larger already stays.
pub(super) fn raise(socket: &Socket) -> io::Result<()> {
    if socket.recv_buffer_size()? >= 2 * BYTES as usize {
        return Ok(());
    }
    buffers::size(socket, buffers::RECEIVE, BYTES)
}
