//! Writes and reads through a ring, many for each system call.

use io_uring::{cqueue, opcode, squeue};

use super::content::Content;
use super::read_size::read_size;
use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, Zerocopy};
use crate::message::Buffer;
use crate::sys;
use crate::workload::uring::{
    Incoming, LAST, PATIENCE, REPORT_USAGE, Ring, SOCKET, Size, errno, push, was_copied,
};

/// The most bytes of one system call, in whole messages.
const BATCH: usize = 256 << 10;
/// The most messages of one system call.
const MESSAGES: usize = 64;
/// The most sends whose pages the kernel may hold.
const LENT: isize = 512;
/// The buffers of a receiver, and their size in units of the others' reads.
const BUFFERS: u16 = 16;
const ROOMS: usize = 4;

pub(super) fn send(lane: &Lane, zerocopy: bool) -> Result<LaneResult> {
    let message = lane.message;
    // Declared before the ring, so that it is dropped after it.
    let buffer = Buffer::pattern(message);
    let count = (BATCH / message).clamp(1, MESSAGES);
    let mut ring = Ring::open(lane, count, 2 * (LENT as usize + MESSAGES))?;
    if zerocopy {
        // SAFETY: the buffer is dropped after the ring.
        unsafe { ring.register_memory(lane, buffer.start(), message)? };
    }
    let request = |from: usize| request(buffer.start().wrapping_add(from), message - from, zerocopy);
    let (phase, mut tally) = (lane.phase(), lane.tally());
    let mut account = Zerocopy::default();
    // Sends whose pages the kernel holds, which it may report in either order; and the place in the
    // message.
    let (mut lent, mut at) = (0isize, lane.begun());
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
                let (result, flags) = (completion.result(), completion.flags());
                if cqueue::notif(flags) {
                    lent -= 1;
                    account.done(1, was_copied(result));
                    continue;
                }
                open -= 1;
                lent += isize::from(cqueue::more(flags));
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
        while lent > LENT && phase.load() < QUIET {
            give_back(lane, &mut ring, &mut lent, &mut account)?;
        }
    }
    // The rest are returned when the other end has received everything; a timeout is no error.
    let deadline = sys::now() + LAST;
    while lent > 0 && phase.load() < ABORT && sys::now() < deadline {
        give_back(lane, &mut ring, &mut lent, &mut account)?;
    }
    Ok(LaneResult { zerocopy: zerocopy.then_some(account), ..LaneResult::default() })
}

/// Waits until the kernel has returned pages.
#[cold]
fn give_back(lane: &Lane, ring: &mut Ring, lent: &mut isize, account: &mut Zerocopy) -> Result<()> {
    ring.enter_for(lane, 1, PATIENCE)?;
    for completion in ring.completed() {
        *lent -= 1;
        account.done(1, was_copied(completion.result()));
    }
    Ok(())
}

fn request(start: *const u8, len: usize, zerocopy: bool) -> squeue::Entry {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    // Without it a send that fills the buffer is complete, and the next one could overtake its
    // rest.
    let flags = libc::MSG_WAITALL;
    if zerocopy {
        opcode::SendZc::new(SOCKET, start, len).flags(flags).buf_index(Some(0)).zc_flags(REPORT_USAGE).build()
    } else {
        opcode::Send::new(SOCKET, start, len).flags(flags).build()
    }
}

/// One multishot request.
pub(super) fn receive(lane: &Lane, mut content: impl Content) -> Result<LaneResult> {
    let bytes = read_size(lane.traffic.lanes()) as usize * ROOMS / usize::from(BUFFERS);
    let mut incoming = Incoming::open(lane, Size { buffers: BUFFERS, bytes })?;
    let mut tally = lane.tally();
    lane.ready();
    let last = incoming.run(lane, &mut tally, |tally, bytes| {
        tally.arrived_bytes(bytes.len() as u64);
        content.bytes(lane, bytes)
    })?;
    let verified = content.end(lane, last, tally.bytes)?;
    Ok(LaneResult { verified, ..LaneResult::default() })
}
