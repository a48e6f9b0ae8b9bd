//! The figures of a verdict.

use super::number::{fixed, signed};
use crate::compare::Comparison;
use crate::question::Margin;

/// The figures to show: percentages if possible, unless the margin is in the metric's unit.
pub(crate) struct ShownFigures {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// The measured value, if the stated one is corrected.
    pub(crate) measured: Option<f64>,
    pub(crate) detectable: Option<f64>,
    pub(crate) detectable_interval: Option<(f64, f64)>,
    /// The largest fall and the largest rise.
    pub(crate) possible: (f64, f64),
    /// The unit with a space before it; empty for a metric without unit.
    pub(crate) unit: String,
    pub(crate) remark: String,
}

impl ShownFigures {
    pub(crate) fn from_comparison(comparison: &Comparison, unit: &str) -> ShownFigures {
        let is_absolute = matches!(comparison.margin, Some(Margin::Absolute(_)));
        let has_percentage = comparison.relative_interval.is_some() || comparison.interval.is_none();
        match comparison.relative {
            Some(value) if has_percentage && !is_absolute => ShownFigures {
                value,
                interval: comparison.relative_interval,
                measured: comparison.unadjusted_relative,
                detectable: comparison.detectable_relative,
                detectable_interval: comparison.detectable_relative_interval,
                possible: comparison.possible_sizes(true),
                unit: " %".to_owned(),
                remark: String::new(),
            },
            relative => ShownFigures {
                value: comparison.difference,
                interval: comparison.interval,
                measured: comparison.unadjusted,
                detectable: comparison.detectable,
                detectable_interval: comparison.detectable_interval,
                possible: comparison.possible_sizes(false),
                unit: if unit.is_empty() { String::new() } else { format!(" {unit}") },
                remark: match relative {
                    Some(_) => String::new(),
                    None if comparison.baseline_mean == 0.0 => {
                        "; no percentage: the baseline is zero".to_owned()
                    }
                    None => format!("; no percentage: {UNBOUNDED}"),
                },
            },
        }
    }

    pub(crate) fn signed(&self, decimals: usize) -> String {
        format!("{}{}", signed(fixed(self.value, decimals)), self.unit)
    }

    /// Values in % carry their unit.
    pub(crate) fn unit_of_range(&self) -> &str {
        if self.unit == " %" { "" } else { &self.unit }
    }

    /// The measured value, if it reads differently from the stated one.
    pub(crate) fn as_measured(&self, decimals: usize) -> String {
        let words = |value: f64| format!("{}{}", fixed(value.abs(), decimals), self.unit);
        match self.measured.map(words) {
            Some(measured) if measured != words(self.value) => format!("; {}", corrected(&measured)),
            _ => String::new(),
        }
    }

    pub(crate) fn could_have_been_seen(&self, boots: usize) -> String {
        let figure = |size: f64| fixed(size, decimals(size, size));
        self.detectable.map_or_else(String::new, |size| {
            let seen =
                Seen { sizes: (size, size), interval: self.detectable_interval, possible: self.possible };
            format!("; {}", seen.sentence(figure, &self.unit, &format!("{boots} boots")))
        })
    }
}

/// The smallest difference with 80 % power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The smallest and the largest such size of several comparisons.
    pub sizes: (f64, f64),
    /// Its ends, as far as the spread is known.
    pub interval: Option<(f64, f64)>,
    /// The largest fall and the largest rise that are possible.
    pub possible: (f64, f64),
}

impl Seen {
    /// A sentence without a full stop. Sizes are shown in `unit`, which has a space before it or is
    /// empty; `boots` tells how many boots the spread rests on.
    pub fn sentence(&self, show: impl Fn(f64) -> String, unit: &str, boots: &str) -> String {
        let ((least, size), (fall, rise)) = (self.sizes, self.possible);
        let (what, most) = match (size <= fall, size <= rise) {
            (true, true) => ("difference", fall.min(rise)),
            (false, true) => ("rise", rise),
            (true, false) => ("fall", fall),
            (false, false) => {
                return format!(
                    "no possible difference would have been seen with 80 % power, as far as {boots} tell the spread"
                );
            }
        };
        let shown = |low: f64, high: f64| {
            let (from, to) = (show(low), show(high.min(most)));
            match high > most {
                true => format!("{from} to over {to}"),
                false if from == to => from,
                false => format!("{from} to {to}"),
            }
        };
        // Runs without spread have none.
        let interval = self.interval.filter(|(low, high)| show(*low) != show(*high));
        let interval = interval.map_or_else(String::new, |(low, high)| {
            format!(" ({}{unit}, as far as {boots} tell the spread)", shown(low.min(most), high))
        });
        format!("a {what} of {}{unit} would have been seen with 80 % power{interval}", shown(least, size))
    }
}

/// The note that a difference is median-unbiased, with the `measured` one and its unit.
pub fn corrected(measured: &str) -> String {
    format!("corrected for the looks, {measured} as measured")
}

/// Decimals that show two significant digits of the interval's half width: more would be noise.
/// Without a width, one for a value of at least 1, and enough for a smaller one.
pub(crate) fn decimals(half_width: f64, value: f64) -> usize {
    let shown = if half_width > value.abs() * 1e-9 { half_width } else { value.abs().min(1.0) };
    if shown > 0.0 { (1.0 - shown.log10().floor()).max(0.0) as usize } else { 1 }
}

/// Why there is no percentage (see `fieller`). The baseline by itself may be far from zero.
pub(crate) const UNBOUNDED: &str =
    "boots spread so much that, with the error of this comparison, zero is within the baseline's interval";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_without_width_shows_its_value() {
        assert_eq!(decimals(0.0, 33.3), 1);
        assert_eq!(decimals(1e-14, 0.0123), 3);
        assert_eq!(decimals(0.0, 0.0), 1);
        assert_eq!(decimals(2300.0, 1e6), 0);
    }
}
