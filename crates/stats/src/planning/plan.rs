//! A study of open size, and its power.

use crate::compare::family;
use crate::distribution::{noncentral_t, solve, student};
use crate::model::Common;
use crate::question::Design;
use crate::sequential::{Bounds, Schedule, crossings};

/// Standard deviations, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The effect of a boot on a condition: the spread between boots where each condition has its
    /// own (nested), the condition x boot interaction where conditions share them (crossed).
    pub cell: f64,
    /// Between runs of the same condition in the same boot.
    pub run: f64,
}

/// The comparisons that share the error rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Each comparison by itself.
    Alone,
    /// All conditions against one baseline.
    Baseline,
    /// All pairs.
    AllPairs,
}

/// A study of open size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Whether conditions share boots.
    pub design: Design,
    /// The number of conditions, the baseline included.
    pub conditions: usize,
    /// The noise.
    pub noise: Noise,
    /// The comparisons that share `alpha`.
    pub family: Family,
    /// The two-sided error rate: 1 - level.
    pub alpha: f64,
    /// The early looks of the study: the bounds, and their number. The power is a lower bound then,
    /// since earlier looks only add to that of the last.
    pub looks: Option<(Bounds, u32)>,
}

/// The cost of measuring, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// One boot without its runs.
    pub boot: f64,
    /// One run of one condition.
    pub run: f64,
}

impl Plan {
    /// The degrees of freedom of a difference with `boots` boots (of each condition if nested, of
    /// all together if crossed), as they typically are where the conditions spread alike: those of
    /// two variances, which are correlated where conditions share boots, and moderated where
    /// several comparisons hold together. Of two conditions they are exact: 2 (boots - 1) nested,
    /// boots - 1 crossed.
    pub fn df(&self, boots: u32) -> f64 {
        let correlation = match self.design {
            Design::Nested => 0.0,
            Design::Crossed => (self.conditions as f64 - 1.0).powi(-2),
        };
        let own = f64::from(boots) - 1.0;
        let of_one = match self.family {
            Family::Alone => own,
            Family::Baseline | Family::AllPairs => Common::typical_df(self.conditions, own),
        };
        2.0 * of_one / (1.0 + correlation)
    }

    /// The standard error of a difference between two conditions.
    pub fn standard_error(&self, boots: u32, runs: u32) -> f64 {
        let Noise { cell, run } = self.noise;
        (2.0 * (cell * cell + run * run / f64::from(runs)) / f64::from(boots)).sqrt()
    }

    /// The |t| that proves a difference, at the last look. `None` with fewer than two conditions or
    /// boots, too few boots for the looks, or an `alpha` outside of 0 to 1.
    pub fn critical(&self, boots: u32) -> Option<f64> {
        let critical = self.critical_of_one_look(boots)?;
        let Some((bounds, looks)) = self.looks else { return Some(critical) };
        let df = self.df(boots);
        let looks = Schedule { bounds, looks, boots }.looks(df / (f64::from(boots) - 1.0));
        let nominal = looks.nominal(student::two_sided(critical, df));
        student::upper_quantile(0.5 * nominal.last()?, df)
    }

    fn critical_of_one_look(&self, boots: u32) -> Option<f64> {
        if self.conditions < 2 || boots < 2 {
            return None;
        }
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return None;
        }
        self.judged().critical(self.alpha, self.df(boots))
    }

    /// The width of intervals with `boots` boots relative to a known spread: the cost of few boots
    /// beyond their number. `None` as for [`Plan::critical`].
    pub fn stretch(&self, boots: u32) -> Option<f64> {
        Some(self.critical(boots)? / self.judged().critical(self.alpha, f64::INFINITY)?)
    }

    fn judged(&self) -> family::ComparisonFamily {
        match self.family {
            Family::Alone => family::ComparisonFamily::Alone,
            // If conditions spread alike, half of each difference's variance is the baseline's.
            Family::Baseline => family::ComparisonFamily::beside_baseline(&vec![0.5; self.conditions - 1]),
            Family::AllPairs => {
                family::ComparisonFamily::independent(self.conditions * (self.conditions - 1) / 2)
            }
        }
    }

    /// The probability that a true difference of size `delta` between two conditions is proven,
    /// with its right sign.
    ///
    /// `None` unless the noise and `delta` are finite and not negative, there is a run, and
    /// [`Plan::critical`] has a value.
    pub fn power(&self, delta: f64, boots: u32, runs: u32) -> Option<f64> {
        self.check(runs)?;
        let is_length = delta >= 0.0 && delta.is_finite();
        let critical = self.critical(boots).filter(|_| is_length)?;
        let error = self.standard_error(boots, runs);
        // Without noise every difference is proven.
        let nc = delta / error;
        Some(match (nc.is_finite(), delta > 0.0) {
            (true, _) => noncentral_t::sf(critical, self.df(boots), nc),
            (false, true) => 1.0,
            (false, false) => 0.0,
        })
    }

    /// The true difference that is proven with probability `power`. `None` unless 0 < `power` < 1
    /// and the rest is as for [`Plan::power`].
    pub fn detectable(&self, power: f64, boots: u32, runs: u32) -> Option<f64> {
        self.check(runs)?;
        Some(self.noncentrality(power, boots)? * self.standard_error(boots, runs))
    }

    /// The size of a difference, in standard errors, that is proven with probability `power`.
    pub(super) fn noncentrality(&self, power: f64, boots: u32) -> Option<f64> {
        noncentrality(self.critical(boots)?, self.df(boots), power)
    }

    pub(super) fn check(&self, runs: u32) -> Option<()> {
        let is_sd = |sd: f64| sd >= 0.0 && sd.is_finite();
        (is_sd(self.noise.cell) && is_sd(self.noise.run) && runs >= 1).then_some(())
    }
}

/// The difference, in standard errors, whose t exceeds `critical` with probability `power`; 0 where
/// no difference is needed. `None` unless 0 < `power` < 1, `df` >= 1 and `critical` is finite and
/// not negative.
pub fn noncentrality(critical: f64, df: f64, power: f64) -> Option<f64> {
    let is_valid = power > 0.0 && power < 1.0 && df >= 1.0 && critical >= 0.0 && critical.is_finite();
    if !is_valid {
        return None;
    }
    // The miss becomes ever rarer: finds where it is rare enough, then bisects.
    let miss = |nc: f64| noncentral_t::cdf(critical, df, nc);
    let mut high = critical + 1.0;
    while miss(high) > 1.0 - power {
        high *= 2.0;
    }
    Some(solve::bracketed(0.0, high, |nc| (miss(nc) / (1.0 - power)).ln()))
}

/// The expected number of boots if the true difference is `drift` times its standard error at the
/// last look, with `alpha` over all looks: by the normal distribution, so a little less than with
/// the few boots of a t-adjusted design. `None` where the schedule has no looks or `drift` is not
/// finite.
pub fn expected_boots(schedule: Schedule, alpha: f64, drift: f64) -> Option<f64> {
    let fractions = schedule.fractions();
    let stops = crossings(&fractions, &schedule.bounds.z(&fractions, alpha), drift);
    let last = f64::from(schedule.boots);
    let spared: f64 =
        stops.iter().zip(schedule.after()).map(|(stop, boots)| stop * (last - f64::from(boots))).sum();
    (!stops.is_empty()).then_some(last - spared)
}
