//! The receivers that make one system call after the other.

use super::content::Content;
use super::room::room;
use crate::error::Result;
use crate::lane::{ABORT, Call, End, Lane, Next};
use crate::message::Buffer;
use crate::sys;

/// `FLAGS` apply to every call; with `MSG_DONTWAIT` the thread never sleeps.
pub(super) fn receive<const FLAGS: libc::c_int>(lane: &Lane, mut content: impl Content) -> Result<End> {
    let mut room = Buffer::room(room(lane.traffic.lanes()) as usize);
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
        } else if lane.trouble(Call::Recv, got)? == Next::End {
            break;
        }
    }
    let verified = content.end(lane, &room.as_ref()[..last], tally.bytes)?;
    Ok(End { verified, ..End::default() })
}
