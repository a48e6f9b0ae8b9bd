//! One datagram per call, from the program's own pages.

use super::stamp::Stamp;
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET};
use crate::message::Buffer;
use crate::sys;
use crate::workload::lent::{LentPages, Refused, SLOTS};
use crate::workload::pace::Pace;

pub(super) fn send<S: Stamp>(lane: &Lane, mut stamp: S, mut pace: impl Pace) -> Result<LaneResult> {
    let mut lent = LentPages::new(lane)?;
    // Changing datagrams must not change while the kernel holds their pages.
    let mut buffer = Buffer::messages(lane.message, if S::WRITES { SLOTS } else { 1 });
    let destination = lane.destination();
    let to = destination.target();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET {
        if lent.is_full() && lent.make_room(lane)? == LoopStep::End {
            break;
        }
        let from = if S::WRITES { lent.slot() * lane.message } else { 0 };
        let datagram = &mut buffer.as_mut()[from..from + lane.message];
        if !pace.wait(lane.message as u64, phase) {
            break;
        }
        stamp.stamp(datagram, lane.message);
        let sent = sys::send_to(fd, datagram, libc::MSG_ZEROCOPY, to);
        if sent > 0 {
            tally.message(sent as u64);
            lent.sent();
            stamp.advance(1);
        } else if sys::errno() != libc::ENOBUFS {
            if lane.trouble(Call::Send, sent)? == LoopStep::End {
                break;
            }
        } else if lent.refused(lane)? == Refused::ByQueue {
            tally.no_buffers();
        } else {
            tally.call();
            if lent.wait_for_some(lane)? == LoopStep::End {
                break;
            }
        }
    }
    Ok(LaneResult { zerocopy: Some(lent.end(lane)), ..LaneResult::default() })
}
