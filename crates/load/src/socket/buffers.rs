//! A socket's buffers.

use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

use serde::{Deserialize, Serialize};
use socket2::Socket;

use crate::error::{Context, Result};
use crate::sys;

/// Sizes of a socket's buffers in bytes, as the kernel reports them: twice the requested size, with
/// its overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffers {
    /// `SO_SNDBUF`.
    pub send: u64,
    /// `SO_RCVBUF`.
    pub receive: u64,
}

impl Buffers {
    /// The current ones.
    pub(crate) fn read(socket: &Socket) -> Result<Self> {
        let read = |size: io::Result<usize>| size.or_setup("getsockopt", "a buffer's size");
        Ok(Self {
            send: read(socket.send_buffer_size())? as u64,
            receive: read(socket.recv_buffer_size())? as u64,
        })
    }

    pub(crate) fn smaller(self, other: Self) -> Self {
        Self { send: self.send.min(other.send), receive: self.receive.min(other.receive) }
    }
}

/// The options of a buffer's size: beyond the machine's limit, and within it.
type SocketOptions = (libc::c_int, libc::c_int);
const SEND: SocketOptions = (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF);
pub(super) const RECEIVE: SocketOptions = (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF);

/// Sizes one buffer, beyond the machine's limit (`net.core.wmem_max`, `net.core.rmem_max`) where
/// that is allowed.
pub(super) fn size(socket: &Socket, (force, plain): SocketOptions, bytes: libc::c_int) -> io::Result<()> {
    let set = |option| sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, option, bytes);
    set(force).or_else(|_| set(plain))
}

pub(super) fn size_both(socket: &Socket, bytes: u32, what: &impl fmt::Display) -> Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    for (buffer, call) in [(SEND, "setsockopt SO_SNDBUF"), (RECEIVE, "setsockopt SO_RCVBUF")] {
        size(socket, buffer, bytes).or_setup(call, what)?;
    }
    Ok(())
}
