//! A request and its answer over UDP, one in flight, over a path that may lose either.
//!
//! The first eight bytes of a request, or as many as both directions have room for, carry its number, which the answer
//! repeats: an answer that comes after its transaction was given up is not taken for the next one's. Of one byte
//! there are only 256 numbers, so the socket is emptied after a loss as well.

use crate::buffer::{Buffer, first_damage};
use crate::counts::Tally;
use crate::drain::drain;
use crate::error::Result;
use crate::lane::{End, Lane, Next};
use crate::latency::Recorder;
use crate::phase::{QUIET, STOP, WINDOW};
use crate::socket::{ANSWER, stall};
use crate::sys;

const NUMBER: usize = 8;

/// The transmitter's loop: asks, waits for the answer to just that, reads the clock once.
pub(crate) fn send(lane: &Lane) -> Result<End> {
    let mut request = Buffer::pattern(lane.message.max(NUMBER));
    let mut answer = Buffer::room((lane.response + 1).max(NUMBER));
    let mask = number_mask(lane.message.min(lane.response));
    let mut latencies = Recorder::new(lane.flows());
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let (mut number, mut lost_in_a_row) = (0u64, 0);
    let mut answered = false;
    lane.ready();
    let mut start = sys::now();
    let mut phase_at_start = phase.load();
    while phase_at_start < QUIET {
        set_number(request.as_mut(), number);
        let reply = ask(lane, &request.as_ref()[..lane.message], &mut tally)?;
        let reply = match reply {
            Reply::Came => await_answer(lane, answer.as_mut(), number, mask, &mut tally)?,
            other => other,
        };
        match reply {
            Reply::Came => {
                tally.transaction();
                answered = true;
                lost_in_a_row = 0;
                let end = sys::now();
                let phase_at_end = phase.load();
                if phase_at_start == WINDOW && phase_at_end == WINDOW {
                    latencies.record(end - start);
                }
                (start, phase_at_start) = (end, phase_at_end);
            }
            Reply::Lost => {
                tally.timeout();
                lost_in_a_row += 1;
                if ANSWER * lost_in_a_row >= stall(lane.flows()) && phase.load() < QUIET {
                    return Err(lane.stalled("answered nothing"));
                }
                discard(lane, answer.as_mut(), &mut tally);
                (start, phase_at_start) = (sys::now(), phase.load());
            }
            Reply::End => break,
        }
        number = number.wrapping_add(1);
    }
    let verified = if answered { verify(lane, answer.as_ref(), lane.response)? } else { 0 };
    Ok(End { latencies: Some(latencies), verified, ..End::default() })
}

/// The receiver's loop: takes a request, answers it with its number.
pub(crate) fn receive(lane: &Lane) -> Result<End> {
    let mut request = Buffer::room((lane.message + 1).max(NUMBER));
    let mut answer = Buffer::pattern(lane.response.max(NUMBER));
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0;
    lane.ready();
    while phase.load() < STOP {
        let got = sys::receive(fd, request.as_mut(), 0);
        if got <= 0 {
            if got < 0 && lane.trouble("recv", got)? == Next::End {
                break;
            }
            continue;
        }
        tally.message(got as u64);
        last = got as usize;
        set_number(answer.as_mut(), number_of(request.as_ref()));
        let sent = sys::send(fd, &answer.as_ref()[..lane.response]);
        if sent > 0 {
            tally.call();
            tally.transaction();
        } else if sys::errno() == libc::ENOBUFS {
            tally.no_buffers();
        } else if lane.trouble("send", sent)? == Next::End {
            break;
        }
    }
    last = drain(lane, request.as_mut(), &mut tally, last);
    let verified = if last > 0 { verify(lane, request.as_ref(), lane.message)? } else { 0 };
    Ok(End { verified, ..End::default() })
}

enum Reply {
    Came,
    Lost,
    End,
}

#[inline(always)]
fn ask(lane: &Lane, request: &[u8], tally: &mut Tally) -> Result<Reply> {
    loop {
        let sent = sys::send(lane.fd, request);
        if sent > 0 {
            tally.message(sent as u64);
            return Ok(Reply::Came);
        }
        if sys::errno() == libc::ENOBUFS {
            // This end's own queue is full: the request was never under way, so it is not lost either.
            tally.no_buffers();
            if lane.phase().load() >= QUIET {
                return Ok(Reply::End);
            }
        } else if lane.trouble("send", sent)? == Next::End {
            return Ok(Reply::End);
        }
    }
}

#[inline(always)]
fn await_answer(lane: &Lane, answer: &mut [u8], number: u64, mask: u64, tally: &mut Tally) -> Result<Reply> {
    loop {
        let got = sys::receive(lane.fd, answer, 0);
        tally.call();
        if got == lane.response as isize && (number_of(answer) ^ number) & mask == 0 {
            return Ok(Reply::Came);
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
fn no_answer(lane: &Lane, got: isize) -> Result<Option<Reply>> {
    if lane.phase().load() >= QUIET {
        return Ok(Some(Reply::End));
    }
    if got < 0 && sys::errno() == libc::EAGAIN {
        return Ok(Some(Reply::Lost));
    }
    if got < 0 && lane.trouble("recv", got)? == Next::End {
        return Ok(Some(Reply::End));
    }
    Ok(None)
}

/// Throws away what came late.
#[cold]
fn discard(lane: &Lane, room: &mut [u8], tally: &mut Tally) {
    while sys::receive(lane.fd, room, libc::MSG_DONTWAIT) > 0 {
        tally.late();
    }
}

fn number_mask(bytes: usize) -> u64 {
    if bytes >= NUMBER { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

#[inline(always)]
fn set_number(message: &mut [u8], number: u64) {
    if let Some(place) = message.first_chunk_mut::<NUMBER>() {
        *place = number.to_le_bytes();
    }
}

#[inline(always)]
fn number_of(message: &[u8]) -> u64 {
    message.first_chunk::<NUMBER>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Checks what follows the number.
fn verify(lane: &Lane, received: &[u8], len: usize) -> Result<u64> {
    let rest = received.get(NUMBER..len).unwrap_or_default();
    match first_damage(rest, NUMBER as u64, len) {
        None => Ok(rest.len() as u64),
        Some(at) => Err(lane.damaged(NUMBER + at, len)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_cut_to_what_fits() {
        let mut message = [0xff; 16];
        set_number(&mut message, 0x0102_0304_0506_0708);
        assert_eq!(message[..9], [8, 7, 6, 5, 4, 3, 2, 1, 0xff]);
        assert_eq!(number_of(&message), 0x0102_0304_0506_0708);
        assert_eq!(number_mask(1), 0xff);
        assert_eq!(number_mask(3), 0xff_ffff);
        assert_eq!(number_mask(8), u64::MAX);
        assert_eq!(number_mask(1472), u64::MAX);
    }
}
