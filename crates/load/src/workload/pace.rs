//! The pace of a sender.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::lane::{PhaseCell, QUIET};
use crate::sys;

/// Holds a sender back until its next bytes are due.
pub(crate) trait Pace {
    /// Called before `bytes` of payload are sent: returns when they are due, or when `phase` ends
    /// senders (`QUIET`).
    fn wait(&mut self, bytes: u64, phase: &PhaseCell);
}

/// As fast as possible.
pub(crate) struct Unpaced;

impl Pace for Unpaced {
    #[inline(always)]
    fn wait(&mut self, _: u64, _: &PhaseCell) {}
}

/// At most so many bits of payload per second, as they are at each wait: conditions that take turns
/// change them. The sender itself waits: the kernel would do so only with the `fq` qdisc. A wait of
/// more than [`SPIN`] sleeps.
pub(crate) struct Paced<'a> {
    bits: &'a AtomicU64,
    due: Due,
}

/// The least duration of a sleep, in ns: shorter waits read the clock instead.
const SPIN: u64 = 50_000;
/// The longest sleep in ns; then the phase is checked.
const LOOK: u64 = 50_000_000;

impl<'a> Paced<'a> {
    pub(crate) fn new(bits: &'a AtomicU64) -> Self {
        sys::sharpen_timers();
        Self { bits, due: Due::default() }
    }
}

impl Pace for Paced<'_> {
    #[inline]
    fn wait(&mut self, bytes: u64, phase: &PhaseCell) {
        let mut now = sys::now();
        while let Some(due) = self.due.after(now) {
            if phase.load() >= QUIET {
                return;
            }
            if due - now > SPIN {
                sys::sleep_until(due.min(now + LOOK));
            } else {
                std::hint::spin_loop();
            }
            now = sys::now();
        }
        self.due.took(bytes, now, self.bits.load(Ordering::Relaxed).max(1));
    }
}

#[derive(Default)]
struct Due {
    next: u64,
    /// The part of a nanosecond by which `next` is too early, in `1 / bits` ns.
    rest: u64,
}

/// How far a delayed sender may lag behind its times, in ns, and so how much it may make up for in
/// one burst: the delay that a busy machine sometimes causes. The rest of a longer delay is lost.
const LAG: u64 = 10_000_000;

impl Due {
    /// When the next bytes are due, if that is after `now`.
    #[inline(always)]
    fn after(&self, now: u64) -> Option<u64> {
        (self.next > now).then_some(self.next)
    }

    /// `bytes` that were due were sent at `now`, at a pace of `bits`, which are 1 or more.
    #[inline(always)]
    fn took(&mut self, bytes: u64, now: u64, bits: u64) {
        // The first bytes have nothing to make up for.
        let earliest = if self.next == 0 { now } else { now.saturating_sub(LAG) };
        if self.next < earliest {
            (self.next, self.rest) = (earliest, 0);
        }
        // A call that could overflow would have 2 GB.
        // After a faster pace the rest of it may be more than a nanosecond of this one.
        let cost = bytes.saturating_mul(8_000_000_000).saturating_add(self.rest.min(bits - 1));
        self.next = self.next.saturating_add(cost / bits);
        self.rest = cost % bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A sender that is always ready keeps its pace to the nanosecond, for all sizes.
        #[test]
        fn the_pace_is_kept_exactly(
            bits in 1..=1_000_000_000_000u64, sizes in proptest::collection::vec(1u64..65_536, 1..200), start in 1u64..1 << 50,
        ) {
            let mut due = Due::default();
            let (mut now, mut bytes) = (start, 0u64);
            for size in sizes {
                now = due.after(now).unwrap_or(now);
                let exact = u128::from(bytes) * 8_000_000_000 / u128::from(bits);
                prop_assume!(exact < 1 << 60);
                prop_assert_eq!(u128::from(now - start), exact);
                due.took(size, now, bits);
                bytes += size;
            }
        }

        /// Another pace holds from the next bytes on, and none is ahead or behind by a nanosecond.
        #[test]
        fn another_pace_holds_at_once(
            all in proptest::collection::vec((1..=1_000_000_000_000u64, 1u64..65_536), 2..50),
        ) {
            let mut due = Due::default();
            let mut now = 1;
            for (bits, bytes) in all {
                due.took(bytes, now, bits);
                let (next, exact) = (due.after(now).unwrap_or(now), bytes * 8_000_000_000 / bits);
                prop_assert!((exact..=exact + 1).contains(&(next - now)), "{} ns for {exact}", next - now);
                now = next;
            }
        }

        /// However a sender is delayed, no period carries more than its pace, the lag and one
        /// message.
        #[test]
        fn no_stall_ends_in_a_long_burst(
            bits in 1_000_000u64..100_000_000_000,
            size in 1u64..65_536,
            stalls in proptest::collection::vec(0u64..100_000_000, 2..300),
        ) {
            let mut due = Due::default();
            let mut now = 1_000_000_000;
            let mut sent: Vec<u64> = Vec::new();
            for stall in stalls {
                now = due.after(now).unwrap_or(now) + if stall > 90_000_000 { stall } else { 0 };
                due.took(size, now, bits);
                sent.push(now);
            }
            for (first, begin) in sent.iter().enumerate() {
                for (last, end) in sent.iter().enumerate().skip(first) {
                    let bytes = u128::from(size) * (last - first) as u128;
                    let allowed = u128::from(bits) * u128::from(end - begin + LAG + 1) / 8_000_000_000;
                    prop_assert!(bytes <= allowed, "{bytes} bytes in {} ns", end - begin);
                }
            }
        }
    }

    #[test]
    fn the_end_is_not_waited_for() {
        let phase = PhaseCell::default();
        let bits = AtomicU64::new(8);
        let mut pace = Paced::new(&bits);
        pace.wait(1000, &phase);
        phase.advance(QUIET);
        let before = sys::now();
        pace.wait(1000, &phase);
        assert!(sys::now() - before < 1_000_000_000, "a thousand seconds were due");
    }
}
