//! UDP datagrams as fast as they can be sent, one per call.

use crate::buffer::Buffer;
use crate::drain::drain;
use crate::error::Result;
use crate::lane::{End, Lane, Next};
use crate::phase::{QUIET, STOP};
use crate::sys;

pub(crate) fn send(lane: &Lane) -> Result<End> {
    let message = Buffer::pattern(lane.message);
    let message = message.as_ref();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET {
        let sent = sys::send(fd, message);
        if sent > 0 {
            tally.message(sent as u64);
        } else if sys::errno() == libc::ENOBUFS {
            tally.no_buffers();
        } else if lane.trouble("send", sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}

pub(crate) fn receive(lane: &Lane) -> Result<End> {
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
        } else if got < 0 && lane.trouble("recv", got)? == Next::End {
            break;
        }
    }
    last = drain(lane, room.as_mut(), &mut tally, last);
    if tally.bytes != tally.messages * lane.message as u64 {
        return Err(lane.damaged(last.min(lane.message), last));
    }
    Ok(End { verified: lane.verify(&room.as_ref()[..last], 0, lane.message)?, ..End::default() })
}
