//! Data received by a ring: one multishot request, into provided buffers.

use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use io_uring::{cqueue, opcode};

use super::{Ring, SOCKET, errno, push};
use crate::error::{Context, Result};
use crate::lane::{ABORT, Call, Lane, LoopStep, STOP, Tally};
use crate::message::Buffer;
use crate::socket;

const GROUP: u16 = 0;

/// Marks the completion of a request that watches for the socket's shutdown.
const WATCH: u64 = 1;

/// The number of buffers, a power of two, and the bytes of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) buffers: u16,
    pub(crate) bytes: usize,
}

/// A flow's ring and its buffers.
pub(crate) struct Incoming {
    // The ring is dropped first; after that nothing writes to the buffers.
    ring: Ring,
    buffers: Buffers,
}

/// Buffers, and a ring of those that the kernel may fill, in order.
struct Buffers {
    room: Buffer,
    provided: Buffer,
    size: Size,
    tail: u16,
}

impl Incoming {
    pub(crate) fn open(lane: &Lane, size: Size) -> Result<Self> {
        let ring = Ring::open(lane, 2, 2 * usize::from(size.buffers))?;
        let mut buffers = Buffers::new(size);
        let what = "io_uring_register of buffers";
        // SAFETY: the entries lie on whole pages that are dropped after the ring.
        unsafe {
            let entries = buffers.provided.start() as u64;
            ring.submitter().register_buf_ring_with_flags(entries, size.buffers, GROUP, 0)
        }
        .or_setup(what, socket::flow(lane.flow))?;
        for buffer in 0..size.buffers {
            buffers.provide(buffer);
        }
        buffers.publish();
        Ok(Self { ring, buffers })
    }

    /// Calls `take` with all received data, until the socket is shut or the stream has ended.
    /// Returns the last received data in place.
    pub(crate) fn run(
        &mut self,
        lane: &Lane,
        tally: &mut Tally,
        mut take: impl FnMut(&mut Tally, &[u8]) -> Result<()>,
    ) -> Result<&[u8]> {
        let phase = lane.phase();
        let mut last = 0..0;
        // Whether the request is active, and whether it must end.
        let (mut armed, mut shut) = (false, false);
        if lane.traffic.kind.is_udp() {
            self.watch();
        }
        loop {
            if phase.load() >= ABORT {
                if !lane.control.loop_switch.is_held() {
                    // The place may hold newer data than `take` has seen.
                    return Ok(&[]);
                }
                // Another reader goes on: what the ring has taken from the socket is still taken.
                if !std::mem::replace(&mut shut, true) {
                    self.ring.cancel_all();
                }
            }
            if !armed {
                if shut {
                    return Ok(&self.buffers.room.as_ref()[last]);
                }
                self.arm();
                armed = true;
            }
            self.ring.enter(lane, 1)?;
            tally.call();
            let mut stopped = None;
            let mut watched = false;
            for completion in self.ring.completed() {
                let (result, flags) = (completion.result(), completion.flags());
                if completion.user_data() == WATCH {
                    watched = true;
                    continue;
                }
                if let Some(buffer) = cqueue::buffer_select(flags) {
                    let from = usize::from(buffer) * self.buffers.size.bytes;
                    let filled = from..from + result.max(0) as usize;
                    if !filled.is_empty() {
                        take(tally, &self.buffers.room.as_ref()[filled.clone()])?;
                        last = filled;
                    }
                    self.buffers.provide(buffer);
                }
                if !cqueue::more(flags) {
                    stopped = Some(result);
                }
            }
            self.buffers.publish();
            if watched {
                shut = phase.load() >= STOP;
                if shut { self.ring.cancel_all() } else { self.watch() }
            }
            if let Some(result) = stopped {
                armed = false;
                shut |= self.is_over(lane, result)? == LoopStep::End;
            }
        }
    }

    /// Requests a report of the socket's shutdown, which does not end a receive request of a
    /// datagram socket.
    fn watch(&mut self) {
        let request = opcode::PollAdd::new(SOCKET, libc::POLLRDHUP as u32).build().user_data(WATCH);
        // SAFETY: it points to nothing, and the one before it has ended.
        unsafe { push(&mut self.ring.queue(), &request) };
    }

    /// Judges the completion that ended the request.
    #[cold]
    fn is_over(&self, lane: &Lane, result: i32) -> Result<LoopStep> {
        match errno(result) {
            // The stream's end; too soon it is an error.
            0 if result == 0 && !lane.traffic.kind.is_udp() => lane.trouble(Call::Recv, 0),
            // All buffers were full, and are free again; the kernel requires a new request; or this
            // end has cancelled it.
            0 | libc::ENOBUFS | libc::ECANCELED => Ok(LoopStep::Again),
            errno => lane.judge(Call::Recv, errno),
        }
    }

    fn arm(&mut self) {
        let request = opcode::RecvMulti::new(SOCKET, GROUP).build();
        // SAFETY: the buffers of the group are dropped after the ring. It is the only request, and
        // the one before it has ended.
        unsafe { push(&mut self.ring.queue(), &request) };
    }
}

impl Buffers {
    fn new(size: Size) -> Self {
        let buffers = usize::from(size.buffers);
        let mut provided = Buffer::room(buffers * size_of::<BufRingEntry>());
        provided.as_mut().fill(0);
        Self { room: Buffer::room(buffers * size.bytes), provided, size, tail: 0 }
    }

    /// Adds a buffer for the kernel, effective after [`Buffers::publish`].
    #[inline(always)]
    fn provide(&mut self, buffer: u16) {
        let place = usize::from(self.tail & (self.size.buffers - 1));
        let start = self.room.start().wrapping_add(usize::from(buffer) * self.size.bytes);
        // SAFETY: the place is one of the entries; the kernel reads none beyond the tail.
        let entry = unsafe { &mut *self.provided.start().cast::<BufRingEntry>().add(place) };
        entry.set_addr(start as u64);
        entry.set_len(self.size.bytes as u32);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline(always)]
    fn publish(&mut self) {
        // SAFETY: the tail is a part of the first entry, aligned to its size; nothing else here
        // refers to it, and the kernel reads it as an atomic number.
        let tail = unsafe { &*BufRingEntry::tail(self.provided.start().cast()).cast::<AtomicU16>() };
        tail.store(self.tail, Ordering::Release);
    }
}
