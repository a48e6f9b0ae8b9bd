//! The receivers that make one system call after the other. Each is this loop, compiled for its
//! [`Reader`].

use std::ops::Range;
use std::os::fd::RawFd;

use super::check::Check;
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, STOP, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::drain_with;

pub(crate) trait Reader {
    const CALL: Call;

    /// Receives. Returns what the kernel returns, or -1 with `errno` set.
    fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize;

    /// Calls `take` with each datagram of the last call, which returned `got`.
    fn for_each_datagram(&self, got: usize, take: impl FnMut(&[u8]) -> Result<()>) -> Result<Came>;

    fn room(&self) -> &[u8];
}

/// The result of one call: the number of datagrams, their bytes, and the place of the last one.
pub(crate) struct Came {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) last: Range<usize>,
}

/// One datagram for each `recv`.
pub(crate) struct One(Buffer);

impl One {
    pub(crate) fn new(message: usize) -> Self {
        // One byte more than a message, to detect a larger one.
        Self(Buffer::room(message + 1))
    }
}

impl Reader for One {
    const CALL: Call = Call::Recv;

    #[inline(always)]
    fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize {
        sys::receive(fd, self.0.as_mut(), flags)
    }

    #[inline(always)]
    fn for_each_datagram(&self, got: usize, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<Came> {
        // Without a check that could panic: the compiler removes it where nobody reads the
        // datagram.
        take(self.0.as_ref().get(..got).unwrap_or_default())?;
        Ok(Came { messages: 1, bytes: got as u64, last: 0..got })
    }

    fn room(&self) -> &[u8] {
        self.0.as_ref()
    }
}

/// Receives until the stop, and then queued data, or until another reader goes on. A thread that
/// `SPINS` never sleeps. Gives the last datagram.
pub(super) fn receive<const SPINS: bool, R: Reader>(
    lane: &Lane,
    mut reader: R,
    check: &mut impl Check,
) -> Result<Vec<u8>> {
    let flags = if SPINS { libc::MSG_DONTWAIT } else { 0 };
    let (phase, mut tally, mut last) = (lane.phase(), lane.tally(), 0..0);
    lane.ready();
    while phase.load() < STOP {
        let got = receive_batch(lane, &mut reader, flags, check, &mut tally, &mut last)?;
        if got <= 0 {
            if SPINS {
                tally.call();
                if sys::errno() == libc::EAGAIN {
                    continue;
                }
            }
            if got < 0 && lane.trouble(R::CALL, got)? == LoopStep::End {
                break;
            }
        }
    }
    drain(lane, reader, check, tally, last)
}

/// Receives queued data, unless another reader goes on; `last` is the place of the last datagram.
fn drain(
    lane: &Lane,
    mut reader: impl Reader,
    check: &mut impl Check,
    mut tally: Tally,
    mut last: Range<usize>,
) -> Result<Vec<u8>> {
    let flags = libc::MSG_DONTWAIT;
    if !lane.control.loop_switch.is_held() {
        drain_with(lane, || Ok(receive_batch(lane, &mut reader, flags, check, &mut tally, &mut last)? > 0))?;
    }
    Ok(reader.room()[last].to_vec())
}

/// Makes one call. Returns the number of datagrams, or another result of the kernel.
#[inline(always)]
pub(super) fn receive_batch(
    lane: &Lane,
    reader: &mut impl Reader,
    flags: libc::c_int,
    check: &mut impl Check,
    tally: &mut Tally,
    last: &mut Range<usize>,
) -> Result<isize> {
    let got = reader.receive(lane.fd, flags);
    if got <= 0 {
        return Ok(got);
    }
    let came = reader.for_each_datagram(got as usize, |datagram| check.datagram(lane, datagram))?;
    tally.batch(came.messages, came.bytes);
    if came.messages > 0 {
        *last = came.last;
    }
    Ok(came.messages as isize)
}

/// The account of a receiver; `last` is the last datagram.
pub(super) fn account(lane: &Lane, tally: &Tally, check: impl Check, last: &[u8]) -> Result<LaneResult> {
    if tally.bytes != tally.messages * lane.message as u64 {
        return Err(lane.damaged(last.len().min(lane.message), last.len()));
    }
    let (verified, sequence) = check.end(lane, last)?;
    Ok(LaneResult { verified, sequence, ..LaneResult::default() })
}
