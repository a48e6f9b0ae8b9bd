//! Datagrams through a ring, many for each system call.

use io_uring::{cqueue, opcode, squeue};

use super::check::Check;
use super::receive::{One, drain};
use super::stamp::Stamp;
use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, Tally, Zerocopy};
use crate::message::Buffer;
use crate::sys::{self, Target};
use crate::workload::pace::Pace;
use crate::workload::uring::{
    Incoming, LAST, PATIENCE, REPORT_USAGE, Ring, SOCKET, Size, errno, push, was_copied,
};

/// The most datagrams under way. More have no measurable gain.
const DEPTH: usize = 64;
/// Completions that a call waits for: meanwhile the other half keeps the socket busy.
const WANT: usize = DEPTH / 2;
/// The memory of a receiver's buffers, and their number.
const ROOM: usize = 1 << 20;
const BUFFERS: std::ops::RangeInclusive<usize> = 8..=256;

struct Requests {
    ring: Ring,
    requests: Vec<squeue::Entry>,
    idle: Vec<usize>,
    /// Slots whose datagram the queue rejected: it keeps its number, and is sent again.
    refused: Vec<bool>,
    zerocopy: Zerocopy,
}

/// `IORING_OP_SEND`, or without copying `IORING_OP_SEND_ZC`.
pub(super) fn send<const ZEROCOPY: bool, S: Stamp, P: Pace>(
    lane: &Lane,
    mut stamp: S,
    mut pace: P,
) -> Result<LaneResult> {
    let size = lane.message;
    // Numbered datagrams must not change while they are under way. Declared before the ring, so
    // that it is dropped after it.
    let mut buffer = Buffer::messages(size, if S::WRITES { DEPTH } else { 1 });
    let destination = lane.destination();
    let place = |number: usize| if S::WRITES { number * size } else { 0 };
    let ring = Ring::open(lane, DEPTH, 4 * DEPTH)?;
    if ZEROCOPY {
        // SAFETY: the buffer is dropped after the ring.
        unsafe { ring.register_memory(lane, buffer.start(), buffer.as_ref().len())? };
    }
    let to = destination.target();
    let request = |number: usize| {
        let start = buffer.start().wrapping_add(place(number)).cast_const();
        request(start, size, to, ZEROCOPY).user_data(number as u64)
    };
    let requests = (0..DEPTH).map(request).collect();
    let mut sends = Requests {
        ring,
        requests,
        idle: (0..DEPTH).collect(),
        refused: vec![false; DEPTH],
        zerocopy: Zerocopy::default(),
    };
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
        if sends.account::<ZEROCOPY>(lane, &mut tally)? == LoopStep::End || next == LoopStep::End {
            break;
        }
    }
    // A device that does not return pages in time is no error.
    let deadline = if ZEROCOPY { sys::now() + LAST } else { u64::MAX };
    while sends.idle.len() < DEPTH && phase.load() < ABORT && sys::now() < deadline {
        sends.ring.enter_for(lane, DEPTH - sends.idle.len(), PATIENCE)?;
        // An error after the end is no failure.
        sends.account::<ZEROCOPY>(lane, &mut tally)?;
    }
    Ok(LaneResult { zerocopy: ZEROCOPY.then_some(sends.zerocopy), ..LaneResult::default() })
}

fn request(start: *const u8, size: usize, to: Target<'_>, zerocopy: bool) -> squeue::Entry {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    if zerocopy {
        opcode::SendZc::new(SOCKET, start, size)
            .buf_index(Some(0))
            .zc_flags(REPORT_USAGE)
            .dest_addr(to.address)
            .dest_addr_len(to.len)
            .build()
    } else {
        opcode::Send::new(SOCKET, start, size).dest_addr(to.address).dest_addr_len(to.len).build()
    }
}

impl Requests {
    #[inline(always)]
    fn account<const ZEROCOPY: bool>(&mut self, lane: &Lane, tally: &mut Tally) -> Result<LoopStep> {
        tally.call();
        let (mut sent, mut troubles) = (0, 0);
        for completion in self.ring.completed() {
            let (number, result, flags) =
                (completion.user_data() as usize, completion.result(), completion.flags());
            if ZEROCOPY && cqueue::notif(flags) {
                self.zerocopy.done(1, was_copied(result));
                self.idle.push(number);
                continue;
            }
            match errno(result) {
                0 => sent += 1,
                libc::ENOBUFS => {
                    tally.refused(1);
                    self.refused[number] = true;
                }
                other => troubles = other,
            }
            if !ZEROCOPY || !cqueue::more(flags) {
                self.idle.push(number);
            }
        }
        tally.arrived(sent, sent * lane.message as u64);
        if troubles == 0 { Ok(LoopStep::Again) } else { lane.judge(Call::Send, troubles) }
    }
}

/// One multishot request.
pub(super) fn receive(lane: &Lane, check: &mut impl Check) -> Result<Vec<u8>> {
    // One byte more than a message, to detect a larger one.
    let bytes = lane.message + 1;
    let buffers = (ROOM / bytes).clamp(*BUFFERS.start(), *BUFFERS.end());
    let buffers = if buffers.is_power_of_two() { buffers } else { buffers.next_power_of_two() / 2 };
    let mut incoming = Incoming::open(lane, Size { buffers: buffers as u16, bytes })?;
    let mut tally = lane.tally();
    lane.ready();
    let last = incoming.run(lane, &mut tally, |tally, datagram| {
        tally.arrived(1, datagram.len() as u64);
        check.datagram(lane, datagram)
    })?;
    let mut room = Buffer::room(bytes);
    room.as_mut()[..last.len()].copy_from_slice(last);
    let last = 0..last.len();
    drop(incoming);
    drain(lane, One(room), check, tally, last)
}
