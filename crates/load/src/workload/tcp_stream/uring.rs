//! Writes through a ring, many for each system call.

use io_uring::{opcode, squeue};

use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET};
use crate::message::Buffer;
use crate::workload::uring::{Ring, SOCKET, errno, push};

/// The most bytes of one system call, in whole messages.
const BATCH: usize = 256 << 10;
/// The most messages of one system call.
const MESSAGES: usize = 64;

pub(super) fn send(lane: &Lane) -> Result<LaneResult> {
    let message = lane.message;
    // Declared before the ring, so that it is dropped after it.
    let buffer = Buffer::pattern(message);
    let count = (BATCH / message).clamp(1, MESSAGES);
    let mut ring = Ring::open(lane, count, 2 * MESSAGES)?;
    let request = |from: usize| request(buffer.start().wrapping_add(from), message - from);
    let (phase, mut tally) = (lane.phase(), lane.tally());
    // The place in the message.
    let mut at = lane.begun();
    lane.ready();
    while phase.load() < QUIET {
        // Each starts after the one before is complete: a short write ends the chain, because it
        // would tear the stream.
        let mut queue = ring.queue();
        for number in 0..count {
            let request = request(if number == 0 { at } else { 0 });
            let link = if number + 1 < count { squeue::Flags::IO_LINK } else { squeue::Flags::empty() };
            // SAFETY: the buffer is dropped after the ring, and never changes. No request is under
            // way.
            unsafe { push(&mut queue, &request.flags(link)) };
        }
        drop(queue);
        let (mut open, mut trouble) = (count, 0);
        while open > 0 {
            let next = ring.enter(lane, open)?;
            tally.call();
            let mut bytes = 0;
            for completion in ring.completed() {
                let result = completion.result();
                open -= 1;
                bytes += result.max(0) as usize;
                // The errors of the failed one's successors follow from it.
                if errno(result) != 0 && errno(result) != libc::ECANCELED {
                    trouble = errno(result);
                }
            }
            at = (at + bytes) % message;
            tally.arrived_bytes(bytes as u64);
            if next == LoopStep::End && phase.load() >= ABORT {
                break;
            }
        }
        if trouble != 0 && lane.judge(Call::Send, trouble)? == LoopStep::End {
            break;
        }
    }
    Ok(LaneResult::default())
}

fn request(start: *const u8, len: usize) -> squeue::Entry {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    // Without it a send that fills the buffer is complete, and the next one could overtake its
    // rest.
    opcode::Send::new(SOCKET, start, len).flags(libc::MSG_WAITALL).build()
}
