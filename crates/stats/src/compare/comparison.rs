//! The comparison of one condition with a baseline.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::compare::analysis::Analysis;
use crate::compare::robust::RobustCheck;
use crate::model::ErrorTerm;
use crate::question::{Margin, ValueRange};

/// The comparison of one condition with the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The condition.
    pub condition: usize,
    /// The condition it is compared with.
    pub baseline: usize,
    /// The confidence level, as a probability, of all comparisons of a family, over all looks.
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
    /// The ratio to the baseline: with an interval but no percentage, and all boots above zero.
    pub ratio: Option<Ratio>,
    /// Whether the two have separate boots in a crossed design: the testbed's states differ, and
    /// the spread between boots is part of the error.
    pub boots_apart: bool,
    /// Boots that measured both (crossed), or those of the condition with fewer (nested, apart).
    pub boots: usize,
    /// Degrees of freedom of the intervals; 0 without one.
    pub df: f64,
    /// The p-value: the chance of so large a difference, in any comparison of the family and at any
    /// look, without a true one.
    pub p: Option<f64>,
    /// The two-sided error rate of this look for this comparison, in a sequential design.
    pub look_level: Option<f64>,
    /// The smallest difference with 80 % power at the measured spread, in the metric's unit.
    pub detectable: Option<f64>,
    /// `detectable` in % of the baseline's size.
    pub detectable_relative: Option<f64>,
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
    /// The check by medians; empty without an interval, and for fewer than three runs in each boot.
    pub checks: Vec<RobustCheck>,
}

impl Comparison {
    pub(crate) fn pair(&self) -> (usize, usize) {
        (self.condition, self.baseline)
    }

    /// The means alone, from which nothing is concluded.
    pub(crate) fn means(self) -> Comparison {
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
            margin: self.margin,
            range: self.range,
            ..Comparison::default()
        }
    }

    /// Whether the difference is below the resolution of the numbers.
    pub fn is_equal(&self) -> bool {
        self.interval == Some((0.0, 0.0))
    }

    /// The largest fall from the baseline and the largest rise, in % or in the metric's unit.
    pub fn possible_sizes(&self, in_percent: bool) -> (f64, f64) {
        let (least, most) = self.range.ends();
        let (fall, rise) = ((self.baseline_mean - least).max(0.0), (most - self.baseline_mean).max(0.0));
        let unit = if in_percent { self.baseline_mean.abs() / 100.0 } else { 1.0 };
        (fall / unit, rise / unit)
    }

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

    /// The reason in words, where each pair of machines counts as a boot.
    pub fn over_pairs(self) -> &'static str {
        match self {
            Gap::OneBootInCommon | Gap::OneBoot => {
                "only 1 pair of machines measured both it and the baseline, an interval needs 2 or more"
            }
            Gap::NoError => "too few pairs of machines measured both to estimate the error",
            Gap::Unlike | Gap::Carried => self.as_str(),
        }
    }
}

/// The verdict of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval of the difference lies above zero.
    Higher,
    /// The whole interval lies below zero.
    Lower,
    /// The interval includes zero, and no margin was stated: a difference is not proven.
    NoDifferenceProven,
    /// Within the stated margin, by two one-sided tests; the difference may still be proven.
    Equivalent,
    /// No interval, or a margin was stated and neither a difference nor equivalence is proven.
    #[default]
    Inconclusive,
}

