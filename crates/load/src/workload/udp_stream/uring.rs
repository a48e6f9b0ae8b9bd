//! Datagrams sent through a ring, many for each system call.

use io_uring::{opcode, squeue};

use super::stamp::Stamp;
use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, Tally};
use crate::message::Buffer;
use crate::sys::Target;
use crate::workload::pace::Pace;
use crate::workload::uring::{Ring, SOCKET, errno, push};

/// The most datagrams under way. More have no measurable gain.
const DEPTH: usize = 64;
/// Completions that a call waits for: meanwhile the other half keeps the socket busy.
const WANT: usize = DEPTH / 2;

struct Requests {
    ring: Ring,
    requests: Vec<squeue::Entry>,
    idle: Vec<usize>,
    /// Slots whose datagram the queue rejected: it keeps its number, and is sent again.
    refused: Vec<bool>,
}

pub(super) fn send<S: Stamp>(lane: &Lane, mut stamp: S, mut pace: impl Pace) -> Result<LaneResult> {
    let size = lane.message;
    // Numbered datagrams must not change while they are under way. Declared before the ring, so
    // that it is dropped after it.
    let mut buffer = Buffer::messages(size, if S::WRITES { DEPTH } else { 1 });
    let destination = lane.destination();
    let place = |number: usize| if S::WRITES { number * size } else { 0 };
    let ring = Ring::open(lane, DEPTH, 2 * DEPTH)?;
    let to = destination.target();
    let request = |number: usize| {
        let start = buffer.start().wrapping_add(place(number)).cast_const();
        request(start, size, to).user_data(number as u64)
    };
    let requests = (0..DEPTH).map(request).collect();
    let mut sends = Requests { ring, requests, idle: (0..DEPTH).collect(), refused: vec![false; DEPTH] };
    let (phase, mut tally) = (lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET && pace.wait((sends.idle.len() * size) as u64, phase) {
        let mut queue = sends.ring.queue();
        for number in sends.idle.drain(..) {
            if S::WRITES && !std::mem::take(&mut sends.refused[number]) {
                stamp.stamp(&mut buffer.as_mut()[place(number)..place(number) + size], size);
                stamp.advance(1);
            }
            // SAFETY: the memory of requests is dropped after the ring; this one is not under way.
            unsafe { push(&mut queue, &sends.requests[number]) };
        }
        drop(queue);
        let next = sends.ring.enter(lane, WANT)?;
        if sends.account(lane, &mut tally)? == LoopStep::End || next == LoopStep::End {
            break;
        }
    }
    while sends.idle.len() < DEPTH && phase.load() < ABORT {
        sends.ring.enter_shortly(lane, DEPTH - sends.idle.len())?;
        // An error after the end is no failure.
        sends.account(lane, &mut tally)?;
    }
    Ok(LaneResult::default())
}

fn request(start: *const u8, size: usize, to: Target<'_>) -> squeue::Entry {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    opcode::Send::new(SOCKET, start, size).dest_addr(to.address).dest_addr_len(to.len).build()
}

impl Requests {
    #[inline(always)]
    fn account(&mut self, lane: &Lane, tally: &mut Tally) -> Result<LoopStep> {
        tally.call();
        let (mut sent, mut trouble) = (0, 0);
        for completion in self.ring.completed() {
            let (number, result) = (completion.user_data() as usize, completion.result());
            match errno(result) {
                0 => sent += 1,
                libc::ENOBUFS => {
                    tally.refused(1);
                    self.refused[number] = true;
                }
                other => trouble = other,
            }
            self.idle.push(number);
        }
        tally.arrived(sent, sent * lane.message as u64);
        if trouble == 0 { Ok(LoopStep::Again) } else { lane.judge(Call::Send, trouble) }
    }
}
