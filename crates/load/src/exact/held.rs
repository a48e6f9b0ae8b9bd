//! Packets that lie in a queue of their own, so that those of each batch get other memory.
//!
//! The kernel gives a packet the memory that was freed last, so a boot has one and the same piece
//! all along. Some of the pieces of a slab take 4 instructions less (a guess: those in its first
//! page, where the kernel need not look up where the slab begins). With packets held back, batches
//! have pieces of both kinds, and the median batch is the same in each boot. Work that sends many
//! packets at a time has pieces of several slabs anyway, and which ones would only change with it.

use std::mem;
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, getsockname, recv, sendto,
    socket,
};

use super::work::Trouble;

/// So many are held at most: as many as two slabs of a frame's datagrams have.
const MOST: usize = 32;
/// The bytes of the largest message: those of a datagram in a frame of 1500.
const LARGEST: u32 = 1472;
/// The kernel's room for the headers of a datagram, which its memory has too (`ip_append_data`).
const HEADERS: u32 = 60;

/// Messages that a netlink socket sends to itself: their memory is of the same kind as that of
/// datagrams, and no other socket or address is needed. (That of Unix sockets is accounted, and so
/// of another kind.)
pub(super) struct Held {
    socket: OwnedFd,
    own: NetlinkAddr,
    bytes: Vec<u8>,
    most: usize,
    count: usize,
}

impl Held {
    /// None yet. `message`: the size of those that the work sends, `together`: how many it sends at
    /// a time.
    pub(super) fn none(message: u32, together: u32) -> Result<Self, Trouble> {
        let most = if together > 1 { 0 } else { MOST };
        let protocol = SockProtocol::NetlinkUserSock;
        let socket = socket(AddressFamily::Netlink, SockType::Datagram, SockFlag::SOCK_CLOEXEC, protocol)
            .map_err(at("socket"))?;
        // The kernel completes the address.
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(at("bind"))?;
        let own = getsockname(socket.as_raw_fd()).map_err(at("getsockname"))?;
        let bytes = vec![0; (message.min(LARGEST) + HEADERS) as usize];
        Ok(Self { socket, own, bytes, most, count: 0 })
    }

    /// One more; or none again, where there are as many as can be.
    pub(super) fn shift(&mut self) -> Result<(), Trouble> {
        let socket = self.socket.as_raw_fd();
        let now = MsgFlags::MSG_DONTWAIT;
        if self.count < self.most {
            self.count += 1;
            return sendto(socket, &self.bytes, &self.own, now).map(drop).map_err(at("sendto"));
        }
        for _ in 0..mem::take(&mut self.count) {
            recv(socket, &mut self.bytes, now).map_err(at("recv"))?;
        }
        Ok(())
    }
}

fn at(call: &'static str) -> impl FnOnce(Errno) -> Trouble {
    move |errno| (call, errno.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_can_be_fit_into_the_queue_and_leave_it() {
        for message in [0, 1, 1452, 5 << 20] {
            let mut held = Held::none(message, 1).unwrap();
            for _ in 0..3 * (MOST + 1) {
                held.shift().unwrap();
            }
            let left = recv(held.socket.as_raw_fd(), &mut held.bytes, MsgFlags::MSG_DONTWAIT);
            assert!(held.count == 0 && left == Err(Errno::EAGAIN), "{message}: {left:?}");
        }
        let mut held = Held::none(1452, 64).unwrap();
        held.shift().unwrap();
        assert_eq!(held.count, 0);
    }
}
