//! Student's t with the variances pooled.

use std::fmt;

use serde::Serialize;

use super::format::g;
use super::level::Level;
use super::set::Set;

/// One set compared with another by the pooled t-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PooledT {
    /// The confidence level in percent.
    pub percent: f64,
    /// Degrees of freedom.
    pub df: usize,
    /// The mean's difference from the reference's.
    pub difference: f64,
    /// Half the width of the interval around it.
    pub error: f64,
    /// The difference in % of the reference's mean; infinite if that is zero.
    pub relative: f64,
    /// `error` in % of the reference's mean, which ministat takes as exact; negative if that is negative.
    pub relative_error: f64,
    /// The pooled standard deviation.
    pub pooled_sd: f64,
    /// Whether the difference is larger than the error.
    pub is_proven: bool,
}

impl Set {
    /// Compares this set with `reference`.
    pub fn against(&self, reference: &Set, level: Level) -> PooledT {
        let (n, reference_n) = (self.n() as f64, reference.n() as f64);
        let df = self.n() + reference.n() - 2;
        let squares = (n - 1.0) * self.variance() + (reference_n - 1.0) * reference.variance();
        let pooled_sd = (squares / df as f64).sqrt();
        let error = level.t(df) * (pooled_sd * (1.0 / n + 1.0 / reference_n).sqrt());
        let difference = self.mean() - reference.mean();
        let relative = |value: f64| value * 100.0 / reference.mean();
        PooledT {
            percent: level.percent(),
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

/// The verdict in ministat's words, with a newline at the end.
impl fmt::Display for PooledT {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_proven {
            return writeln!(out, "No difference proven at {:.1}% confidence", self.percent);
        }
        // 0 / 0 is the only NaN that can come this far, and the processor's own NaN prints with a sign.
        let number = |value: f64| g(if value.is_nan() { -f64::NAN } else { value }, 6);
        writeln!(out, "Difference at {:.1}% confidence", self.percent)?;
        writeln!(out, "\t{} +/- {}", number(self.difference), number(self.error))?;
        writeln!(out, "\t{}% +/- {}%", number(self.relative), number(self.relative_error))?;
        writeln!(out, "\t(Student's t, pooled s = {})", number(self.pooled_sd))
    }
}
