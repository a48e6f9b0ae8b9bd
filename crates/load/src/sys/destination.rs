//! Where datagrams go.

use std::marker::PhantomData;
use std::net::SocketAddr;

use socket2::SockAddr;

/// The address that each datagram of an unconnected socket carries; a connected one's carry none.
#[derive(Debug)]
pub(crate) struct Destination(Option<SockAddr>);

/// The same as arguments of a system call, in registers: null on a connected socket.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) address: *const libc::sockaddr,
    pub(crate) len: libc::socklen_t,
    destination: PhantomData<&'a Destination>,
}

impl Destination {
    pub(crate) fn new(connected: bool, peer: SocketAddr) -> Self {
        Self((!connected).then(|| peer.into()))
    }

    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            address: self.0.as_ref().map_or(std::ptr::null(), |address| address.as_ptr().cast()),
            len: self.0.as_ref().map_or(0, SockAddr::len),
            destination: PhantomData,
        }
    }
}
