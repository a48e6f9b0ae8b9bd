//! The pace of a sender.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lane::{PhaseCell, QUIET};
use crate::sys;

/// At most so many bits of payload per second; not `ON`, as fast as possible. The sender itself
/// waits: the kernel would do so only with the `fq` qdisc.
pub(crate) struct Pace<'a, const ON: bool> {
    bits: &'a AtomicU64,
    next: u64,
    /// The part of a nanosecond by which `next` is too early, in `1 / bits` ns.
    rest: u64,
}

// In ns: shorter waits read the clock instead of sleeping.
const SPIN: u64 = 50_000;
// The longest sleep in ns; then the phase is checked.
const LOOK: u64 = 50_000_000;

impl<'a, const ON: bool> Pace<'a, ON> {
    pub(crate) fn new(bits: &'a AtomicU64) -> Self {
        if ON {
            sys::sharpen_timers();
        }
        Self { bits, next: 0, rest: 0 }
    }

    /// Waits until `bytes` are due; false as soon as `phase` ends senders (`QUIET`).
    #[inline(always)]
    pub(crate) fn wait(&mut self, bytes: u64, phase: &PhaseCell) -> bool {
        !ON || self.wait_until_due(bytes, phase)
    }

    #[inline]
    fn wait_until_due(&mut self, bytes: u64, phase: &PhaseCell) -> bool {
        let mut now = sys::now();
        if self.next == 0 {
            self.begin(bytes, now, random(now));
        }
        while let Some(due) = self.after(now) {
            if phase.load() >= QUIET {
                return false;
            }
            if due - now > SPIN {
                sys::sleep_until(due.min(now + LOOK));
            } else {
                std::hint::spin_loop();
            }
            now = sys::now();
        }
        self.took(bytes, now);
        true
    }

    // The first `bytes` are due at a `random` point of their time at a pace of `bits`, so that a
    // sender sends its pace in any window, however soon that begins. If it began at once it would
    // send that much more, always at the same place of a turn.
    fn begin(&mut self, bytes: u64, now: u64, random: u64) {
        let takes = u128::from(bytes) * 8_000_000_000 / u128::from(self.pace());
        let wait = takes.saturating_mul(u128::from(random)) >> 64;
        self.next = now.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX)).max(1);
    }

    #[inline(always)]
    fn after(&self, now: u64) -> Option<u64> {
        (self.next > now).then_some(self.next)
    }

    #[inline(always)]
    fn took(&mut self, bytes: u64, now: u64) {
        let bits = self.pace();
        let earliest = now.saturating_sub(LAG);
        if self.next < earliest {
            (self.next, self.rest) = (earliest, 0);
        }
        // A call that could overflow would have 2 GB.
        // After a faster pace the rest of it may be more than a nanosecond of this one.
        let cost = bytes.saturating_mul(8_000_000_000).saturating_add(self.rest.min(bits - 1));
        self.next = self.next.saturating_add(cost / bits);
        self.rest = cost % bits;
    }

    #[inline(always)]
    fn pace(&self) -> u64 {
        self.bits.load(Ordering::Relaxed).max(1)
    }
}

// In ns: a late sender catches up so much in one burst; the rest of a longer delay is lost.
const LAG: u64 = 10_000_000;

// The only random numbers of the standard library: its hashes have a random key.
fn random(seed: u64) -> u64 {
    RandomState::new().hash_one(seed)
}

#[cfg(test)]
mod tests;
