//! Student's t with the variances pooled.

use std::fmt;

use serde::Serialize;

use crate::dialect::Dialect;
use crate::format::g;
use crate::level::Level;
use crate::set::Set;

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
    /// The error of `relative`; negative if the reference's mean is. Debian's dialect takes that
    /// mean as exact, FreeBSD's includes its error.
    pub relative_error: f64,
    /// The pooled standard deviation.
    pub pooled_sd: f64,
    /// Whether the difference is larger than the error.
    pub is_proven: bool,
}

impl Set {
    /// Compares this set with `reference`, in this set's dialect.
    pub fn against(&self, reference: &Set, level: Level) -> PooledT {
        let (n, reference_n) = (self.n as f64, reference.n as f64);
        let df = self.n + reference.n - 2;
        let squares = (n - 1.0) * self.variance + (reference_n - 1.0) * reference.variance;
        let pooled_sd = (squares / df as f64).sqrt();
        let t = level.t(df);
        let error = t * (pooled_sd * (1.0 / n + 1.0 / reference_n).sqrt());
        let difference = self.mean - reference.mean;
        let relative = |value: f64| value * 100.0 / reference.mean;
        let error_of_ratio = match self.dialect {
            Dialect::Debian => error,
            Dialect::Freebsd => {
                let ratio = self.mean * self.mean / (reference.mean * reference.mean);
                let squares = (n - 1.0) * self.variance + (reference_n - 1.0) * reference.variance * ratio;
                t * (squares * (n + reference_n) / (n * reference_n * df as f64)).sqrt()
            }
        };
        PooledT {
            percent: level.percent(),
            df,
            difference,
            error,
            relative: relative(difference),
            relative_error: relative(error_of_ratio),
            pooled_sd,
            is_proven: difference.abs() > error,
        }
    }
}

/// The verdict as ministat prints it, with a newline.
impl fmt::Display for PooledT {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_one_decimal = (self.percent * 10.0).fract() == 0.0;
        let level = if has_one_decimal { format!("{:.1}", self.percent) } else { g(self.percent, 6) };
        if !self.is_proven {
            return writeln!(out, "No difference proven at {level}% confidence");
        }
        // 0 / 0 is the only NaN here; the processor's own NaN prints with a sign.
        let number = |value: f64| g(if value.is_nan() { -f64::NAN } else { value }, 6);
        writeln!(out, "Difference at {level}% confidence")?;
        writeln!(out, "\t{} +/- {}", number(self.difference), number(self.error))?;
        writeln!(out, "\t{}% +/- {}%", number(self.relative), number(self.relative_error))?;
        writeln!(out, "\t(Student's t, pooled s = {})", number(self.pooled_sd))
    }
}
