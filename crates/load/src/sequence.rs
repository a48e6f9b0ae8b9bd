//! Numbers in datagrams: written by the sender, checked where they arrive.
//!
//! With `verify` the first eight bytes of a datagram that has room for them are its number, little-endian, counted from 0
//! in each flow; the pattern follows. Without `verify` nothing is written and nothing is read, and the loops, which are
//! compiled for both, hold no instruction for it.

use serde::{Deserialize, Serialize};

use crate::buffer::{Buffer, first_damage};
use crate::error::Result;
use crate::lane::Lane;

/// Bytes of a number.
const NUMBER: usize = 8;

/// What the numbers of one flow's datagrams say, as they arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Numbers below the highest that never came. What was lost behind the highest is not among them.
    pub missing: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// Datagrams that came after one with a higher number.
    pub reordered: u64,
}

impl Sequence {
    /// Of both flows together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            missing: self.missing.saturating_add(other.missing),
            duplicates: self.duplicates.saturating_add(other.duplicates),
            reordered: self.reordered.saturating_add(other.reordered),
        }
    }
}

/// What a sender writes into its datagrams.
pub(crate) trait Stamp {
    /// Whether it writes anything: then datagrams that wait side by side each need memory of their own.
    const WRITES: bool;

    /// Numbers datagrams of `message` bytes that lie one behind the other. Repeated, it writes the same numbers.
    fn stamp(&self, datagrams: &mut [u8], message: usize);

    /// `datagrams` have gone.
    fn advance(&mut self, datagrams: u64);
}

/// Writes nothing.
pub(crate) struct Unstamped;

impl Stamp for Unstamped {
    const WRITES: bool = false;

    #[inline(always)]
    fn stamp(&self, _: &mut [u8], _: usize) {}

    #[inline(always)]
    fn advance(&mut self, _: u64) {}
}

/// Writes each datagram's number.
#[derive(Default)]
pub(crate) struct Stamped {
    next: u64,
}

impl Stamp for Stamped {
    const WRITES: bool = true;

    fn stamp(&self, datagrams: &mut [u8], message: usize) {
        for (number, datagram) in (self.next..).zip(datagrams.chunks_mut(message)) {
            if let Some(place) = datagram.first_chunk_mut::<NUMBER>() {
                *place = number.to_le_bytes();
            }
        }
    }

    fn advance(&mut self, datagrams: u64) {
        self.next += datagrams;
    }
}

/// What a receiver does with each datagram beyond counting it.
pub(crate) trait Check {
    /// # Errors
    /// Bytes that were not sent so.
    fn datagram(&mut self, lane: &Lane, datagram: &[u8]) -> Result<()>;

    /// Bytes found right, and what the numbers say; `last` is the last datagram received.
    ///
    /// # Errors
    /// Bytes that were not sent so.
    fn end(self, lane: &Lane, last: &[u8]) -> Result<(u64, Option<Sequence>)>;
}

/// Looks at the last datagram only.
pub(crate) struct Unchecked;

impl Check for Unchecked {
    #[inline(always)]
    fn datagram(&mut self, _: &Lane, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn end(self, lane: &Lane, last: &[u8]) -> Result<(u64, Option<Sequence>)> {
        Ok((lane.verify(last, 0, lane.message)?, None))
    }
}

/// Looks at every byte and every number.
pub(crate) struct Checked {
    pattern: Buffer,
    /// Bytes of the number at the front; 0 where there is no room for one.
    number: usize,
    seen: Window,
    verified: u64,
}

impl Checked {
    pub(crate) fn new(message: usize) -> Self {
        let number = if message >= NUMBER { NUMBER } else { 0 };
        Self { pattern: Buffer::pattern(message), number, seen: Window::default(), verified: 0 }
    }
}

impl Check for Checked {
    fn datagram(&mut self, lane: &Lane, datagram: &[u8]) -> Result<()> {
        let pattern = self.pattern.as_ref();
        if datagram.len() != pattern.len() {
            return Err(lane.damaged(datagram.len().min(pattern.len()), datagram.len()));
        }
        let (number, rest) = datagram.split_at(self.number);
        if rest != &pattern[self.number..] {
            let at = first_damage(rest, self.number as u64, pattern.len()).unwrap_or_default();
            return Err(lane.damaged(self.number + at, datagram.len()));
        }
        if let Some(number) = number.first_chunk::<NUMBER>() {
            self.seen.take(u64::from_le_bytes(*number));
        }
        self.verified += datagram.len() as u64;
        Ok(())
    }

