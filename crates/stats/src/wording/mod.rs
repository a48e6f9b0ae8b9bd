//! Results in words: numbers, the figures that are shown, sentences.

mod sentence;

use crate::compare::{Check, Comparison, Looks};
use crate::question::Margin;

const MOST_DECIMALS: usize = 9;

/// A number with this many decimals; in exponent form with the same last digit if it is too long. A
/// result of zero has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let shown = if value.abs() >= 1e15 {
        format!("{value:.3e}")
    } else if decimals > MOST_DECIMALS && value.abs() < 1e-3 {
        let digits = value.abs().log10().floor() as i32 + i32::try_from(decimals).unwrap_or(i32::MAX);
        if value == 0.0 || digits < 0 {
            "0".to_owned()
        } else {
            format!("{value:.*e}", digits.min(16) as usize)
        }
    } else {
        format!("{value:.*}", decimals.min(MOST_DECIMALS))
    };
    match shown.strip_prefix('-') {
        Some(size) if is_zero(size) => size.to_owned(),
        _ => shown,
    }
}

/// A confidence level in %, to two decimals, and to as many as distinguish it from 100 or 0: `95`,
/// `99.17`, `99.9999`.
pub fn confidence(level: f64) -> String {
    let room = 100.0 * level.min(1.0 - level);
    let decimals = if room >= 0.01 { 2 } else { (1.0 - room.log10().floor()).clamp(2.0, 15.0) as usize };
    let shown = format!("{:.decimals$}", 100.0 * level);
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number in words, with `+` if it is above zero.
pub fn signed(shown: String) -> String {
    let is_positive = shown.starts_with(|first: char| first.is_ascii_digit()) && !is_zero(&shown);
    if is_positive { format!("+{shown}") } else { shown }
}

fn is_zero(shown: &str) -> bool {
    shown.bytes().all(|digit| matches!(digit, b'0' | b'.'))
}

impl Check {
    /// The sentence of a check that disagrees with a verdict, without a full stop and without
    /// [`Check::farthest`], which needs the boots' names. `is_proven`: the verdict is a difference.
    pub fn sentence(&self, is_proven: bool) -> String {
        let size = self.relative.map_or_else(String::new, |share| format!("{} %, ", signed(fixed(share, 1))));
        let p = if self.p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p {:.4}", self.p) };
        let (by, rests, hides) = match self.looks {
            Looks::RunMedians => (
                "by the medians of the boots' runs",
                "the verdict rests on single runs",
                "single runs hide the difference from the verdict",
            ),
            Looks::BootRanks => (
                "by the ranks of the boots",
                "the verdict rests on single boots",
                "single boots hide the difference from the verdict",
            ),
        };
        let finding = if is_proven {
            format!("no difference is seen ({size}{p}): {rests}")
        } else {
            format!("there is a difference ({size}{p}): {hides}")
        };
        format!("robust check disagrees: {by} {finding}")
    }
}

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
        let percent = comparison.relative.filter(|_| has_percentage && !is_absolute);
        let in_percent = percent.is_some();
        let (detectable, detectable_interval) = if in_percent {
            (comparison.detectable_relative, comparison.detectable_relative_interval)
        } else {
            (comparison.detectable, comparison.detectable_interval)
        };
        ShownFigures {
            value: percent.unwrap_or(comparison.difference),
            interval: if in_percent { comparison.relative_interval } else { comparison.interval },
            measured: if in_percent { comparison.unadjusted_relative } else { comparison.unadjusted },
            detectable,
            detectable_interval,
            possible: comparison.possible_sizes(in_percent),
            unit: match unit {
                _ if in_percent => " %".to_owned(),
                "" => String::new(),
                unit => format!(" {unit}"),
            },
            remark: match comparison.relative {
                Some(_) => String::new(),
                None if comparison.baseline_mean == 0.0 => "; no percentage: the baseline is zero".to_owned(),
                None => format!("; no percentage: {UNBOUNDED}"),
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
    fn what_rounds_to_zero_has_no_sign() {
        let shown = [-0.04, -0.0, 0.0, 0.04, -0.06, 0.06, -2e15, f64::NEG_INFINITY].map(|value| {
            let shown = fixed(value, 1);
            (signed(shown.clone()), shown)
        });
        let words = |signed: &str, shown: &str| (signed.to_owned(), shown.to_owned());
        let zero = || words("0.0", "0.0");
        let [below, above] = [words("-0.1", "-0.1"), words("+0.1", "0.1")];
        let vast = words("-2.000e15", "-2.000e15");
        assert_eq!(shown, [zero(), zero(), zero(), zero(), below, above, vast, words("-inf", "-inf")]);
        let small = [(1e-12, 13), (-1.234e-12, 14), (0.0, 12), (-1e-14, 13), (0.5, 12), (2e-320, 322)];
        let small = small.map(|(value, decimals)| fixed(value, decimals));
        assert_eq!(small, ["1.0e-12", "-1.23e-12", "0", "0", "0.500000000", "2.00e-320"]);
        assert_eq!(["-", "NaN", "0", "10"].map(|shown| signed(shown.to_owned())), ["-", "NaN", "0", "+10"]);
    }

    #[test]
    fn a_level_never_reads_as_certainty_or_nothing() {
        let levels = [0.95, 0.995, 1.0 - 0.05 / 6.0, 0.9, 0.999_999, 1.0 - 1e-10, 1.0 - f64::EPSILON, 1e-7];
        let shown = levels.map(confidence);
        let expected =
            ["95", "99.5", "99.17", "90", "99.9999", "99.99999999", "99.999999999999972", "0.00001"];
        assert_eq!(shown, expected);
    }
}

#[cfg(test)]
mod shown_tests {
    use super::*;

    #[test]
    fn an_interval_without_width_shows_its_value() {
        assert_eq!(decimals(0.0, 33.3), 1);
        assert_eq!(decimals(1e-14, 0.0123), 3);
        assert_eq!(decimals(0.0, 0.0), 1);
        assert_eq!(decimals(2300.0, 1e6), 0);
    }
}
