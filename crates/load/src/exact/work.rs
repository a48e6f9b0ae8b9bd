//! One message, or one transaction, after the other.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};

use crate::buffer::Buffer;
use crate::error::Result;
use crate::sys;
use crate::traffic::Traffic;

use super::calls::Calls;
use super::ends::{Ends, flow};

/// How long a full send buffer may take to have room again, in ns.
const FULL: u64 = 5_000_000_000;

/// The work, ready to be done any number of times.
pub(super) struct Work<'e> {
    source: RawFd,
    sink: Option<RawFd>,
    peer: SocketAddr,
    stream: bool,
    message: Buffer,
    /// Empty where nothing is answered.
    response: Option<Buffer>,
    room: Buffer,
    _ends: &'e Ends,
}

impl<'e> Work<'e> {
    pub(super) fn new(traffic: &Traffic, ends: &'e Ends) -> Self {
        let longest = traffic.message.max(traffic.response) as usize;
        Self {
            source: ends.source.as_raw_fd(),
            sink: ends.sink.as_ref().map(AsRawFd::as_raw_fd),
            peer: ends.peer,
            stream: !traffic.kind.is_udp(),
            message: Buffer::pattern(traffic.message as usize),
            response: traffic.kind.is_rr().then(|| Buffer::pattern(traffic.response as usize)),
            // One byte more than a message, so that one too large shows.
            room: Buffer::room(longest + 1),
            _ends: ends,
        }
    }

    /// Does it `count` times.
    #[inline(never)]
    pub(super) fn messages<C: Calls>(&mut self, calls: &mut C, count: u32) -> Result<()> {
        for _ in 0..count {
            let Some(sink) = self.sink else {
                self.all(
                    calls.send(self.source, self.message.as_ref(), 0),
                    self.message.as_ref().len(),
                    "send",
                )?;
                continue;
            };
            let message = self.message.as_ref();
            carry(calls, self.stream, (self.source, sink), message, self.room.as_mut())
                .map_err(|(call, error)| flow(call, self.peer, &error))?;
            if let Some(response) = &self.response {
                carry(calls, self.stream, (sink, self.source), response.as_ref(), self.room.as_mut())
                    .map_err(|(call, error)| flow(call, self.peer, &error))?;
            }
        }
        Ok(())
    }

    fn all(&self, done: isize, wanted: usize, call: &'static str) -> Result<()> {
        whole(done, wanted).map_err(|error| flow(call, self.peer, &error))
    }
}

type Trouble = (&'static str, io::Error);

/// One message from one socket to the other.
#[inline(always)]
fn carry<C: Calls>(
    calls: &mut C,
    stream: bool,
    (from, to): (RawFd, RawFd),
    message: &[u8],
    room: &mut [u8],
) -> std::result::Result<(), Trouble> {
    if stream {
        return carry_stream(calls, (from, to), message, room);
    }
    whole(calls.send(from, message, 0), message.len()).map_err(|error| ("send", error))?;
    whole(calls.receive(to, room), message.len()).map_err(|error| ("recv", error))
}

/// A stream takes a long message in parts, and only as fast as it is emptied, which nobody else does here: it must never wait for
/// room while there is something to be taken, nor for something while nothing is on its way.
#[inline(always)]
fn carry_stream<C: Calls>(
    calls: &mut C,
    (from, to): (RawFd, RawFd),
    message: &[u8],
    room: &mut [u8],
) -> std::result::Result<(), Trouble> {
    let (mut sent, mut got) = (0, 0);
    while got < message.len() {
        if sent < message.len() {
            match calls.send(from, &message[sent..], libc::MSG_DONTWAIT) {
                done if done > 0 => sent += done as usize,
                _ if sys::errno() != libc::EAGAIN => return Err(("send", io::Error::last_os_error())),
                _ if sent > got => {}
                _ if sys::wait_for(from, libc::POLLOUT, sys::now() + FULL) => continue,
                _ => return Err(("send", io::Error::from_raw_os_error(libc::EAGAIN))),
            }
        }
        match calls.receive(to, room) {
            done if done > 0 => got += done as usize,
            0 => return Err(("recv", io::ErrorKind::UnexpectedEof.into())),
            _ => return Err(("recv", io::Error::last_os_error())),
        }
    }
    Ok(())
}

/// Whether a call did all that was wanted.
#[inline(always)]
fn whole(done: isize, wanted: usize) -> io::Result<()> {
    if done == wanted as isize {
        return Ok(());
    }
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Err(io::Error::from_raw_os_error(libc::EMSGSIZE))
}
