//! Student's t with the variances pooled, by ministat's confidence levels and its quantiles.

use std::fmt;

use serde::Serialize;
use stats::distribution::student;

use crate::ministat::number::g;
use crate::ministat::set::Set;

/// A confidence level of ministat, which has six.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceLevel {
    /// The level in percent.
    pub percent: f64,
    coverage: f64,
}

impl ConfidenceLevel {
    /// ministat's levels. The last column of its table holds the quantiles of 99.8 %: an error in
    /// ministat that is kept, since verdicts depend on it.
    pub const ALL: [ConfidenceLevel; 6] = [
        ConfidenceLevel { percent: 80.0, coverage: 0.80 },
        ConfidenceLevel { percent: 90.0, coverage: 0.90 },
        ConfidenceLevel { percent: 95.0, coverage: 0.95 },
        ConfidenceLevel { percent: 98.0, coverage: 0.98 },
        ConfidenceLevel { percent: 99.0, coverage: 0.99 },
        ConfidenceLevel { percent: 99.5, coverage: 0.998 },
    ];

    /// ministat's level in percent, if it is one.
    pub fn from_percent(percent: f64) -> Option<ConfidenceLevel> {
        ConfidenceLevel::ALL.into_iter().find(|level| level.percent == percent)
    }

    fn t(self, df: usize) -> f64 {
        let slip = SLIPS.iter().find(|(slip, _)| *slip == df && self.coverage == 0.998);
        if let Some((_, t)) = slip {
            return *t;
        }
        // ministat's table has three decimals, and infinitely many degrees of freedom above 100.
        let df = if df > 100 { f64::INFINITY } else { df as f64 };
        let exact = student::quantile((1.0 + self.coverage) / 2.0, df).unwrap_or(f64::NAN);
        (exact * 1000.0).round() / 1000.0
    }
}

impl Default for ConfidenceLevel {
    fn default() -> ConfidenceLevel {
        ConfidenceLevel::ALL[2]
    }
}

// By degrees of freedom, the values of the last column that are not the rounded quantile.
const SLIPS: [(usize, f64); 7] =
    [(1, 318.313), (7, 4.782), (8, 4.499), (9, 4.296), (10, 4.143), (11, 4.024), (12, 3.929)];

/// One set compared with another by the pooled t-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PooledT {
    /// The confidence level in percent.
    pub percent: f64,
    /// Degrees of freedom.
    pub df: usize,
    /// The difference of the means.
    pub difference: f64,
    /// Half the width of the interval around it.
    pub error: f64,
    /// The difference in % of the reference's mean; infinite if that is zero.
    pub relative: f64,
    /// The error of `relative`, which takes the reference's mean as exact; negative if that is.
    pub relative_error: f64,
    /// The pooled standard deviation.
    pub pooled_sd: f64,
    /// Whether the difference is larger than the error.
    pub is_proven: bool,
}

impl Set {
    /// Compares this set with `reference`.
    pub fn against(&self, reference: &Set, level: ConfidenceLevel) -> PooledT {
        let (n, reference_n) = (self.n as f64, reference.n as f64);
        let df = self.n + reference.n - 2;
        let squares = (n - 1.0) * self.variance + (reference_n - 1.0) * reference.variance;
        let pooled_sd = (squares / df as f64).sqrt();
        let error = level.t(df) * (pooled_sd * (1.0 / n + 1.0 / reference_n).sqrt());
        let difference = self.mean - reference.mean;
        let relative = |value: f64| value * 100.0 / reference.mean;
        PooledT {
            percent: level.percent,
            df,
            difference,
            error,
            relative: relative(difference),
            relative_error: relative(error),
            pooled_sd,
            is_proven: difference.abs() > error,
        }
    }
}

/// The verdict as ministat prints it, with a newline.
impl fmt::Display for PooledT {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_proven {
            return writeln!(out, "No difference proven at {:.1}% confidence", self.percent);
        }
        let [difference, error, relative, relative_error, pooled_sd] =
            [self.difference, self.error, self.relative, self.relative_error, self.pooled_sd]
                .map(|value| g(value, 6));
        writeln!(out, "Difference at {:.1}% confidence", self.percent)?;
        writeln!(out, "\t{difference} +/- {error}")?;
        writeln!(out, "\t{relative}% +/- {relative_error}%")?;
        writeln!(out, "\t(Student's t, pooled s = {pooled_sd})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ministat's table by its rule, from `oracles.py` beside the fixtures of `stats`.
    #[derive(serde::Deserialize)]
    struct StudentTable {
        infinity: Vec<String>,
        rows: Vec<Vec<String>>,
    }

    #[test]
    fn the_table_is_the_rounded_quantiles_except_for_seven_errors() {
        let oracle: StudentTable =
            serde_json::from_str(include_str!("../../tests/fixtures/t-table.json")).unwrap();
        let mut slips = Vec::new();
        for (column, level) in ConfidenceLevel::ALL.into_iter().enumerate() {
            assert_eq!(format!("{:.3}", level.t(101)), oracle.infinity[column]);
            for (row, exact) in oracle.rows.iter().enumerate() {
                let (df, t) = (row + 1, level.t(row + 1));
                if format!("{t:.3}") != exact[column] {
                    slips.push((df, t));
                }
            }
        }
        assert_eq!(slips, SLIPS);
    }

    #[test]
    fn levels_are_found_by_their_exact_number() {
        assert_eq!(ConfidenceLevel::from_percent(99.5).map(|level| level.percent), Some(99.5));
        assert_eq!(ConfidenceLevel::from_percent(97.0), None);
        assert_eq!(ConfidenceLevel::from_percent(f64::NAN), None);
        assert_eq!(ConfidenceLevel::default().percent, 95.0);
    }

    #[test]
    fn published_entries() {
        assert_eq!(ConfidenceLevel::default().t(58), 2.002);
        assert_eq!((ConfidenceLevel::default().t(100), ConfidenceLevel::default().t(101)), (1.984, 1.960));
        assert_eq!(ConfidenceLevel::from_percent(99.5).unwrap().t(18), 3.610);
    }
}