impl Verdict {
    pub(crate) fn from_interval(interval: Option<(f64, f64)>, is_equivalent: Option<bool>) -> Verdict {
        match (interval, is_equivalent) {
            (None, _) => Verdict::Inconclusive,
            // The interval of twice the error rate lies inside the margin (Schuirmann, J.
            // Pharmacokinet. Biopharm. 15, 1987).
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

impl Analysis {
    /// Judges the comparisons by a resolution in %: a larger difference is real, a smaller one is
    /// equivalent. For counts that repeat within this share on every machine, so that one boot is
    /// enough; there are no intervals. Conditions in `unlike`, whose counts did not repeat, have no
    /// verdict.
    pub fn by_resolution(mut self, resolution: f64, unlike: &[usize]) -> Analysis {
        self.error = ErrorTerm::Resolution;
        let judge = |one: Comparison| {
            let is_unlike = unlike.contains(&one.condition) || unlike.contains(&one.baseline);
            let within = resolution / 100.0 * one.baseline_mean.abs();
            one.by_resolution(resolution, (within, Margin::Percent(resolution)), is_unlike)
        };
        self.comparisons = self.comparisons.into_iter().map(judge).collect();
        self.conditions.iter_mut().for_each(|condition| condition.interval = None);
        self
    }
}

impl Comparison {
    /// The comparison, equivalent where the difference is at most `within`, which is `resolution`
    /// in % and `margin`.
    pub(crate) fn by_resolution(
        self,
        resolution: f64,
        (within, margin): (f64, Margin),
        is_unlike: bool,
    ) -> Comparison {
        let difference = self.unadjusted.unwrap_or(self.difference);
        let share = 100.0 * difference / self.baseline_mean.abs();
        let verdict = match difference {
            _ if is_unlike => Verdict::Inconclusive,
            difference if difference.abs() <= within => Verdict::Equivalent,
            difference if difference > 0.0 => Verdict::Higher,
            _ => Verdict::Lower,
        };
        Comparison {
            relative: share.is_finite().then_some(share),
            margin: Some(margin),
            gap: is_unlike.then_some(Gap::Unlike),
            resolution: Some(resolution),
            verdict,
            ..self.means()
        }
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

#[cfg(test)]
mod counts_tests {
    use crate::{ErrorTerm, Gap, Observation, Question, Verdict, analyse};

    #[test]
    fn what_differs_beyond_the_resolution_differs() {
        // One boot of one run each has no spread and no interval.
        let run = |condition, value| Observation { condition, boot: 1, value };
        let runs = [run(0, 10_000.0), run(1, 10_009.0), run(2, 10_011.0), run(3, 9_000.0), run(4, 10_000.0)];
        let analysis = analyse(&runs, &Question::against(0)).unwrap().by_resolution(0.1, &[]);
        assert_eq!(analysis.error, ErrorTerm::Resolution);
        let verdicts: Vec<Verdict> = analysis.comparisons.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Equivalent, Verdict::Higher, Verdict::Lower, Verdict::Equivalent]);
        let shares = analysis.comparisons.iter().map(|one| one.relative.unwrap());
        let rounded: Vec<f64> = shares.map(|share| (1000.0 * share).round() / 1000.0).collect();
        assert_eq!(rounded, [0.09, 0.11, -10.0, 0.0]);
        // Two zeros are equivalent; a count against zero has no percentage.
        let none = analyse(&[run(0, 0.0), run(1, 0.0), run(2, 5.0)], &Question::against(0)).unwrap();
        let none = none.by_resolution(0.1, &[]).comparisons;
        assert_eq!((none[0].verdict, none[1].verdict), (Verdict::Equivalent, Verdict::Higher));
        assert_eq!((none[1].difference, none[1].relative), (5.0, None));
    }

    #[test]
    fn counts_that_do_not_repeat_are_not_reported() {
        let run = |condition, value| Observation { condition, boot: 1, value };
        let judged = |unlike: &[usize]| {
            let runs = [run(0, 10_000.0), run(1, 9_000.0), run(2, 9_000.0)];
            let analysis = analyse(&runs, &Question::against(0)).unwrap().by_resolution(0.1, unlike);
            analysis.comparisons.iter().map(|one| (one.verdict, one.gap)).collect::<Vec<_>>()
        };
        let (open, lower) = ((Verdict::Inconclusive, Some(Gap::Unlike)), (Verdict::Lower, None));
        assert_eq!(judged(&[1]), [open, lower]);
        assert_eq!(judged(&[0]), [open, open]);
    }
}
