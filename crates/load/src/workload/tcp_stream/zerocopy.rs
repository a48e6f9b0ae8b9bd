//! One write per call, from the program's own pages, which never change.

use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET};
use crate::message::Buffer;
use crate::sys;
use crate::workload::lent::LentPages;

pub(super) fn send(lane: &Lane) -> Result<LaneResult> {
    let mut lent = LentPages::new(lane)?;
    let message = Buffer::pattern(lane.message);
    let message = message.as_ref();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut rest = &message[lane.begun()..];
    lane.ready();
    while phase.load() < QUIET {
        let sent = sys::send_flags(fd, rest, libc::MSG_ZEROCOPY);
        if sent > 0 {
            tally.stream(sent as u64);
            lent.sent();
            lent.tidy(lane)?;
            rest = rest.get(sent as usize..).unwrap_or_default();
            if rest.is_empty() {
                rest = message;
            }
        } else if sent < 0 && sys::errno() == libc::ENOBUFS {
            tally.call();
            if lent.wait_for_some(lane)? == LoopStep::End {
                break;
            }
        } else if lane.trouble(Call::Send, sent)? == LoopStep::End {
            break;
        }
    }
    Ok(LaneResult { zerocopy: Some(lent.end(lane)), ..LaneResult::default() })
}
