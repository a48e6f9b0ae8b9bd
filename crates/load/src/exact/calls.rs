//! The two system calls of the work, plain or with the clock read around them. The work is compiled once for each.

use std::os::fd::RawFd;

use crate::sys;

/// How messages get into the kernel and out of it. Both give what the kernel gives: bytes, or -1 with [`sys::errno`] set.
pub(super) trait Calls {
    /// Whether the clock is read around each call.
    const BRACKETS: bool;

    fn send(&mut self, fd: RawFd, bytes: &[u8], flags: libc::c_int) -> isize;

    fn receive(&mut self, fd: RawFd, room: &mut [u8]) -> isize;
}

/// Nothing around them.
pub(super) struct Plain;

impl Calls for Plain {
    const BRACKETS: bool = false;

    #[inline(always)]
    fn send(&mut self, fd: RawFd, bytes: &[u8], flags: libc::c_int) -> isize {
        sys::send_flags(fd, bytes, flags)
    }

    #[inline(always)]
    fn receive(&mut self, fd: RawFd, room: &mut [u8]) -> isize {
        sys::receive(fd, room, 0)
    }
}

/// The clock read before and after each call.
#[derive(Default)]
pub(super) struct Bracketed {
    inside_ns: u64,
    calls: u64,
}

impl Bracketed {
    /// What passed inside of calls since this was last asked, without the readings, which cost `reading` ns each: a pair of them
    /// with nothing between tells one.
    pub(super) fn take(&mut self, reading: u64) -> u64 {
        let Self { inside_ns, calls } = std::mem::take(self);
        inside_ns.saturating_sub(calls * reading)
    }

    #[inline(always)]
    fn around(&mut self, call: impl FnOnce() -> isize) -> isize {
        let begun = sys::now();
        let result = call();
        self.inside_ns += sys::now().saturating_sub(begun);
        self.calls += 1;
        result
    }
}

impl Calls for Bracketed {
    const BRACKETS: bool = true;

    #[inline(always)]
    fn send(&mut self, fd: RawFd, bytes: &[u8], flags: libc::c_int) -> isize {
        self.around(|| sys::send_flags(fd, bytes, flags))
    }

    #[inline(always)]
    fn receive(&mut self, fd: RawFd, room: &mut [u8]) -> isize {
        self.around(|| sys::receive(fd, room, 0))
    }
}
