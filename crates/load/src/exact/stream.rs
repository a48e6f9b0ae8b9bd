//! A message of a TCP stream, for each of its senders.

use std::io;
use std::os::fd::RawFd;

use words::{Sender, Traffic};

use super::work::{RepeatableWork, Trouble, WorkVisitor, flags, is_early};
use crate::error::Result as Made;
use crate::lane::Calls;
use crate::message::Buffer;
use crate::sys;
use crate::workload::tcp_stream::send::{Copied, FromFile, Writer};

/// Longest wait for room in a full send buffer, in ns.
const FULL: u64 = 5_000_000_000;

pub(super) fn give<U: WorkVisitor>(
    traffic: &Traffic,
    (source, sink): (RawFd, RawFd),
    user: U,
) -> Made<Result<U::Made, Trouble>> {
    let len = traffic.message as usize;
    let message = Buffer::pattern(len);
    let message = message.as_ref();
    // One byte more than a message, to detect a larger one.
    let (room, flags) = (Buffer::room(len + 1), flags(traffic.reader));
    Ok(match traffic.sender {
        Sender::Sendfile => {
            user.has(Streamed { source, sink, writer: FromFile::new(len, 0, 0)?, room, flags })
        }
        _ => {
            let writer = Copied::new(message, 0, libc::MSG_DONTWAIT);
            user.has(Streamed { source, sink, writer, room, flags })
        }
    })
}

struct Streamed<W> {
    source: RawFd,
    sink: RawFd,
    writer: W,
    room: Buffer,
    flags: libc::c_int,
}

impl<W: Writer> RepeatableWork for Streamed<W> {
    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        carry_stream(calls, (self.source, self.sink), &mut self.writer, (self.room.as_mut(), self.flags))
    }
}

/// A stream accepts a long message in parts, and only as fast as it is emptied, which nobody else
/// does here: it must never wait for room while data can be received, nor for data while nothing is
/// in transit.
#[inline(always)]
pub(super) fn carry_stream<C: Calls>(
    calls: &mut C,
    (from, to): (RawFd, RawFd),
    message: &mut impl Writer,
    (room, flags): (&mut [u8], libc::c_int),
) -> Result<(), Trouble> {
    let (mut sent, mut got, mut looks) = (0, 0, 0);
    while got < message.len() {
        if sent < message.len() {
            match message.write(calls, from) {
                done if done > 0 => sent += done as usize,
                _ if sys::errno() != libc::EAGAIN => {
                    return Err((message.call().name, io::Error::last_os_error()));
                }
                _ if sent > got => {}
                _ if sys::wait_for(from, libc::POLLOUT, sys::now() + FULL) => continue,
                _ => return Err((message.call().name, io::Error::from_raw_os_error(libc::EAGAIN))),
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
