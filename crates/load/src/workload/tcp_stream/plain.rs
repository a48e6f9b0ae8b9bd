//! One call for each write and each read.

use super::content::Content;
use super::room::room;
use crate::error::Result;
use crate::lane::{ABORT, Call, End, Lane, Next, QUIET};
use crate::message::Buffer;
use crate::sys;

pub(super) fn send(lane: &Lane) -> Result<End> {
    let message = Buffer::pattern(lane.message);
    let message = message.as_ref();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut rest = message;
    lane.ready();
    while phase.load() < QUIET {
        let sent = sys::send(fd, rest);
        if sent > 0 {
            tally.stream(sent as u64);
            // A write cut short is taken up where it ended, so that the stream stays whole
            // messages.
            rest = rest.get(sent as usize..).unwrap_or_default();
            if rest.is_empty() {
                rest = message;
            }
        } else if lane.trouble(Call::Send, sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}

pub(super) fn receive(lane: &Lane, mut content: impl Content) -> Result<End> {
    let mut room = Buffer::room(room(lane.traffic.lanes()) as usize);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    // Not `Stop` but the end of the stream ends this loop, so that all that was sent is received.
    while phase.load() < ABORT {
        let got = sys::receive(fd, room.as_mut(), 0);
        if got > 0 {
            tally.stream(got as u64);
            last = got as usize;
            content.bytes(lane, &room.as_ref()[..last])?;
        } else if lane.trouble(Call::Recv, got)? == Next::End {
            break;
        }
    }
    let verified = content.end(lane, &room.as_ref()[..last], tally.bytes)?;
    Ok(End { verified, ..End::default() })
}

/// Never sleeps: asks again and again.
pub(super) fn spin(lane: &Lane, mut content: impl Content) -> Result<End> {
    let mut room = Buffer::room(room(lane.traffic.lanes()) as usize);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    while phase.load() < ABORT {
        let got = sys::receive(fd, room.as_mut(), libc::MSG_DONTWAIT);
        if got > 0 {
            tally.stream(got as u64);
            last = got as usize;
            content.bytes(lane, &room.as_ref()[..last])?;
        } else if got < 0 && sys::errno() == libc::EAGAIN {
            tally.call();
        } else if lane.trouble(Call::Recv, got)? == Next::End {
            break;
        }
    }
    let verified = content.end(lane, &room.as_ref()[..last], tally.bytes)?;
    Ok(End { verified, ..End::default() })
}

/// Has the kernel throw the bytes away (`MSG_TRUNC`, tcp(7)): nobody sees them, so nothing is
/// verified.
pub(super) fn discard(lane: &Lane) -> Result<End> {
    let mut room = Buffer::room(room(lane.traffic.lanes()) as usize);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < ABORT {
        let got = sys::receive(fd, room.as_mut(), libc::MSG_TRUNC);
        if got > 0 {
            tally.stream(got as u64);
        } else if lane.trouble(Call::Recv, got)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}
