//! Evaluates the numbers of received datagrams.

use serde::{Deserialize, Serialize};

/// Counts from the numbers of one flow's received datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Numbers below the highest that never came. Losses after the highest are unknown.
    pub missing: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// Datagrams that came after one with a higher number.
    pub reordered: u64,
}

impl Sequence {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            missing: self.missing.saturating_add(other.missing),
            duplicates: self.duplicates.saturating_add(other.duplicates),
            reordered: self.reordered.saturating_add(other.reordered),
        }
    }
}

/// Which of the latest numbers have come.
pub(crate) struct Window {
    /// The highest number, plus one.
    next: u64,
    arrived: u64,
    duplicates: u64,
    reordered: u64,
    /// Bit `n % SPAN` is number `n`, for the [`SPAN`] numbers below `next`.
    bits: Box<[u64]>,
}

/// The distance within which a duplicate is distinguished from a late number.
const SPAN: u64 = 1 << 16;

impl Default for Window {
    fn default() -> Self {
        let bits = vec![0; (SPAN / 64) as usize].into_boxed_slice();
        Self { next: 0, arrived: 0, duplicates: 0, reordered: 0, bits }
    }
}

impl Window {
    pub(crate) fn record(&mut self, number: u64) {
        if number >= self.next {
            // The numbers between have not come yet; of a gap wider than all bits, only the last
            // span matters.
            for skipped in self.next.max(number.saturating_sub(SPAN - 1))..number {
                self.bits[place(skipped)] &= !bit(skipped);
            }
            // The last number has no successor.
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

    pub(crate) fn sequence(&self) -> Sequence {
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

    fn sequence_of(numbers: &[u64]) -> Sequence {
        let mut window = Window::default();
        numbers.iter().for_each(|number| window.record(*number));
        window.sequence()
    }

    #[test]
    fn gaps_duplicates_and_late_ones_are_distinguished() {
        assert_eq!(sequence_of(&[]), Sequence::default());
        assert_eq!(sequence_of(&[0, 1, 2, 3]), Sequence::default());
        assert_eq!(sequence_of(&[0, 3]), Sequence { missing: 2, ..Sequence::default() });
        assert_eq!(sequence_of(&[0, 2, 1]), Sequence { reordered: 1, ..Sequence::default() });
        assert_eq!(sequence_of(&[0, 1, 1, 0]), Sequence { duplicates: 2, ..Sequence::default() });
        assert_eq!(
            sequence_of(&[0, SPAN * 3, SPAN * 3]),
            Sequence { missing: SPAN * 3 - 1, duplicates: 1, reordered: 0 }
        );
        // The oldest number that the window knows, and the one before it.
        assert_eq!(sequence_of(&[0, SPAN - 1, 0]).duplicates, 1);
        assert_eq!(sequence_of(&[0, SPAN, 0]).duplicates, 0);
        assert_eq!(sequence_of(&[u64::MAX, u64::MAX, 0]).missing, u64::MAX - 3);
    }

    proptest! {
        #[test]
        fn within_its_span_a_window_knows_every_number(numbers in prop::collection::vec(0u64..SPAN, 0..300)) {
            let distinct: HashSet<u64> = numbers.iter().copied().collect();
            let highest = numbers.iter().max().map_or(0, |number| number + 1);
            let sequence = sequence_of(&numbers);
            prop_assert_eq!(sequence.missing, highest - distinct.len() as u64);
            prop_assert_eq!(sequence.duplicates, (numbers.len() - distinct.len()) as u64);
        }

        #[test]
        fn whatever_numbers_arrive_are_taken(numbers in prop::collection::vec(any::<u64>(), 0..50)) {
            sequence_of(&numbers);
        }
    }
}
