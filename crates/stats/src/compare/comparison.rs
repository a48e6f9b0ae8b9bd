//! The comparison of one condition with a baseline.

use serde::Serialize;

use super::check::{Check, Farthest};
use super::verdict::Verdict;
use crate::question::{Margin, ValueRange};

/// The comparison of one condition with the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The condition.
    pub condition: usize,
    /// The condition it is compared with.
    pub baseline: usize,
    /// The confidence level of the intervals, as a probability: of all comparisons of a family
    /// together, over all looks of a sequential design.
    pub level: f64,
    /// The condition's mean over boots, each with one vote, in the metric's unit.
    pub mean: f64,
    /// The baseline's mean.
    pub baseline_mean: f64,
    /// `mean` - `baseline_mean`; if the study ended at a look because of it, the median-unbiased
    /// estimate of Emerson and Fleming (Biometrika 77, 1990).
    pub difference: f64,
    /// `mean` - `baseline_mean`, if `difference` is corrected.
    pub unadjusted: Option<f64>,
    /// The standard error of the difference; `None` without an interval.
    pub standard_error: Option<f64>,
    /// The interval of the difference; `None` with a `gap`.
    pub interval: Option<(f64, f64)>,
    /// The difference in % of the baseline's size; `None` where zero is in the baseline's interval.
    pub relative: Option<f64>,
    /// `unadjusted` in % of the baseline's size.
    pub unadjusted_relative: Option<f64>,
    /// The interval of `relative`; `None` without an interval, or where zero is in the baseline's.
    pub relative_interval: Option<(f64, f64)>,
    /// The ratio to the baseline, where there is an interval but no percentage, and all boots are
    /// above zero.
    pub ratio: Option<Ratio>,
    /// Whether the two have separate boots in a crossed design: the testbed's states differ, and
    /// the spread between boots is part of the error.
    pub boots_apart: bool,
    /// The number of boots: those that measured both (crossed), or those of the condition with
    /// fewer (nested, or separate boots).
    pub boots: usize,
    /// The number of boots that measured only one of the two; 0 in a nested design.
    pub boots_left_out: usize,
    /// Degrees of freedom of the intervals; 0 without one.
    pub df: f64,
    /// The p-value: the chance of so large a difference, in any comparison of the family and at any
    /// look, without a true one.
    pub p: Option<f64>,
    /// The two-sided error rate of this look for this comparison, in a sequential design.
    pub look_level: Option<f64>,
    /// The smallest difference with 80 % power if the true spread is the measured one, in the
    /// metric's unit.
    pub detectable: Option<f64>,
    /// `detectable` for the ends of the spread's interval, which has the confidence level by
    /// itself.
    pub detectable_interval: Option<(f64, f64)>,
    /// `detectable` in % of the baseline's size.
    pub detectable_relative: Option<f64>,
    /// `detectable_interval` in % of the baseline's size.
    pub detectable_relative_interval: Option<(f64, f64)>,
    /// The margin of equivalence, if one was stated.
    pub margin: Option<Margin>,
    /// The possible values.
    #[serde(skip)]
    pub range: ValueRange,
    /// Why there is no interval; `None` too if `resolution` replaces one.
    pub gap: Option<Gap>,
    /// The resolution of counts without noise, in %: it replaces an interval.
    pub resolution: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The run that prevents a percentage, if a single one does.
    pub wild: Option<Farthest>,
    /// The checks by medians and by ranks; empty without an interval.
    pub checks: Vec<Check>,
}

impl Comparison {
    /// Its condition and its baseline.
    pub(crate) fn pair(&self) -> (usize, usize) {
        (self.condition, self.baseline)
    }

    /// The means alone, from which nothing is concluded.
    pub(crate) fn without_answer(self, gap: Gap) -> Comparison {
        Comparison {
            condition: self.condition,
            baseline: self.baseline,
            level: self.level,
            mean: self.mean,
            baseline_mean: self.baseline_mean,
            difference: self.unadjusted.unwrap_or(self.difference),
            relative: self.unadjusted_relative.or(self.relative),
            boots_apart: self.boots_apart,
            boots: self.boots,
            boots_left_out: self.boots_left_out,
            margin: self.margin,
            range: self.range,
            gap: Some(gap),
            ..Comparison::default()
        }
    }

    /// Whether the difference is below the resolution of the numbers.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.interval == Some((0.0, 0.0))
    }

    /// The largest fall from the baseline and the largest rise, in % of its size or in the metric's
    /// unit.
    #[must_use]
    pub fn possible_sizes(&self, in_percent: bool) -> (f64, f64) {
        let (fall, rise) = self.range.largest_changes(self.baseline_mean);
        let unit = if in_percent { self.baseline_mean.abs() / 100.0 } else { 1.0 };
        (fall / unit, rise / unit)
    }

    /// The comparison of the same two conditions among others.
    pub(crate) fn same_among<'a>(&self, others: &'a [Comparison]) -> Option<&'a Comparison> {
        others.iter().find(|other| other.pair() == self.pair())
    }
}

/// The ratio to the baseline: of the geometric means of the boots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The estimate.
    pub value: f64,
    /// Its interval, with the same level as the difference's.
    pub interval: (f64, f64),
}

/// Why a comparison has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Crossed: no boot measured both, nor do other conditions connect the two.
    NotConnected,
    /// Crossed: a single boot measured both.
    OneBootInCommon,
    /// Either condition has a single boot, and no boot measured both.
    OneBoot,
    /// Every boot is needed for the means: no degrees of freedom are left for the error.
    NoError,
    /// Counts of one of the two, which should repeat, did not.
    Unlike,
    /// Values of one of the two conditions are partly effects of another condition.
    Carried,
}

impl Gap {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Gap::NotConnected => "no boot measured both it and the baseline",
            Gap::OneBootInCommon => {
                "only 1 boot measured both it and the baseline, an interval needs 2 or more"
            }
            Gap::OneBoot => "it or the baseline has only 1 boot, an interval needs 2 or more of each",
            Gap::NoError => "too few boots measured several conditions to estimate the error",
            Gap::Unlike => "its counts or the baseline's are not the same each time",
            Gap::Carried => {
                "turns of others last into its own or the baseline's: `alternate = \"off\"` gives each condition runs of its own"
            }
        }
    }
}
