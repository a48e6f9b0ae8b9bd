//! The receiver's side: receives a request, answers it with its number.

use super::number;
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, STOP, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::drain::drain_with;
use crate::workload::port::Port;

pub(super) fn receive(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    if lane.traffic.verify { run::<true>(lane, port) } else { run::<false>(lane, port) }
}

fn run<const VERIFY: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let mut request = Buffer::room((lane.message + 1).max(number::NUMBER));
    let mut answer = Buffer::pattern(lane.response.max(number::NUMBER));
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    while phase.load() < STOP {
        let got = port.receive(request.as_mut(), 0);
        if got <= 0 {
            if got < 0 && lane.trouble(Call::Recv, got)? == LoopStep::End {
                break;
            }
            continue;
        }
        tally.message(got as u64);
        last = got as usize;
        if VERIFY {
            number::verify(lane, request.as_ref(), lane.message)?;
        }
        number::write(answer.as_mut(), number::read(request.as_ref()));
        let sent = port.send(&answer.as_ref()[..lane.response]);
        if answered(lane, sent, &mut tally)? == LoopStep::End {
            break;
        }
    }
    drain_with(lane, || {
        let got = port.receive(request.as_mut(), libc::MSG_DONTWAIT);
        if got > 0 {
            tally.message(got as u64);
            last = got as usize;
        }
        Ok(got > 0)
    })?;
    if last > 0 && tally.bytes != tally.messages * lane.message as u64 {
        return Err(lane.damaged(last.min(lane.message), last));
    }
    let verified = if last > 0 { number::verify(lane, request.as_ref(), lane.message)? } else { 0 };
    Ok(LaneResult { verified, ..LaneResult::default() })
}

/// Counts an answer by the result of its send, `returned`. One that this end's own queue rejected
/// is lost.
#[inline(always)]
pub(super) fn answered(lane: &Lane, returned: isize, tally: &mut Tally) -> Result<LoopStep> {
    if returned > 0 {
        tally.call();
        tally.transaction();
    } else if sys::errno() == libc::ENOBUFS {
        tally.no_buffers();
    } else {
        return lane.trouble(Call::Send, returned);
    }
    Ok(LoopStep::Again)
}
