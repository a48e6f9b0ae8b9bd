//! The receivers that make one system call after the other.

use super::content::Content;
use super::read_size::read_size;
use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep};
use crate::message::Buffer;
use crate::sys;

/// `FLAGS` apply to every call; with `MSG_DONTWAIT` the thread never sleeps.
pub(super) fn receive<const FLAGS: libc::c_int>(
    lane: &Lane,
    mut content: impl Content,
) -> Result<LaneResult> {
    let mut room = Buffer::room(read_size(lane.traffic.lanes()) as usize);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    // The end of the stream ends this loop, not `Stop`, so that all sent data are received.
    while phase.load() < ABORT {
        let got = sys::receive(fd, room.as_mut(), FLAGS);
        if got > 0 {
            tally.stream(got as u64);
            last = got as usize;
            content.bytes(lane, room.as_ref().get(..last).unwrap_or_default())?;
        } else if got < 0 && FLAGS & libc::MSG_DONTWAIT != 0 && sys::errno() == libc::EAGAIN {
            tally.call();
        } else if lane.trouble(Call::Recv, got)? == LoopStep::End {
            break;
        }
    }
    let verified = content.end(lane, &room.as_ref()[..last], tally.bytes)?;
    Ok(LaneResult { verified, ..LaneResult::default() })
}
