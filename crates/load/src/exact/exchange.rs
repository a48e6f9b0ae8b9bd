//! A request and its answer.

use std::os::fd::RawFd;
use words::Traffic;

use crate::message::Buffer;
use crate::sys;

use super::stream::carry_stream;
use super::work::{RepeatableWork, Trouble, expect_whole, flags, is_early};
use crate::lane::Calls;
use crate::workload::tcp_stream::send::Copied;

pub(super) struct Exchanged {
    source: RawFd,
    sink: RawFd,
    stream: bool,
    message: Buffer,
    response: Buffer,
    room: Buffer,
    flags: libc::c_int,
}

impl Exchanged {
    pub(super) fn new(traffic: &Traffic, source: RawFd, sink: RawFd) -> Self {
        let longest = traffic.message.max(traffic.response) as usize;
        Self {
            source,
            sink,
            stream: !traffic.kind.is_udp(),
            message: Buffer::pattern(traffic.message as usize),
            response: Buffer::pattern(traffic.response as usize),
            // One byte more than a message, to detect a larger one.
            room: Buffer::room(longest + 1),
            flags: flags(traffic.reader),
        }
    }
}

impl RepeatableWork for Exchanged {
    fn messages(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        let Self { source, sink, stream, ref message, ref response, ref mut room, flags } = *self;
        carry(calls, stream, (source, sink), message.as_ref(), (room.as_mut(), flags))?;
        carry(calls, stream, (sink, source), response.as_ref(), (room.as_mut(), flags))
    }
}

#[inline(always)]
fn carry<C: Calls>(
    calls: &mut C,
    stream: bool,
    (from, to): (RawFd, RawFd),
    message: &[u8],
    (room, flags): (&mut [u8], libc::c_int),
) -> Result<(), Trouble> {
    if stream {
        let message = &mut Copied::new(message, 0, libc::MSG_DONTWAIT);
        return carry_stream(calls, (from, to), message, (room, flags));
    }
    expect_whole("send", calls.around(|| sys::send_flags(from, message, 0)), message.len())?;
    let mut looks = 0;
    loop {
        match calls.around(|| sys::receive(to, room, flags)) {
            got if got < 0 && is_early(flags, &mut looks) => {}
            got => return expect_whole("recv", got, message.len()),
        }
    }
}
