//! A combination of condition means, and its error.

use crate::distribution::student;

/// The rounding error of a cell's mean and of differences, as a share of the largest value: numbers
/// are written and read with 15 digits. An interval is never narrower, so rounding alone proves
/// nothing.
pub(crate) const ROUNDING: f64 = 1e-14;

/// An estimated combination of condition means, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// The standard error; infinite if unknown.
    pub(crate) se: f64,
    /// Degrees of freedom of the standard error, at least 1; 0 if unknown.
    pub(crate) df: f64,
    /// The rounding error of the value.
    pub(crate) rounding: f64,
}

impl Estimate {
    pub(crate) fn unsure(value: f64, rounding: f64) -> Estimate {
        Estimate { value, se: f64::INFINITY, df: 0.0, rounding }
    }

    pub(crate) fn is_sure(&self) -> bool {
        self.df > 0.0
    }

    /// Half the width of the interval with `critical` standard errors on either side; `None` if the
    /// error is unknown, or an end is not finite.
    pub(crate) fn half_width(&self, critical: f64) -> Option<f64> {
        let half = critical * self.se + self.rounding;
        (self.is_sure() && (self.value.abs() + half).is_finite()).then_some(half)
    }

    /// Whether the value, and `critical` of its standard errors, are rounding errors.
    pub(crate) fn is_rounding(&self, critical: f64) -> bool {
        self.is_sure() && self.value.abs().max(critical * self.se) <= self.rounding
    }

    pub(crate) fn interval_with(&self, critical: f64) -> Option<(f64, f64)> {
        let half = self.half_width(critical)?;
        Some((self.value - half, self.value + half))
    }

    /// The t-interval at error rate `alpha` (two-sided).
    pub(crate) fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        self.interval_with(student::upper_quantile(alpha / 2.0, self.df)?)
    }

    /// The value in standard errors, less rounding, without its sign.
    pub(crate) fn t(&self) -> f64 {
        let beyond = (self.value.abs() - self.rounding).max(0.0);
        if beyond == 0.0 { 0.0 } else { beyond / self.se }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_ends_or_there_is_none() {
        let estimate = Estimate { value: -9e307, se: 1e307, df: 2.0, rounding: 0.0 };
        assert_eq!(estimate.interval_with(4.0), Some((-9e307 - 4.0 * 1e307, -9e307 + 4.0 * 1e307)));
        assert_eq!(estimate.interval_with(12.0), None);
        assert_eq!(Estimate::unsure(1.0, 0.0).interval_with(2.0), None);
    }
}
