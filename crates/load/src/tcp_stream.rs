//! A TCP connection kept full.

use crate::buffer::Buffer;
use crate::error::Result;
use crate::lane::{End, Lane, Next};
use crate::phase::{ABORT, QUIET};
use crate::sys;

/// Bytes that a receiver asks for at once, at most: more do not stay in a CPU's own cache.
const ROOM: usize = 256 << 10;
/// With many flows each asks for less, but never for less than a segment.
const LEAST_ROOM: usize = 64 << 10;
/// What the receivers of all flows together ask for.
const ROOM_FOR_ALL: usize = 4 << 20;

pub(crate) fn send(lane: &Lane) -> Result<End> {
    let message = Buffer::pattern(lane.message);
    let message = message.as_ref();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut rest = message;
    lane.ready();
    while phase.load() < QUIET {
        let sent = sys::send(fd, rest);
        if sent > 0 {
            tally.stream(sent as u64);
            // A write cut short is taken up where it ended, so that the stream stays whole messages.
            rest = rest.get(sent as usize..).unwrap_or_default();
            if rest.is_empty() {
                rest = message;
            }
        } else if lane.trouble("send", sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}

pub(crate) fn receive(lane: &Lane) -> Result<End> {
    let mut room = Buffer::room((ROOM_FOR_ALL / lane.flows()).clamp(LEAST_ROOM, ROOM));
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    // Not `Stop` but the end of the stream ends this loop, so that all that was sent is received.
    while phase.load() < ABORT {
        let got = sys::receive(fd, room.as_mut(), 0);
        if got > 0 {
            tally.stream(got as u64);
            last = got as usize;
        } else if lane.trouble("recv", got)? == Next::End {
            break;
        }
    }
    let offset = tally.bytes - last as u64;
    Ok(End { verified: lane.verify(&room.as_ref()[..last], offset, lane.message)?, ..End::default() })
}
