//! A queue of messages that hold memory of the kind that datagrams have.

use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, getsockname, recv, sendto,
    socket,
};

use super::work::Trouble;

/// The bytes of the largest message: those of a datagram in a frame of 1500.
pub(super) const LARGEST: u32 = 1472;
/// The kernel's room for the headers of a datagram, which its memory has too (`ip_append_data`).
const HEADERS: u32 = 60;

static ZEROS: [u8; (LARGEST + HEADERS) as usize] = [0; (LARGEST + HEADERS) as usize];

/// The bytes of a message that gets the same memory as a datagram of so many.
pub(super) fn bytes(message: u32) -> usize {
    (message.min(LARGEST) + HEADERS) as usize
}

/// Messages that a netlink socket sends to itself: their memory is of the same kind as that of
/// datagrams, and no other socket or address is needed. (That of Unix sockets is accounted, and so
/// of another kind.)
pub(super) struct Queue {
    socket: OwnedFd,
    own: NetlinkAddr,
}

impl Queue {
    pub(super) fn empty() -> Result<Self, Trouble> {
        let protocol = SockProtocol::NetlinkUserSock;
        let socket = socket(AddressFamily::Netlink, SockType::Datagram, SockFlag::SOCK_CLOEXEC, protocol)
            .map_err(failed("socket"))?;
        // The kernel completes the address.
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(failed("bind"))?;
        let own = getsockname(socket.as_raw_fd()).map_err(failed("getsockname"))?;
        Ok(Self { socket, own })
    }

    /// Adds a datagram of so many bytes; returns false if the queue is full.
    pub(super) fn add(&self, message: u32) -> Result<bool, Trouble> {
        match sendto(self.socket.as_raw_fd(), &ZEROS[..bytes(message)], &self.own, MsgFlags::MSG_DONTWAIT) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN) => Ok(false),
            Err(errno) => Err(failed("sendto")(errno)),
        }
    }

    /// Removes a datagram; returns false if the queue is empty.
    pub(super) fn remove(&self) -> Result<bool, Trouble> {
        // The rest of the message is dropped.
        match recv(self.socket.as_raw_fd(), &mut [0], MsgFlags::MSG_DONTWAIT) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN) => Ok(false),
            Err(errno) => Err(failed("recv")(errno)),
        }
    }
}

fn failed(call: &'static str) -> impl FnOnce(Errno) -> Trouble {
    move |errno| (call, errno.into())
}
