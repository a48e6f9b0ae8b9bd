//! Sends with `MSG_ZEROCOPY` from the program's own pages, numbered per socket from 0. The error
//! queue reports finished ones (Linux's Documentation/networking/msg_zerocopy.rst); unread entries
//! merge, so they are read only when room is needed.

use std::os::fd::RawFd;

use crate::error::{Context, Error, Result};
use crate::lane::{ABORT, Call, Lane, LoopStep, QUIET, Zerocopy};
use crate::socket::{self, stall};
use crate::sys::{self, Notice};

const MOST: u32 = 64;
// In ns; then the phase is checked.
const PATIENCE: u64 = 100_000_000;
// In ns, after the flow has ended.
const LAST: u64 = 1_000_000_000;

pub(crate) struct LentPages {
    fd: RawFd,
    next: u32,
    pending: u32,
    zerocopy: Zerocopy,
}

impl LentPages {
    pub(crate) fn new(lane: &Lane) -> Result<Self> {
        sys::set_option(lane.fd, libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1)
            .or_setup("setsockopt SO_ZEROCOPY", socket::flow(lane.flow))?;
        let (next, pending) = lane.lent.get();
        Ok(Self { fd: lane.fd, next, pending, zerocopy: Zerocopy::default() })
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.pending >= MOST
    }

    #[inline(always)]
    pub(crate) fn sent(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.pending += 1;
    }

    /// After `ENOBUFS`: whether the queue rejected the send; else the kernel holds too many pages.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_refused_by_queue(&mut self, lane: &Lane) -> Result<bool> {
        let number = self.next;
        while let Some(notice) = sys::read_entry(self.fd) {
            self.note(lane, notice)?;
        }
        // A send that the queue rejected has used its number and returned its pages by now.
        Ok(self.next != number)
    }

    /// After a send that failed because of memory. Fails if the kernel holds no pages: then not
    /// even one such send fits this process's limits.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_some(&mut self, lane: &Lane) -> Result<LoopStep> {
        if self.pending == 0 {
            if lane.phase().load() >= QUIET {
                return Ok(LoopStep::End);
            }
            let what = format!(
                "RLIMIT_MEMLOCK or net.core.optmem_max too small for MSG_ZEROCOPY of {} bytes: raise the limit of locked \
                 memory (`ulimit -l`) and the sysctl net.core.optmem_max, or use a smaller `message` or another sender",
                lane.message
            );
            return Err(Error::flow(lane.flow, what));
        }
        let pending = self.pending;
        self.wait(lane, |lent| lent.pending < pending)
    }

    /// Reads an entry, to be called when there may be many.
    #[cold]
    #[inline(never)]
    pub(crate) fn tidy(&mut self, lane: &Lane) -> Result<()> {
        sys::read_entry(self.fd).map_or(Ok(()), |notice| self.note(lane, notice).map(drop))
    }

    pub(crate) fn end(mut self, lane: &Lane) -> Zerocopy {
        let deadline = sys::now() + LAST;
        while self.pending > 0 && sys::now() < deadline && lane.phase().load() < ABORT {
            match sys::read_entry(self.fd) {
                // An error of the path is no failure after the flow has ended.
                Some(notice) => drop(self.note(lane, notice)),
                None => self.sleep(),
            }
        }
        lane.lent.set((self.next, self.pending));
        self.zerocopy
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn wait(&mut self, lane: &Lane, done: impl Fn(&Self) -> bool) -> Result<LoopStep> {
        let deadline = sys::now() + stall(lane.flows()).as_nanos() as u64;
        while !done(self) {
            if let Some(notice) = sys::read_entry(self.fd) {
                if self.note(lane, notice)? == LoopStep::End {
                    return Ok(LoopStep::End);
                }
            } else if lane.phase().load() >= QUIET {
                return Ok(LoopStep::End);
            } else if sys::now() > deadline {
                return Err(lane.stalled("acknowledged nothing"));
            } else {
                self.sleep();
            }
        }
        Ok(LoopStep::Again)
    }

    // An entry of the error queue shows with any requested events.
    fn sleep(&self) {
        sys::wait_for(self.fd, 0, sys::now() + PATIENCE);
    }

    fn note(&mut self, lane: &Lane, notice: Notice) -> Result<LoopStep> {
        match notice {
            Notice::Failed(errno) => return lane.judge(Call::SEND, errno),
            Notice::Done { first, last, copied } => self.done(first, last, copied),
        }
        Ok(LoopStep::Again)
    }

    fn done(&mut self, first: u32, last: u32, copied: bool) {
        let count = last.wrapping_sub(first).wrapping_add(1);
        if last == self.next {
            // It failed after it got its number.
            self.next = self.next.wrapping_add(1);
            self.pending += 1;
        }
        self.pending = self.pending.saturating_sub(count);
        self.zerocopy.completed += u64::from(count);
        self.zerocopy.copied += if copied { count.into() } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lent() -> LentPages {
        LentPages { fd: -1, next: u32::MAX - 1, pending: 0, zerocopy: Zerocopy::default() }
    }

    #[test]
    fn sends_end_in_any_order_and_numbers_wrap() {
        let mut lent = lent();
        let first = lent.next;
        for _ in 0..MOST {
            assert!(!lent.is_full());
            lent.sent();
        }
        assert!(lent.is_full());
        lent.done(first.wrapping_add(1), first.wrapping_add(3), true);
        assert!(!lent.is_full());
        lent.done(first, first, false);
        assert_eq!(lent.zerocopy, Zerocopy { completed: 4, copied: 3 });
        assert_eq!(lent.pending, MOST - 4);
    }

    #[test]
    fn a_send_that_failed_after_it_was_numbered_uses_up_its_number() {
        let mut lent = lent();
        lent.sent();
        let failed = lent.next;
        lent.done(failed.wrapping_sub(1), failed, true);
        assert_eq!((lent.next, lent.pending), (failed.wrapping_add(1), 0));
    }

    proptest! {
        #[test]
        fn whatever_ranges_are_told_are_taken(ranges in prop::collection::vec(any::<(u32, u32, bool)>(), 0..50)) {
            let mut lent = lent();
            for (first, last, copied) in ranges {
                lent.done(first, last, copied);
                lent.sent();
            }
        }
    }
}
