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
        if send_whole(lane, port, request.as_ref(), &mut tally, true)? == LoopStep::End
            || receive_whole(lane, port, answer.as_mut(), &mut tally, false)? == LoopStep::End
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
    Ok(LaneResult { latencies: Some(latencies), verified, ..LaneResult::default() })
}

fn answer<const VERIFY: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let mut request = Buffer::room(lane.message);
    let answer = Buffer::pattern(lane.response);
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut asked = false;
    lane.ready();
    while phase.load() < ABORT {
        if receive_whole(lane, port, request.as_mut(), &mut tally, true)? == LoopStep::End {
            break;
        }
        asked = true;
        if VERIFY {
            lane.verify(request.as_ref(), 0, lane.message)?;
        }
        if send_whole(lane, port, answer.as_ref(), &mut tally, false)? == LoopStep::End {
            break;
        }
        tally.transaction();
    }
    let verified = if asked { lane.verify(request.as_ref(), 0, lane.message)? } else { 0 };
    Ok(LaneResult { verified, ..LaneResult::default() })
}

/// `own`: the bytes count as a message of this end.
#[inline(always)]
fn send_whole(lane: &Lane, port: &impl Port, bytes: &[u8], tally: &mut Tally, own: bool) -> Result<LoopStep> {
    let sent = port.send(bytes);
    if sent == bytes.len() as isize {
        count_message(tally, bytes.len(), own);
        return Ok(LoopStep::Again);
    }
    piecewise(lane, Call::SEND, sent, bytes.len(), tally, own, |done| port.send(&bytes[done..]))
}

/// `own`: the bytes count as a message of this end.
#[inline(always)]
fn receive_whole(
    lane: &Lane,
    port: &impl Port,
    room: &mut [u8],
    tally: &mut Tally,
    own: bool,
) -> Result<LoopStep> {
    let got = port.receive(room, libc::MSG_WAITALL);
    if got == room.len() as isize {
        count_message(tally, room.len(), own);
        return Ok(LoopStep::Again);
    }
    let len = room.len();
    piecewise(lane, Call::RECV, got, len, tally, own, |done| {
        port.receive(&mut room[done..], libc::MSG_WAITALL)
    })
}

#[inline(always)]
fn count_message(tally: &mut Tally, bytes: usize, own: bool) {
    if own { tally.message(bytes as u64) } else { tally.call() }
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