    fn end(self, _: &Lane, _: &[u8]) -> Result<(u64, Option<Sequence>)> {
        Ok((self.verified, (self.number > 0).then(|| self.seen.sequence())))
    }
}

/// Which of the latest numbers have come.
struct Window {
    /// One more than the highest number.
    next: u64,
    arrived: u64,
    duplicates: u64,
    reordered: u64,
    /// Bit `n % SPAN` is number `n`, for the [`SPAN`] numbers below `next`.
    bits: Box<[u64]>,
}

/// How far back a duplicate is known from one that is only late.
const SPAN: u64 = 1 << 16;

impl Default for Window {
    fn default() -> Self {
        let bits = vec![0; (SPAN / 64) as usize].into_boxed_slice();
        Self { next: 0, arrived: 0, duplicates: 0, reordered: 0, bits }
    }
}

impl Window {
    fn take(&mut self, number: u64) {
        if number >= self.next {
            // What lies between has not come yet; of a gap wider than all bits, only the last span matters.
            for skipped in self.next.max(number.saturating_sub(SPAN - 1))..number {
                self.bits[place(skipped)] &= !bit(skipped);
            }
            // The last number there is has none behind it.
            self.next = number.saturating_add(1);
        } else if self.next - number > SPAN {
            self.reordered += 1;
            self.arrived += 1;
            return;
        } else if self.bits[place(number)] & bit(number) != 0 {
            self.duplicates += 1;
            return;
        } else {
            self.reordered += 1;
        }
        self.bits[place(number)] |= bit(number);
        self.arrived += 1;
    }

    fn sequence(&self) -> Sequence {
        Sequence {
            missing: self.next.saturating_sub(self.arrived),
            duplicates: self.duplicates,
            reordered: self.reordered,
        }
    }
}

fn place(number: u64) -> usize {
    (number % SPAN / 64) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn of(numbers: &[u64]) -> Sequence {
        let mut window = Window::default();
        numbers.iter().for_each(|number| window.take(*number));
        window.sequence()
    }

    #[test]
    fn gaps_duplicates_and_late_ones_are_told_apart() {
        assert_eq!(of(&[]), Sequence::default());
        assert_eq!(of(&[0, 1, 2, 3]), Sequence::default());
        assert_eq!(of(&[0, 3]), Sequence { missing: 2, ..Sequence::default() });
        assert_eq!(of(&[0, 2, 1]), Sequence { reordered: 1, ..Sequence::default() });
        assert_eq!(of(&[0, 1, 1, 0]), Sequence { duplicates: 2, ..Sequence::default() });
        assert_eq!(
            of(&[0, SPAN * 3, SPAN * 3]),
            Sequence { missing: SPAN * 3 - 1, duplicates: 1, reordered: 0 }
        );
        assert_eq!(of(&[u64::MAX, u64::MAX, 0]).missing, u64::MAX - 3);
    }

    proptest! {
        #[test]
        fn within_its_span_a_window_knows_every_number(numbers in prop::collection::vec(0u64..SPAN, 0..300)) {
            let distinct: HashSet<u64> = numbers.iter().copied().collect();
            let highest = numbers.iter().max().map_or(0, |number| number + 1);
            let sequence = of(&numbers);
            prop_assert_eq!(sequence.missing, highest - distinct.len() as u64);
            prop_assert_eq!(sequence.duplicates, (numbers.len() - distinct.len()) as u64);
        }

        #[test]
        fn whatever_numbers_arrive_are_taken(numbers in prop::collection::vec(any::<u64>(), 0..50)) {
            of(&numbers);
        }

        #[test]
        fn stamps_are_read_back(message in 8usize..100, count in 1usize..20, first in 0u64..1 << 40) {
            let mut datagrams = vec![0; message * count];
            Stamped { next: first }.stamp(&mut datagrams, message);
            for (number, datagram) in (first..).zip(datagrams.chunks(message)) {
                prop_assert_eq!(datagram.first_chunk(), Some(&number.to_le_bytes()));
            }
        }
    }

    #[test]
    fn a_datagram_too_small_for_a_number_carries_none() {
        let mut datagram = [7; 7];
        Stamped::default().stamp(&mut datagram, 7);
        assert_eq!(datagram, [7; 7]);
        assert_eq!(Checked::new(7).number, 0);
    }
}
