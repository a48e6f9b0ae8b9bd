//! A bound as a person writes it: `throughput < -2%`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use study::metric::Metric;

use super::{Bound, BoundUnit};
use crate::resolve_metric;

// The units of each unit of the vocabulary of metrics; the first word is the one that is shown.
const UNITS: &[(&str, &[BoundUnit])] = &[
    ("ns", &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)]),
    ("Mbit/s", &[("Mbit/s", 1.0), ("bit/s", 1e-6), ("kbit/s", 1e-3), ("Gbit/s", 1e3)]),
    ("1/s", &[("/s", 1.0), ("1/s", 1.0)]),
    // `%` is always a share of the baseline.
    ("%", &[("points", 1.0)]),
    ("bytes", &[("bytes", 1.0)]),
    ("1", &[("", 1.0)]),
];

// Longer texts are refused before they are read: no metric and number need as much.
const LONGEST: usize = 200;

const EXAMPLE: &str = "write a bound as throughput < -2%";

fn absolute(metric: Metric) -> String {
    let words: Vec<&str> = units_of(metric).iter().map(|(word, _)| *word).collect();
    match words.as_slice() {
        [] | [""] => "a plain number".to_owned(),
        words => format!("a difference in {}", words.join(", ")),
    }
}

fn units_of(metric: Metric) -> &'static [BoundUnit] {
    UNITS.iter().find(|(unit, _)| *unit == metric.unit).map_or(&[], |(_, units)| units)
}

impl Bound {
    /// The limit in a sentence: `-2 %`, `+20 us`.
    pub fn limit_in_words(&self) -> String {
        self.limit(" ").trim_end().to_owned()
    }

    /// The limit with this before its unit: nothing where a person writes it.
    fn limit(&self, gap: &str) -> String {
        let sign = if self.value > 0.0 { "+" } else { "" };
        format!("{sign}{}{gap}{}", self.value, self.unit.map_or("%", |(word, _)| word))
    }

    /// Reads the part of a bound after the metric's name: `< -2%`.
    ///
    /// # Errors
    /// [`BoundError`].
    pub(crate) fn of_metric(metric: Metric, rest: &str) -> Result<Self, BoundError> {
        // A file of acknowledgements has this part of a bound alone.
        if rest.len() > LONGEST {
            return Err(BoundError::TooLong);
        }
        let rest = rest.trim();
        let no_sign = || BoundError::NoSign(rest.to_owned());
        let limit = rest.strip_prefix(['<', '>']).ok_or_else(no_sign)?;
        if limit.contains(['<', '>', '=']) {
            return Err(BoundError::OtherSign(rest.to_owned()));
        }
        let limit = limit.trim();
        let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '+' | '-');
        let (number, unit) =
            limit.split_at(limit.find(|letter| !is_of_number(letter)).unwrap_or(limit.len()));
        let value: f64 = number.parse().map_err(|_| BoundError::NoNumber(limit.to_owned()))?;
        // No text of this length is beyond the largest number. -0 is written as 0.
        let value = value + 0.0;
        let unit = match unit.trim() {
            "%" if value <= -100.0 => return Err(BoundError::TooFar(-value)),
            "%" => None,
            unit => {
                let known = units_of(metric).iter().find(|(word, _)| *word == unit).copied();
                let unknown = || {
                    let (unit, number) = (unit.to_owned(), number.to_owned());
                    BoundError::NoUnit { key: metric.key, unit, number, absolute: absolute(metric) }
                };
                Some(known.ok_or_else(unknown)?)
            }
        };
        let bound = Self { metric, fails_above: rest.starts_with('>'), value, unit };
        if bound.is_broken_by((0.0, 0.0)) {
            let other = Bound { value: -value, ..bound }.limit("");
            return Err(BoundError::FailsEqual { bound: bound.to_string(), other });
        }
        Ok(bound)
    }
}

/// Why a text is no bound, and the remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum BoundError {
    #[error("a bound has at most {LONGEST} bytes, such as throughput < -2%")]
    TooLong,
    #[error("{0:?} has no < or >: {EXAMPLE}")]
    NoSign(String),
    #[error("{0:?} has another comparison than < or >: {EXAMPLE}")]
    OtherSign(String),
    #[error("{0:?} is no limit: write a number with its unit, such as -2% of the baseline")]
    NoNumber(String),
    #[error("no metric can fall by {0}% or more of its baseline: write a limit above -100%")]
    TooFar(f64),
    #[error("{key} has no unit {unit:?}: write {number}% of the baseline, or {absolute}")]
    NoUnit { key: &'static str, unit: String, number: String, absolute: String },
    #[error(
        "{bound} fails a study that does not differ from its baseline: write {other}, which allows as much"
    )]
    FailsEqual { bound: String, other: String },
    #[error("{0}")]
    Metric(String),
}

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        if text.len() > LONGEST {
            return Err(BoundError::TooLong);
        }
        let sign = text.find(['<', '>']).ok_or_else(|| BoundError::NoSign(text.to_owned()))?;
        let metric =
            resolve_metric(text[..sign].trim()).map_err(|unknown| BoundError::Metric(unknown.to_string()))?;
        Self::of_metric(metric, &text[sign..])
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.fails_above { '>' } else { '<' };
        write!(f, "{} {sign} {}", self.metric.key, self.limit(""))
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
