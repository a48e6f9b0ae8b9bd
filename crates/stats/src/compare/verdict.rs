//! Verdicts, which are decided only here.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The verdict of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval of the difference lies above zero.
    Higher,
    /// The whole interval lies below zero.
    Lower,
    /// The interval includes zero, and no margin was stated: there may be a difference, but these
    /// data do not prove it.
    NoDifferenceProven,
    /// The difference lies within the stated margin, by two one-sided tests; it may still be
    /// proven.
    Equivalent,
    /// There is no interval, or a margin was stated and neither a difference nor equivalence is
    /// proven.
    #[default]
    Inconclusive,
}

impl Verdict {
    /// The verdict of an interval of the difference and, where a margin was stated, of the two
    /// one-sided tests against it: whether the interval of twice the error rate lies inside the
    /// margin (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987).
    pub(crate) fn from_interval(interval: Option<(f64, f64)>, is_equivalent: Option<bool>) -> Verdict {
        match (interval, is_equivalent) {
            (None, _) => Verdict::Inconclusive,
            (Some(_), Some(true)) => Verdict::Equivalent,
            (Some((low, _)), _) if low > 0.0 => Verdict::Higher,
            (Some((_, high)), _) if high < 0.0 => Verdict::Lower,
            (Some(_), Some(false)) => Verdict::Inconclusive,
            (Some(_), None) => Verdict::NoDifferenceProven,
        }
    }

    /// Whether a difference, or equivalence, is proven.
    pub fn is_decided(self) -> bool {
        matches!(self, Verdict::Higher | Verdict::Lower | Verdict::Equivalent)
    }

    /// The words.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::NoDifferenceProven => "no difference proven",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_has_its_case() {
        let (above, below, around) = (Some((0.1, 2.0)), Some((-2.0, -0.1)), Some((-1.0, 1.0)));
        for (interval, is_equivalent, verdict) in [
            (above, None, Verdict::Higher),
            (above, Some(false), Verdict::Higher),
            (above, Some(true), Verdict::Equivalent),
            (below, None, Verdict::Lower),
            (around, None, Verdict::NoDifferenceProven),
            (around, Some(true), Verdict::Equivalent),
            (around, Some(false), Verdict::Inconclusive),
            (Some((0.0, 0.0)), None, Verdict::NoDifferenceProven),
            (None, None, Verdict::Inconclusive),
            (None, Some(false), Verdict::Inconclusive),
        ] {
            assert_eq!(
                Verdict::from_interval(interval, is_equivalent),
                verdict,
                "{interval:?} {is_equivalent:?}"
            );
        }
    }
}
