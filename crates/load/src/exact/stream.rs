//! A message of a TCP stream.

use std::io;
use std::os::fd::RawFd;

use super::work::{RepeatableWork, Trouble, is_early};
use crate::lane::Calls;
use crate::message::Buffer;
use crate::sys;
use crate::workload::tcp_stream::send::StreamWriter;

const FULL: u64 = 5_000_000_000;

pub(super) struct Streamed<W> {
    from: RawFd,
    to: RawFd,
    message: W,
    len: usize,
    room: Buffer,
    flags: libc::c_int,
}

impl<W: StreamWriter> Streamed<W> {
    pub(super) fn new([from, to]: [RawFd; 2], message: W, len: usize, flags: libc::c_int) -> Self {
        // One byte more than a message, to detect a larger one.
        let room = Buffer::room(len + 1);
        Self { from, to, message, len, room, flags }
    }
}

impl<W: StreamWriter> RepeatableWork for Streamed<W> {
    // A stream accepts a long message only as fast as it is emptied, which nobody else does here:
    // it must not wait for room while data can be received, nor for data when none is in transit.
    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        let Self { from, to, ref mut message, len, ref mut room, flags } = *self;
        let (mut sent, mut got, mut looks) = (0, 0, 0);
        while got < len {
            if sent < len {
                match message.write(calls, from) {
                    done if done > 0 => sent += done as usize,
                    _ if sys::errno() != libc::EAGAIN => {
                        return Err((W::CALL.name, io::Error::last_os_error()));
                    }
                    _ if sent > got => {}
                    _ if sys::wait_for(from, libc::POLLOUT, sys::now() + FULL) => continue,
                    _ => return Err((W::CALL.name, io::Error::from_raw_os_error(libc::EAGAIN))),
                }
            }
            match calls.around(|| sys::receive(to, room.as_mut(), flags)) {
                done if done > 0 => got += done as usize,
                0 => return Err(("recv", io::ErrorKind::UnexpectedEof.into())),
                _ if is_early(flags, &mut looks) => {}
                _ => return Err(("recv", io::Error::last_os_error())),
            }
        }
        Ok(())
    }
}
