//! A request and its answer over TCP, one in flight.

use crate::buffer::Buffer;
use crate::counts::Tally;
use crate::error::Result;
use crate::lane::{End, Lane, Next};
use crate::latency::Recorder;
use crate::phase::{ABORT, QUIET, WINDOW};
use crate::sys;

/// The transmitter's loop: asks, waits for the whole answer, reads the clock once.
pub(crate) fn send(lane: &Lane) -> Result<End> {
    let request = Buffer::pattern(lane.message);
    let mut answer = Buffer::room(lane.response);
    let mut latencies = Recorder::new(lane.flows());
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut answered = false;
    lane.ready();
    let mut start = sys::now();
    let mut phase_at_start = phase.load();
    while phase_at_start < QUIET {
        if send_whole(lane, request.as_ref(), &mut tally, true)? == Next::End
            || receive_whole(lane, answer.as_mut(), &mut tally, false)? == Next::End
        {
            break;
        }
        tally.transaction();
        answered = true;
        let end = sys::now();
        let phase_at_end = phase.load();
        if phase_at_start == WINDOW && phase_at_end == WINDOW {
            latencies.record(end - start);
        }
        (start, phase_at_start) = (end, phase_at_end);
    }
    let verified = if answered { lane.verify(answer.as_ref(), 0, lane.response)? } else { 0 };
    Ok(End { latencies: Some(latencies), verified, ..End::default() })
}

/// The receiver's loop: takes a whole request, answers it.
pub(crate) fn receive(lane: &Lane) -> Result<End> {
    let mut request = Buffer::room(lane.message);
    let answer = Buffer::pattern(lane.response);
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut asked = false;
    lane.ready();
    while phase.load() < ABORT {
        if receive_whole(lane, request.as_mut(), &mut tally, true)? == Next::End {
            break;
        }
        asked = true;
        if send_whole(lane, answer.as_ref(), &mut tally, false)? == Next::End {
            break;
        }
        tally.transaction();
    }
    let verified = if asked { lane.verify(request.as_ref(), 0, lane.message)? } else { 0 };
    Ok(End { verified, ..End::default() })
}

/// Sends all of `bytes`; `own` if they are what this end counts as its messages.
#[inline(always)]
fn send_whole(lane: &Lane, bytes: &[u8], tally: &mut Tally, own: bool) -> Result<Next> {
    let sent = sys::send(lane.fd, bytes);
    if sent == bytes.len() as isize {
        whole(tally, bytes.len(), own);
        return Ok(Next::Again);
    }
    piecewise(lane, "send", sent, bytes.len(), tally, own, |done| sys::send(lane.fd, &bytes[done..]))
}

/// Receives until `room` is full; `own` if that is what this end counts as its messages.
#[inline(always)]
fn receive_whole(lane: &Lane, room: &mut [u8], tally: &mut Tally, own: bool) -> Result<Next> {
    let got = sys::receive(lane.fd, room, libc::MSG_WAITALL);
    if got == room.len() as isize {
        whole(tally, room.len(), own);
        return Ok(Next::Again);
    }
    let len = room.len();
    piecewise(lane, "recv", got, len, tally, own, |done| {
        sys::receive(lane.fd, &mut room[done..], libc::MSG_WAITALL)
    })
}

#[inline(always)]
fn whole(tally: &mut Tally, bytes: usize, own: bool) {
    if own { tally.message(bytes as u64) } else { tally.call() }
}

/// Goes on after a call that moved only a part, or nothing.
#[cold]
#[inline(never)]
fn piecewise(
    lane: &Lane,
    call: &'static str,
    first: isize,
    len: usize,
    tally: &mut Tally,
    own: bool,
    mut go_on: impl FnMut(usize) -> isize,
) -> Result<Next> {
    let (mut done, mut moved) = (0, first);
    loop {
        if moved <= 0 {
            if lane.trouble(call, moved)? == Next::End {
                return Ok(Next::End);
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
            return Ok(Next::End);
        }
        moved = go_on(done);
    }
    if own {
        tally.completed();
    }
    Ok(Next::Again)
}
