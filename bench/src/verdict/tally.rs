//! How many verdicts were correct, and how long they took.

use serde_json::{Value, json};
use stats::Verdict;

use crate::figures::summary;
use crate::simulator::Rate;

/// What a verdict is worth where the truth is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    Correct,
    Wrong,
    /// Nothing was claimed where something could have been.
    Undecided,
}

impl Worth {
    /// Of a verdict on a condition that truly is lower, or truly is the same.
    pub(super) fn of(verdict: Verdict, is_lower: bool) -> Self {
        match (verdict, is_lower) {
            (Verdict::Lower, true) | (Verdict::Equivalent | Verdict::NoDifferenceProven, false) => {
                Self::Correct
            }
            (Verdict::Higher, _) | (Verdict::Lower, false) | (Verdict::Equivalent, true) => Self::Wrong,
            (Verdict::NoDifferenceProven, true) | (Verdict::Inconclusive, _) => Self::Undecided,
        }
    }
}

/// Experiments of one protocol in one world: what their verdicts are worth, and their measuring
/// times in s.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tally(pub(super) Vec<(Worth, f64)>);

impl Tally {
    pub(super) fn median(&self) -> f64 {
        summary(self.seconds()).map_or(0.0, |seconds| seconds.median)
    }

    /// Mean measuring time over the share of correct verdicts, in s: what one correct verdict takes
    /// if the experiment is repeated until it is had. None without one.
    pub(super) fn per_correct(&self) -> Option<f64> {
        let correct = self.share(Worth::Correct).hits;
        (correct > 0).then(|| self.seconds().sum::<f64>() / correct as f64)
    }

    pub(super) fn share(&self, worth: Worth) -> Rate {
        Rate::new(self.0.iter().filter(|(one, _)| *one == worth).count() as u64, self.0.len() as u64)
    }

    fn seconds(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|(_, seconds)| *seconds)
    }

    /// Count, correct, wrong with its interval, undecided, median time, time for a correct verdict:
    /// for a table.
    pub(super) fn cells(&self) -> [String; 6] {
        let percent = |worth| format!("{:.1}", 100.0 * self.share(worth).rate);
        [
            self.0.len().to_string(),
            percent(Worth::Correct),
            in_percent(&self.share(Worth::Wrong), 1),
            percent(Worth::Undecided),
            format!("{:.1}", self.median()),
            self.per_correct().map_or("-".to_owned(), |seconds| format!("{seconds:.0}")),
        ]
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "correct": self.share(Worth::Correct), "wrong": self.share(Worth::Wrong),
            "undecided": self.share(Worth::Undecided), "median_s": self.median(), "per_correct_s": self.per_correct(),
        })
    }
}

/// A rate with its 95 % interval, in %.
pub(super) fn in_percent(rate: &Rate, decimals: usize) -> String {
    let (low, high) = rate.interval;
    let [rate, low, high] = [rate.rate, low, high].map(|share| format!("{:.decimals$}", 100.0 * share));
    format!("{rate} ({low} to {high})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times() {
        let tally = Tally([(Worth::Correct, 1.0), (Worth::Wrong, 2.0), (Worth::Undecided, 6.0)].repeat(2));
        assert_eq!((tally.median(), tally.per_correct()), (2.0, Some(9.0)));
        // R: binom.test(2, 6)$conf.int
        assert_eq!(tally.cells(), ["6", "33.3", "33.3 (4.3 to 77.7)", "33.3", "2.0", "9"]);
        assert_eq!(Tally::default().per_correct(), None);
    }

    #[test]
    fn what_verdicts_are_worth() {
        use Verdict::{Equivalent, Higher, Inconclusive, Lower, NoDifferenceProven};
        use Worth::{Correct, Undecided, Wrong};
        for (verdict, lower, same) in [
            (Higher, Wrong, Wrong),
            (Lower, Correct, Wrong),
            (NoDifferenceProven, Undecided, Correct),
            (Equivalent, Wrong, Correct),
            (Inconclusive, Undecided, Undecided),
        ] {
            assert_eq!([Worth::of(verdict, true), Worth::of(verdict, false)], [lower, same]);
        }
    }
}
