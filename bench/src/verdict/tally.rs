//! How many verdicts were correct, and how long they took.

use serde::Serialize;
use serde_json::{Value, json};
use stats::distribution::beta::binomial_interval;

use super::experiment::Worth;
use crate::spread::Spread;

/// Experiments of one protocol in one world.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Tally {
    correct: u64,
    wrong: u64,
    undecided: u64,
    /// The measuring time of each, in s.
    seconds: Vec<f64>,
}

impl Tally {
    /// Counts one.
    pub(crate) fn add(&mut self, worth: Worth, seconds: f64) {
        match worth {
            Worth::Correct => self.correct += 1,
            Worth::Wrong => self.wrong += 1,
            Worth::Undecided => self.undecided += 1,
        }
        self.seconds.push(seconds);
    }

    /// Both together.
    pub(crate) fn with(mut self, other: Tally) -> Self {
        self.correct += other.correct;
        self.wrong += other.wrong;
        self.undecided += other.undecided;
        self.seconds.extend(other.seconds);
        self
    }

    fn count(&self) -> u64 {
        self.correct + self.wrong + self.undecided
    }

    /// The median measuring time, in s.
    pub(crate) fn median(&self) -> f64 {
        Spread::of(self.seconds.iter().copied()).map_or(0.0, |spread| spread.median)
    }

    /// Mean measuring time over the share of correct verdicts, in s: what one correct verdict takes
    /// whoever repeats the experiment until it is had. None without one.
    pub(crate) fn per_correct(&self) -> Option<f64> {
        (self.correct > 0).then(|| self.seconds.iter().sum::<f64>() / self.correct as f64)
    }

    /// The share of wrong verdicts in % and its 95 % interval.
    pub(crate) fn wrong(&self) -> (f64, (f64, f64)) {
        let (low, high) = binomial_interval(self.wrong, self.count(), 0.95).unwrap_or((0.0, 1.0));
        (self.percent(self.wrong), (100.0 * low, 100.0 * high))
    }

    fn percent(&self, of: u64) -> f64 {
        100.0 * of as f64 / self.count().max(1) as f64
    }

    /// Correct, wrong with its interval, undecided, median time, time for a correct verdict: for a
    /// table.
    pub(crate) fn cells(&self) -> [String; 6] {
        let (wrong, (low, high)) = self.wrong();
        [
            self.count().to_string(),
            format!("{:.1}", self.percent(self.correct)),
            format!("{wrong:.1} ({low:.1} to {high:.1})"),
            format!("{:.1}", self.percent(self.undecided)),
            format!("{:.1}", self.median()),
            self.per_correct().map_or("-".to_owned(), |seconds| format!("{seconds:.0}")),
        ]
    }

    /// The same for a program.
    pub(crate) fn json(&self) -> Value {
        let (wrong, interval) = self.wrong();
        json!({
            "experiments": self.count(),
            "correct_percent": self.percent(self.correct),
            "wrong_percent": wrong,
            "wrong_interval": [interval.0, interval.1],
            "undecided_percent": self.percent(self.undecided),
            "median_s": self.median(),
            "per_correct_s": self.per_correct(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times() {
        let mut tally = Tally::default();
        for (worth, seconds) in [(Worth::Correct, 1.0), (Worth::Wrong, 2.0), (Worth::Undecided, 6.0)] {
            tally.add(worth, seconds);
        }
        let tally = tally.clone().with(tally);
        assert_eq!((tally.median(), tally.per_correct()), (2.0, Some(9.0)));
        // R: binom.test(2, 6)$conf.int
        assert_eq!(tally.cells(), ["6", "33.3", "33.3 (4.3 to 77.7)", "33.3", "2.0", "9"]);
        assert_eq!(Tally::default().per_correct(), None);
    }
}
