//! A system call, plain or with the clock read around it. The work is compiled once for each.

use crate::sys;

/// What surrounds each system call of the work.
pub(super) trait Calls {
    /// Makes it, and gives what the kernel gives.
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R;
}

/// Nothing.
pub(super) struct Plain;

impl Calls for Plain {
    #[inline(always)]
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R {
        call()
    }
}

/// Readings of the clock, before and after.
#[derive(Default)]
pub(super) struct Bracketed {
    inside_ns: u64,
    pub(super) calls: u64,
}

impl Bracketed {
    /// What passed inside of all calls so far, without the readings, which cost `reading` ns each:
    /// a pair of them with nothing between tells one.
    pub(super) fn inside(&self, reading: u64) -> u64 {
        self.inside_ns.saturating_sub(self.calls * reading)
    }
}

impl Calls for Bracketed {
    #[inline(always)]
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let begun = sys::now();
        let result = call();
        self.inside_ns += sys::now().saturating_sub(begun);
        self.calls += 1;
        result
    }
}
