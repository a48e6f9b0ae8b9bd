//! One datagram per call.

use super::check::Check;
use super::stamp::Stamp;
use crate::error::Result;
use crate::lane::{Call, End, Lane, Next, QUIET, STOP, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::drain::drain_with;
use crate::workload::pace::Pace;

pub(super) fn send(lane: &Lane, mut stamp: impl Stamp, mut pace: impl Pace) -> Result<End> {
    let mut message = Buffer::pattern(lane.message);
    let destination = lane.destination();
    let to = destination.target();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET {
        pace.wait(lane.message as u64, phase);
        stamp.stamp(message.as_mut(), lane.message);
        let sent = sys::send_to(fd, message.as_ref(), 0, to);
        if sent > 0 {
            tally.message(sent as u64);
            stamp.advance(1);
        } else if sys::errno() == libc::ENOBUFS {
            tally.no_buffers();
        } else if lane.trouble(Call::Send, sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}

pub(super) fn receive(lane: &Lane, mut check: impl Check) -> Result<End> {
    // One byte more than a message, so that one too large shows.
    let mut room = Buffer::room(lane.message + 1);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    while phase.load() < STOP {
        let got = sys::receive(fd, room.as_mut(), 0);
        if got > 0 {
            tally.message(got as u64);
            last = got as usize;
            check.datagram(lane, &room.as_ref()[..last])?;
        } else if got < 0 && lane.trouble(Call::Recv, got)? == Next::End {
            break;
        }
    }
    drain(lane, room, tally, check, last)
}

/// Never sleeps: asks again and again.
pub(super) fn spin(lane: &Lane, mut check: impl Check) -> Result<End> {
    let mut room = Buffer::room(lane.message + 1);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    while phase.load() < STOP {
        let got = sys::receive(fd, room.as_mut(), libc::MSG_DONTWAIT);
        if got > 0 {
            tally.message(got as u64);
            last = got as usize;
            check.datagram(lane, &room.as_ref()[..last])?;
        } else {
            tally.call();
            if got < 0 && sys::errno() != libc::EAGAIN && lane.trouble(Call::Recv, got)? == Next::End {
                break;
            }
        }
    }
    drain(lane, room, tally, check, last)
}

/// Takes what is still queued, and draws up the account; `last` is the size of the datagram at the
/// front of `room`.
pub(super) fn drain(
    lane: &Lane,
    mut room: Buffer,
    mut tally: Tally,
    mut check: impl Check,
    mut last: usize,
) -> Result<End> {
    drain_with(lane, || {
        let got = sys::receive(lane.fd, room.as_mut(), libc::MSG_DONTWAIT);
        if got > 0 {
            tally.message(got as u64);
            last = got as usize;
            check.datagram(lane, &room.as_ref()[..last])?;
        }
        Ok(got > 0)
    })?;
    end(lane, &tally, check, &room.as_ref()[..last])
}

/// The account of a receiver; `last` is the last datagram.
pub(super) fn end(lane: &Lane, tally: &Tally, check: impl Check, last: &[u8]) -> Result<End> {
    if tally.bytes != tally.messages * lane.message as u64 {
        return Err(lane.damaged(last.len().min(lane.message), last.len()));
    }
    let (verified, sequence) = check.end(lane, last)?;
    Ok(End { verified, sequence, ..End::default() })
}
