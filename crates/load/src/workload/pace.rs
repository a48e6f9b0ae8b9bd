//! The pace of a sender.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lane::{PhaseCell, QUIET};
use crate::sys;

/// At most so many bits of payload per second; not `ON`, as fast as possible. The sender itself
/// waits: the kernel would do so only with the `fq` qdisc.
pub(crate) struct Pace<'a, const ON: bool> {
    bits: &'a AtomicU64,
    due: Due,
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
        Self { bits, due: Due::default() }
    }

    /// Waits until `bytes` are due; false as soon as `phase` ends senders (`QUIET`).
    #[inline(always)]
    pub(crate) fn wait(&mut self, bytes: u64, phase: &PhaseCell) -> bool {
        !ON || self.wait_until_due(bytes, phase)
    }

    #[inline]
    fn wait_until_due(&mut self, bytes: u64, phase: &PhaseCell) -> bool {
        let mut now = sys::now();
        if self.due.next == 0 {
            self.due.begin(bytes, now, self.bits.load(Ordering::Relaxed).max(1), random(now));
        }
        while let Some(due) = self.due.after(now) {
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
        self.due.took(bytes, now, self.bits.load(Ordering::Relaxed).max(1));
        true
    }
}

// The only random numbers of the standard library: its hashes have a random key.
fn random(seed: u64) -> u64 {
    RandomState::new().hash_one(seed)
}

#[derive(Default)]
struct Due {
    next: u64,
    /// The part of a nanosecond by which `next` is too early, in `1 / bits` ns.
    rest: u64,
}

// In ns: a late sender catches up so much in one burst; the rest of a longer delay is lost.
const LAG: u64 = 10_000_000;

impl Due {
    // The first `bytes` are due at a `random` point of their time at a pace of `bits`, so that a
    // sender sends its pace in any window, however soon that begins. If it began at once it would
    // send that much more, always at the same place of a turn.
    fn begin(&mut self, bytes: u64, now: u64, bits: u64, random: u64) {
        let takes = u128::from(bytes) * 8_000_000_000 / u128::from(bits);
        let wait = takes.saturating_mul(u128::from(random)) >> 64;
        self.next = now.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX)).max(1);
    }

    #[inline(always)]
    fn after(&self, now: u64) -> Option<u64> {
        (self.next > now).then_some(self.next)
    }

    #[inline(always)]
    fn took(&mut self, bytes: u64, now: u64, bits: u64) {
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
            let mut due = Due { next: start, rest: 0 };
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

        /// Whatever is sent at once, and whenever a window begins and ends: over all beginnings of
        /// the sender, it holds as much as the pace asks for.
        #[test]
        fn a_window_is_expected_to_hold_the_pace(
            bits in 1_000_000u64..10_000_000_000, size in 1u64..100_000, from in 0u64..50_000_000, len in 1_000_000u64..100_000_000,
        ) {
            const BEGINNINGS: u64 = 1000;
            let takes = size as f64 * 8e9 / bits as f64;
            prop_assume!(len as f64 / takes < 1000.0);
            let mut sent = 0;
            for beginning in 0..BEGINNINGS {
                let mut due = Due::default();
                due.begin(size, 1, bits, u64::MAX / BEGINNINGS * beginning);
                while due.next < 1 + from + len {
                    let now = due.next;
                    sent += u64::from(now > from);
                    due.took(size, now, bits);
                }
            }
            // One beginning more or less than its share meets each edge, or is a nanosecond early.
            let expected = len as f64 / takes * BEGINNINGS as f64;
            prop_assert!((sent as f64 - expected).abs() <= 4.0, "{sent} of {expected}");
        }

        /// Another pace holds from the next bytes on, and none is ahead or behind by a nanosecond.
        #[test]
        fn another_pace_holds_at_once(
            all in proptest::collection::vec((1..=1_000_000_000_000u64, 1u64..65_536), 2..50),
        ) {
            let mut due = Due { next: 1, rest: 0 };
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
            let mut due = Due { next: 1_000_000_000, rest: 0 };
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
        let mut pace = Pace::<true>::new(&bits);
        pace.due.next = 1;
        assert!(pace.wait(1000, &phase));
        phase.advance(QUIET);
        let before = sys::now();
        assert!(!pace.wait(1000, &phase));
        assert!(sys::now() - before < 1_000_000_000, "a thousand seconds were due");
    }
}
