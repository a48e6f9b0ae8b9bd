//! A message of a TCP stream, by each of its senders.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use words::{Sender, Traffic};

use crate::error::Result as Made;
use crate::message::Buffer;
use crate::sys::{self, pages};
use crate::workload::tcp_stream::{sendfile, splice};

use super::calls::Calls;
use super::counter::{Counted, Counter};
use super::datagrams::{LOOKS, flags};
use super::work::{Trouble, Work};

/// How long a full send buffer may take to have room again, in ns.
const FULL: u64 = 5_000_000_000;

/// A way to hand a message to a connection that takes it in parts.
pub(super) trait Pour {
    const CALL: &'static str;

    /// Bytes of the message.
    fn len(&self) -> usize;

    /// Hands over what follows its first `from` bytes, as far as there is room, and gives what the
    /// kernel gives.
    fn pour<C: Calls>(&mut self, calls: &mut C, fd: RawFd, from: usize) -> isize;
}

impl Pour for &[u8] {
    const CALL: &'static str = "send";

    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    #[inline(always)]
    fn pour<C: Calls>(&mut self, calls: &mut C, fd: RawFd, from: usize) -> isize {
        calls.around(|| sys::send_flags(fd, &self[from..], libc::MSG_DONTWAIT))
    }
}

/// From a file in memory. The socket must be one that does not wait, as the call has no flag for
/// it.
struct FromFile {
    file: File,
    len: usize,
}

impl Pour for FromFile {
    const CALL: &'static str = "sendfile";

    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn pour<C: Calls>(&mut self, calls: &mut C, fd: RawFd, from: usize) -> isize {
        let mut offset = from as libc::off_t;
        calls.around(|| pages::send_file(fd, self.file.as_raw_fd(), &mut offset, self.len - from))
    }
}

/// Through a pipe that refers to its pages. The socket must be one that does not wait.
struct ThroughPipe {
    message: Buffer,
    pipe: splice::Pipe,
    /// Bytes in the pipe.
    held: usize,
}

impl Pour for ThroughPipe {
    const CALL: &'static str = "splice";

    fn len(&self) -> usize {
        self.message.as_ref().len()
    }

    #[inline(always)]
    fn pour<C: Calls>(&mut self, calls: &mut C, fd: RawFd, from: usize) -> isize {
        if self.held == 0 {
            let given = calls.around(|| self.pipe.give(&self.message.as_ref()[from..]));
            if given <= 0 {
                return given;
            }
            self.held = given as usize;
        }
        let sent = calls.around(|| self.pipe.splice(fd, self.held));
        self.held -= sent.max(0) as usize;
        sent
    }
}

/// Has the stream counted, one message after the other.
pub(super) fn count(
    traffic: &Traffic,
    (source, sink): (RawFd, RawFd),
    counter: Counter<'_>,
) -> Made<Result<Counted, Trouble>> {
    let len = traffic.message as usize;
    // Not all of these calls have a flag against the signal for a connection that is gone.
    pages::block_pipe_signal();
    // One byte more than a message, so that one too large shows.
    let (room, flags) = (Buffer::room(len + 1), flags(traffic.reader));
    Ok(match traffic.sender {
        Sender::Sendfile => {
            let pour = FromFile { file: sendfile::message_file(len, 0)?, len };
            counter.count(Streamed { source, sink, pour, room, flags })
        }
        Sender::Splice => {
            let pour =
                ThroughPipe { message: Buffer::pattern(len), pipe: splice::Pipe::new(len, 0)?, held: 0 };
            counter.count(Streamed { source, sink, pour, room, flags })
        }
        _ => {
            let message = Buffer::pattern(len);
            counter.count(Streamed { source, sink, pour: message.as_ref(), room, flags })
        }
    })
}

struct Streamed<P> {
    source: RawFd,
    sink: RawFd,
    pour: P,
    room: Buffer,
    flags: libc::c_int,
}

impl<P: Pour> Work for Streamed<P> {
    fn messages(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        carry_stream(calls, (self.source, self.sink), &mut self.pour, (self.room.as_mut(), self.flags))
    }
}

/// A stream takes a long message in parts, and only as fast as it is emptied, which nobody else
/// does here: it must never wait for room while there is something to be taken, nor for something
/// while nothing is on its way.
#[inline(always)]
pub(super) fn carry_stream<C: Calls, P: Pour>(
    calls: &mut C,
    (from, to): (RawFd, RawFd),
    message: &mut P,
    (room, flags): (&mut [u8], libc::c_int),
) -> Result<(), Trouble> {
    let (mut sent, mut got, mut looks) = (0, 0, 0);
    while got < message.len() {
        if sent < message.len() {
            match message.pour(calls, from, sent) {
                done if done > 0 => sent += done as usize,
                _ if sys::errno() != libc::EAGAIN => return Err((P::CALL, io::Error::last_os_error())),
                _ if sent > got => {}
                _ if sys::wait_for(from, libc::POLLOUT, sys::now() + FULL) => continue,
                _ => return Err((P::CALL, io::Error::from_raw_os_error(libc::EAGAIN))),
            }
        }
        match calls.around(|| sys::receive(to, room, flags)) {
            done if done > 0 => got += done as usize,
            0 => return Err(("recv", io::ErrorKind::UnexpectedEof.into())),
            _ if is_early(flags, &mut looks) => {}
            _ => return Err(("recv", io::Error::last_os_error())),
        }
    }
    Ok(())
}

/// Whether a call that failed belongs to a reader that never sleeps, and may look again.
#[cold]
pub(super) fn is_early(flags: libc::c_int, looks: &mut u32) -> bool {
    *looks += 1;
    flags & libc::MSG_DONTWAIT != 0 && sys::errno() == libc::EAGAIN && *looks < LOOKS
}
