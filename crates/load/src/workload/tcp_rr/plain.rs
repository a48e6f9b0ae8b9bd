//! One transaction in flight.

use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, Recorder, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::port::Port;
use crate::workload::source::Begun;

pub(super) fn send(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    if lane.traffic.verify { ask::<true>(lane, port) } else { ask::<false>(lane, port) }
}

pub(super) fn receive(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    if lane.traffic.verify { answer::<true>(lane, port) } else { answer::<false>(lane, port) }
}

fn ask<const VERIFY: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let request = Buffer::pattern(lane.message);
    let mut answer = Buffer::room(lane.response);
    let mut latencies = Recorder::new(lane.flows());
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut answered = false;
    lane.ready();
    let mut begun = Begun::now(phase);
    while begun.phase < QUIET {
        let ask = |done: usize| port.send(&request.as_ref()[done..]);
        let take = |done: usize| port.receive(&mut answer.as_mut()[done..], libc::MSG_WAITALL);
        if exchange_message(lane, Call::SEND, lane.message, &mut tally, true, ask)? == LoopStep::End
            || exchange_message(lane, Call::RECV, lane.response, &mut tally, false, take)? == LoopStep::End
        {
            break;
        }
        tally.transaction();
        answered = true;
        begun.next(sys::now(), phase.load(), &mut latencies);
        if VERIFY {
            lane.verify(answer.as_ref(), 0, lane.response)?;
        }
    }
    let verified = if answered { lane.verify(answer.as_ref(), 0, lane.response)? } else { 0 };
    Ok(LaneResult { latencies: vec![latencies], verified, ..LaneResult::default() })
}

fn answer<const VERIFY: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let mut request = Buffer::room(lane.message);
    let answer = Buffer::pattern(lane.response);
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut asked = false;
    lane.ready();
    while phase.load() < ABORT {
        let take = |done: usize| port.receive(&mut request.as_mut()[done..], libc::MSG_WAITALL);
        if exchange_message(lane, Call::RECV, lane.message, &mut tally, true, take)? == LoopStep::End {
            break;
        }
        asked = true;
        if VERIFY {
            lane.verify(request.as_ref(), 0, lane.message)?;
        }
        let reply = |done: usize| port.send(&answer.as_ref()[done..]);
        if exchange_message(lane, Call::SEND, lane.response, &mut tally, false, reply)? == LoopStep::End {
            break;
        }
        tally.transaction();
    }
    let verified = if asked { lane.verify(request.as_ref(), 0, lane.message)? } else { 0 };
    Ok(LaneResult { verified, ..LaneResult::default() })
}

/// Sends or receives one message; calls continue after the bytes that are done. `own`: it counts as
/// a message of this end.
#[inline(always)]
fn exchange_message(
    lane: &Lane,
    call: Call,
    len: usize,
    tally: &mut Tally,
    own: bool,
    mut step: impl FnMut(usize) -> isize,
) -> Result<LoopStep> {
    let moved = step(0);
    if moved != len as isize {
        return piecewise(lane, call, moved, len, tally, own, step);
    }
    if own {
        tally.message(len as u64)
    } else {
        tally.call()
    }
    Ok(LoopStep::Again)
}

#[cold]
#[inline(never)]
fn piecewise(
    lane: &Lane,
    call: Call,
    first: isize,
    len: usize,
    tally: &mut Tally,
    own: bool,
    mut go_on: impl FnMut(usize) -> isize,
) -> Result<LoopStep> {
    let (mut done, mut moved) = (0, first);
    loop {
        if moved <= 0 {
            if lane.trouble(call, moved)? == LoopStep::End {
                return Ok(LoopStep::End);
            }
        } else {
            done += moved as usize;
            if own {
                tally.stream(moved as u64)
            } else {
                tally.call()
            }
            if done >= len {
                break;
            }
        }
        if lane.phase().load() >= ABORT {
            return Ok(LoopStep::End);
        }
        moved = go_on(done);
    }
    if own {
        tally.completed();
    }
    Ok(LoopStep::Again)
}
