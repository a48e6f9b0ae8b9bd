//! The destination of datagrams.

use std::marker::PhantomData;
use std::net::SocketAddr;

use socket2::SockAddr;

/// The address of each datagram of an unconnected socket; none for a connected one.
#[derive(Debug)]
pub(crate) struct Destination(Option<SockAddr>);

/// A destination as arguments of a system call; null for a connected socket.
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
