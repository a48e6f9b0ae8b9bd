//! One transaction in flight. One byte has only 256 numbers, so a loss also empties the socket.

use super::{NUMBER, number_mask, read_number, verify_number, write_number};
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, Recorder, STOP, Tally};
use crate::message::Buffer;
use crate::socket::{answer_time, stall};
use crate::sys;
use crate::workload::drain_with;
use crate::workload::port::Port;
use crate::workload::source::Begun;

pub(super) fn send(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    if lane.traffic.verify { ask_in_turn::<true>(lane, port) } else { ask_in_turn::<false>(lane, port) }
}

fn ask_in_turn<const VERIFY: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let mut request = Buffer::pattern(lane.message.max(NUMBER));
    let mut answer = Buffer::room((lane.response + 1).max(NUMBER));
    let mask = number_mask(lane.message.min(lane.response));
    let mut latencies = Recorder::new(lane.flows());
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let (mut next, mut lost_in_a_row) = (0u64, 0);
    let mut answered = false;
    lane.ready();
    let mut begun = Begun::now(phase);
    while begun.phase < QUIET {
        write_number(request.as_mut(), next);
        let request = &request.as_ref()[..lane.message];
        match ask(lane, port, request, answer.as_mut(), (next, mask), &mut tally)? {
            ReplyOutcome::Came => {
                if VERIFY {
                    verify_number(lane, answer.as_ref(), lane.response)?;
                }
                tally.transaction();
                answered = true;
                lost_in_a_row = 0;
                begun.next(sys::now(), phase.load(), &mut latencies);
            }
            ReplyOutcome::Lost => {
                tally.timeout();
                lost_in_a_row += 1;
                if answer_time(lane.flows()) * lost_in_a_row >= stall(lane.flows()) && phase.load() < QUIET {
                    return Err(lane.stalled(Call::RECV.silence));
                }
                while port.receive(answer.as_mut(), libc::MSG_DONTWAIT) > 0 {
                    tally.late();
                }
                begun = Begun::now(phase);
            }
            ReplyOutcome::End => break,
        }
        next = next.wrapping_add(1);
    }
    let verified = if answered { verify_number(lane, answer.as_ref(), lane.response)? } else { 0 };
    Ok(LaneResult { latencies: vec![latencies], verified, ..LaneResult::default() })
}

enum ReplyOutcome {
    Came,
    Lost,
    End,
}

/// `number`: that of the request, and the bits of it in a message.
#[inline(always)]
fn ask(
    lane: &Lane,
    port: &impl Port,
    request: &[u8],
    answer: &mut [u8],
    (number, mask): (u64, u64),
    tally: &mut Tally,
) -> Result<ReplyOutcome> {
    loop {
        let sent = port.send(request);
        if sent > 0 {
            tally.message(sent as u64);
            break;
        }
        if sys::errno() == libc::ENOBUFS {
            // This end's own queue is full: the request was never under way, so it is not lost.
            tally.no_buffers();
            if lane.phase().load() >= QUIET {
                return Ok(ReplyOutcome::End);
            }
        } else if lane.trouble(Call::SEND, sent)? == LoopStep::End {
            return Ok(ReplyOutcome::End);
        }
    }
    loop {
        let got = port.receive(answer, 0);
        tally.call();
        if got == lane.response as isize && (read_number(answer) ^ number) & mask == 0 {
            return Ok(ReplyOutcome::Came);
        }
        if got > 0 {
            tally.late();
        } else if let Some(reply) = no_answer(lane, got)? {
            return Ok(reply);
        }
    }
}

#[cold]
#[inline(never)]
fn no_answer(lane: &Lane, got: isize) -> Result<Option<ReplyOutcome>> {
    if lane.phase().load() >= QUIET {
        return Ok(Some(ReplyOutcome::End));
    }
    if got < 0 && sys::errno() == libc::EAGAIN {
        return Ok(Some(ReplyOutcome::Lost));
    }
    if got < 0 && lane.trouble(Call::RECV, got)? == LoopStep::End {
        return Ok(Some(ReplyOutcome::End));
    }
    Ok(None)
}

pub(super) fn receive(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    if lane.traffic.verify { answer_in_turn::<true>(lane, port) } else { answer_in_turn::<false>(lane, port) }
}

fn answer_in_turn<const VERIFY: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let mut request = Buffer::room((lane.message + 1).max(NUMBER));
    let mut answer = Buffer::pattern(lane.response.max(NUMBER));
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    while phase.load() < STOP {
        let got = port.receive(request.as_mut(), 0);
        if got <= 0 {
            if got < 0 && lane.trouble(Call::RECV, got)? == LoopStep::End {
                break;
            }
            continue;
        }
        tally.message(got as u64);
        last = got as usize;
        if VERIFY {
            verify_number(lane, request.as_ref(), lane.message)?;
        }
        write_number(answer.as_mut(), read_number(request.as_ref()));
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
    let verified = if last > 0 { verify_number(lane, request.as_ref(), lane.message)? } else { 0 };
    Ok(LaneResult { verified, ..LaneResult::default() })
}

// An answer that the queue of this end rejected is lost.
#[inline(always)]
pub(super) fn answered(lane: &Lane, returned: isize, tally: &mut Tally) -> Result<LoopStep> {
    if returned > 0 {
        tally.call();
        tally.transaction();
    } else if sys::errno() == libc::ENOBUFS {
        tally.no_buffers();
    } else {
        return lane.trouble(Call::SEND, returned);
    }
    Ok(LoopStep::Again)
}
