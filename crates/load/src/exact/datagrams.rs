//! Datagrams, one way: a turn hands over what one call of the sender, or of the reader, holds, and
//! then takes all of it.

use std::io;
use std::os::fd::RawFd;
use words::Reader;

use crate::message::Buffer;
use crate::sys::{self, Target};
use crate::workload::udp_stream::batch::{Arrivals, Parcels};
use crate::workload::udp_stream::gro::Merged;

use super::calls::Calls;
use super::work::{Trouble, Work, whole};

/// How often a reader that never sleeps looks in vain before a message is lost.
pub(super) const LOOKS: u32 = 1 << 24;

/// A way to hand datagrams over.
pub(super) trait Give {
    const CALL: &'static str;

    /// How many one call hands over.
    fn datagrams(&self) -> usize;

    /// What the kernel gives back when it took all of them.
    fn whole(&self) -> usize;

    /// Hands them over, and gives what the kernel gives.
    fn give(&mut self, fd: RawFd) -> isize;
}

/// A way to take them.
pub(super) trait Take {
    const CALL: &'static str;

    /// Takes some, and gives what the kernel gives.
    fn take(&mut self, fd: RawFd) -> isize;

    /// How many of `message` bytes each came, where the kernel gave `got`; 0 if anything else did.
    fn came(&self, got: usize, message: usize) -> usize;

    /// Whether it comes back with nothing instead of waiting.
    fn spins(&self) -> bool {
        false
    }
}

/// One buffer for each `send`: a datagram, or what is cut into several.
pub(super) struct One<'e> {
    buffer: Buffer,
    datagrams: usize,
    to: Target<'e>,
}

impl<'e> One<'e> {
    pub(super) fn new(message: usize, datagrams: usize, to: Target<'e>) -> Self {
        Self { buffer: Buffer::messages(message, datagrams), datagrams, to }
    }
}

impl Give for One<'_> {
    const CALL: &'static str = "send";

    fn datagrams(&self) -> usize {
        self.datagrams
    }

    fn whole(&self) -> usize {
        self.buffer.as_ref().len()
    }

    #[inline(always)]
    fn give(&mut self, fd: RawFd) -> isize {
        sys::send_to(fd, self.buffer.as_ref(), 0, self.to)
    }
}

/// Many of them for each `sendmmsg`.
pub(super) struct Many<'e> {
    parcels: Parcels<'e>,
    shape: (usize, usize),
}

impl<'e> Many<'e> {
    pub(super) fn new(message: usize, shape: (usize, usize), to: Target<'e>) -> Self {
        Self { parcels: Parcels::new(message, shape, false, to), shape }
    }
}

impl Give for Many<'_> {
    const CALL: &'static str = "sendmmsg";

    fn datagrams(&self) -> usize {
        self.shape.0 * self.shape.1
    }

    fn whole(&self) -> usize {
        self.shape.0
    }

    #[inline(always)]
    fn give(&mut self, fd: RawFd) -> isize {
        self.parcels.send(fd)
    }
}

/// One datagram for each `recv`.
pub(super) struct Room {
    room: Buffer,
    flags: libc::c_int,
}

impl Room {
    pub(super) fn new(message: usize, reader: Reader) -> Self {
        // One byte more than a message, so that one too large shows.
        Self { room: Buffer::room(message + 1), flags: flags(reader) }
    }
}

/// What a reader that makes one `recv` at a time asks for with it.
pub(super) fn flags(reader: Reader) -> libc::c_int {
    match reader {
        Reader::Spin => libc::MSG_DONTWAIT,
        Reader::Trunc => libc::MSG_TRUNC,
        _ => 0,
    }
}

impl Take for Room {
    const CALL: &'static str = "recv";

    #[inline(always)]
    fn take(&mut self, fd: RawFd) -> isize {
        sys::receive(fd, self.room.as_mut(), self.flags)
    }

    #[inline(always)]
    fn came(&self, got: usize, message: usize) -> usize {
        usize::from(got == message)
    }

    fn spins(&self) -> bool {
        self.flags & libc::MSG_DONTWAIT != 0
    }
}

impl Take for Arrivals {
    const CALL: &'static str = "recvmmsg";

    #[inline(always)]
    fn take(&mut self, fd: RawFd) -> isize {
        self.receive(fd, libc::MSG_WAITFORONE)
    }

    #[inline(always)]
    fn came(&self, got: usize, message: usize) -> usize {
        if self.places(got).all(|place| place.len() == message) { got } else { 0 }
    }
}

impl Take for Merged {
    const CALL: &'static str = "recvmsg";

    #[inline(always)]
    fn take(&mut self, fd: RawFd) -> isize {
        self.receive(fd, 0)
    }

    #[inline(always)]
    fn came(&self, got: usize, message: usize) -> usize {
        let datagrams = got / message;
        if self.size(got) == message && datagrams * message == got { datagrams } else { 0 }
    }
}

/// Handed over, and nobody takes them.
pub(super) struct Offered<G> {
    pub(super) source: RawFd,
    pub(super) give: G,
}

impl<G: Give> Work for Offered<G> {
    fn messages(&self) -> u32 {
        self.give.datagrams() as u32
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        whole(G::CALL, calls.around(|| self.give.give(self.source)), self.give.whole())
    }
}

/// Handed over at one socket, and taken from the other.
pub(super) struct Carried<G, T> {
    pub(super) source: RawFd,
    pub(super) sink: RawFd,
    /// Bytes of a datagram.
    pub(super) message: usize,
    /// Calls of the sender in a turn.
    pub(super) calls: usize,
    pub(super) give: G,
    pub(super) take: T,
}

impl<G: Give, T: Take> Work for Carried<G, T> {
    fn messages(&self) -> u32 {
        (self.calls * self.give.datagrams()) as u32
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        for _ in 0..self.calls {
            whole(G::CALL, calls.around(|| self.give.give(self.source)), self.give.whole())?;
        }
        let mut left = self.calls * self.give.datagrams();
        let mut looks = 0;
        while left > 0 {
            let got = calls.around(|| self.take.take(self.sink));
            if got < 0 {
                let error = io::Error::last_os_error();
                if !self.take.spins() || error.kind() != io::ErrorKind::WouldBlock || looks == LOOKS {
                    return Err((T::CALL, error));
                }
                looks += 1;
                continue;
            }
            match self.take.came(got as usize, self.message) {
                came if came > 0 && came <= left => left -= came,
                _ => return Err((T::CALL, io::Error::from_raw_os_error(libc::EMSGSIZE))),
            }
        }
        Ok(())
    }
}
