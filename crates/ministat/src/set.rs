//! A set of runs, summarised as by ministat.

use crate::dialect::Dialect;
use crate::error::MinistatError;
use crate::order::{Extent, extent};
use crate::values::Values;

/// A named set of values.
#[derive(Clone, Debug)]
pub struct Set {
    /// The set's name.
    pub name: String,
    /// The number of values.
    pub n: usize,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The middle value. Of two, the upper one (Debian) or their mean (FreeBSD).
    pub median: f64,
    /// The sum over n.
    pub mean: f64,
    /// The variance. In Debian's dialect it may be negative where the mean is some 1e7 times the
    /// spread.
    pub variance: f64,
    pub(crate) dialect: Dialect,
    /// The points, in no particular order.
    pub(crate) points: Vec<f64>,
}

/// Whether a set keeps its values. Only a plot needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Keep the points, for a plot.
    Keep,
    /// Their memory is freed.
    Drop,
}

impl Set {
    /// Summarises the values, in the order of the file for Debian's dialect.
    ///
    /// # Errors
    /// [`MinistatError::TooFewPoints`] for fewer than three.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Result<Set, MinistatError> {
        Set::summed(name, values.into(), Dialect::Debian, Points::Keep)
    }

    /// The set of values that were summed while they were read.
    ///
    /// # Errors
    /// [`MinistatError::TooFewPoints`] for fewer than three.
    pub fn summed(
        name: impl Into<String>,
        mut values: Values,
        dialect: Dialect,
        points: Points,
    ) -> Result<Set, MinistatError> {
        let (name, n) = (name.into(), values.len());
        if n < 3 {
            return Err(MinistatError::TooFewPoints(name));
        }
        let Extent { min, median, max } = extent(&mut values, dialect);
        let mean = or_amd64_nan(values.sum(), values.sum() / n as f64);
        let variance = match dialect {
            Dialect::Debian => one_pass_variance(&values),
            Dialect::Freebsd => two_pass_variance(&values.all, mean),
        };
        let points = if points == Points::Keep { values.all } else { Vec::new() };
        Ok(Set { name, n, min, max, median, mean, variance, dialect, points })
    }

    /// The root of the variance; NaN if that is negative.
    pub fn sd(&self) -> f64 {
        or_amd64_nan(self.variance, self.variance.sqrt())
    }
}

fn one_pass_variance(values: &Values) -> f64 {
    let (n, sum, squares) = (values.len() as f64, values.sum(), values.sum_of_squares());
    or_amd64_nan(squares, (squares - sum * sum / n) / (n - 1.0))
}

/// Squared distances from the mean, over n - 1.
fn two_pass_variance(sorted: &[f64], mean: f64) -> f64 {
    let squares = sorted.iter().fold(0.0, |sum, value| sum + (value - mean) * (value - mean));
    or_amd64_nan(mean, squares / (sorted.len() as f64 - 1.0))
}

/// Sets only the sign of a NaN, which is printed: that of the `operand` if it is one, else
/// negative, as the processor makes it. Rust promises neither.
fn or_amd64_nan(operand: f64, value: f64) -> f64 {
    match (value.is_nan(), operand.is_nan()) {
        (false, _) => value,
        (true, true) => operand,
        (true, false) => -f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_as_ministat_does() {
        let set = Set::new("a", vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((set.name.as_str(), set.n, set.min, set.max), ("a", 4, 1.0, 4.0));
        assert_eq!((set.median, set.mean), (3.0, 2.5), "the median is the upper middle value");
        assert_eq!(set.sd(), (5.0_f64 / 3.0).sqrt());
    }

    #[test]
    fn its_cancellation_is_kept() {
        let values = vec![100_000_000.1; 7];
        let set = Set::new("a", values.clone()).unwrap();
        assert!(set.variance < 0.0);
        assert!(set.sd().is_nan() && set.sd().is_sign_negative());
        let set = Set::summed("a", values.into(), Dialect::Freebsd, Points::Drop).unwrap();
        assert!(set.sd() < 1e-7, "two passes do not cancel");
        assert!(set.points.is_empty());
    }

    #[test]
    fn two_points_are_too_few() {
        let error = Set::new("a.stat", vec![1.0, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "Dataset a.stat must contain at least 3 data points");
    }
}
