//! The size of a study in boots and runs: power, the smallest difference it can show, and the
//! cheapest way to show one.
//!
//! The model is that of the analysis: a boot's mean of one condition varies with
//! [`SampleSizePlan::cell`], a run within the boot with [`SampleSizePlan::run`]; the error of a
//! difference between two conditions is sqrt(2 (cell^2 + run^2 / runs) / boots), and its test is t
//! with the typical degrees of freedom of conditions that spread alike. They vary between studies,
//! on balance favourably: the power is a few hundredths above the planned one. Lengths are in the
//! metric's unit throughout.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::compare::family;
use crate::distribution::{noncentral_t, numeric, student};
use crate::model::Common;
use crate::question::Design;
use crate::sequential::{Schedule, SpendingBounds, crossings};

/// The comparisons that share the error rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedFamily {
    /// Each comparison by itself.
    Alone,
    /// All conditions against one baseline.
    Baseline,
    /// All pairs.
    AllPairs,
}

/// A study of open size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleSizePlan {
    /// Whether conditions share boots.
    pub design: Design,
    /// The number of conditions, the baseline included.
    pub conditions: usize,
    /// The standard deviation of the effect of a boot on a condition, in the metric's unit: the
    /// spread between boots where each condition has its own (nested), the condition x boot
    /// interaction where conditions share them (crossed).
    pub cell: f64,
    /// The standard deviation between runs of the same condition in the same boot.
    pub run: f64,
    /// The comparisons that share `alpha`.
    pub family: PlannedFamily,
    /// The two-sided error rate: 1 - level.
    pub alpha: f64,
    /// The early looks: bounds and number. The power is then a lower bound.
    pub looks: Option<(SpendingBounds, u32)>,
}

/// The cost of measuring, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// One boot without its runs.
    pub boot: f64,
    /// One run of one condition.
    pub run: f64,
}

impl SampleSizePlan {
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
            PlannedFamily::Alone => own,
            PlannedFamily::Baseline | PlannedFamily::AllPairs => Common::typical_df(self.conditions, own),
        };
        2.0 * of_one / (1.0 + correlation)
    }

    /// The standard error of a difference between two conditions.
    pub fn standard_error(&self, boots: u32, runs: u32) -> f64 {
        let of_mean = self.cell * self.cell + self.run * self.run / f64::from(runs);
        (2.0 * of_mean / f64::from(boots)).sqrt()
    }

    /// The |t| that proves a difference, at the last look. `None` with fewer than two conditions or
    /// boots, too few boots for the looks, or an `alpha` outside of 0 to 1.
    pub fn critical(&self, boots: u32) -> Option<f64> {
        let is_valid = self.conditions > 1 && boots > 1 && self.alpha > 0.0 && self.alpha < 1.0;
        if !is_valid {
            return None;
        }
        let df = self.df(boots);
        let critical = self.judged().critical(self.alpha, df)?;
        let Some((bounds, looks)) = self.looks else { return Some(critical) };
        let looks = Schedule { bounds, looks, boots }.looks(df / (f64::from(boots) - 1.0));
        let nominal = looks.nominal(student::two_sided(critical, df));
        student::upper_quantile(0.5 * nominal.last()?, df)
    }

    /// The width of intervals with `boots` boots relative to a known spread: the cost of few boots
    /// beyond their number. `None` as for [`SampleSizePlan::critical`].
    pub fn stretch(&self, boots: u32) -> Option<f64> {
        Some(self.critical(boots)? / self.judged().critical(self.alpha, f64::INFINITY)?)
    }

    fn judged(&self) -> family::ComparisonFamily {
        match self.family {
            PlannedFamily::Alone => family::ComparisonFamily::Alone,
            // If conditions spread alike, half of each difference's variance is the baseline's.
            PlannedFamily::Baseline => {
                family::ComparisonFamily::beside_baseline(&vec![0.5; self.conditions - 1])
            }
            PlannedFamily::AllPairs => {
                family::ComparisonFamily::independent(self.conditions * (self.conditions - 1) / 2)
            }
        }
    }

    /// The probability that a true difference `delta` is proven, with its right sign.
    ///
    /// `None` unless the noise and `delta` are finite and not negative, there is a run, and
    /// [`SampleSizePlan::critical`] has a value.
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
    /// and the rest is as for [`SampleSizePlan::power`].
    pub fn detectable(&self, power: f64, boots: u32, runs: u32) -> Option<f64> {
        self.check(runs)?;
        Some(self.noncentrality(power, boots)? * self.standard_error(boots, runs))
    }

    /// The size of a difference, in standard errors, that is proven with probability `power`.
    fn noncentrality(&self, power: f64, boots: u32) -> Option<f64> {
        noncentrality(self.critical(boots)?, self.df(boots), power)
    }

    fn check(&self, runs: u32) -> Option<()> {
        let is_sd = |sd: f64| sd >= 0.0 && sd.is_finite();
        (is_sd(self.cell) && is_sd(self.run) && runs >= 1).then_some(())
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
    Some(numeric::bracketed(0.0, high, |nc| (miss(nc) / (1.0 - power)).ln()))
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

/// An estimate's error, and the boots that it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pilot {
    /// The boots: of each condition if nested, of all together if crossed.
    pub boots: u32,
    /// The standard error of the estimate.
    pub standard_error: f64,
    /// Its degrees of freedom.
    pub df: f64,
}

impl Pilot {
    /// The fewest boots, at least those of the pilot, with which a true value of size `delta` is
    /// proven with probability `power` by an interval of this `level`, if the true spread is the
    /// pilot's. The standard error falls with the root of the boots; the degrees of freedom grow
    /// with the boots less one, as those of [`SampleSizePlan::df`] do. `None` if `at_most` are too
    /// few, and for figures that no pilot can have.
    pub fn boots_needed(self, delta: f64, level: f64, power: f64, at_most: u32) -> Option<u32> {
        let is_sound = delta > 0.0
            && delta.is_finite()
            && self.boots >= 2
            && self.df >= 1.0
            && self.standard_error >= 0.0
            && self.standard_error.is_finite()
            && level > 0.0
            && level < 1.0;
        if !is_sound {
            return None;
        }
        fewest(self.boots, at_most.max(self.boots), |boots| {
            let df = self.df * (f64::from(boots) - 1.0) / (f64::from(self.boots) - 1.0);
            let error = self.standard_error * (f64::from(self.boots) / f64::from(boots)).sqrt();
            student::upper_quantile(0.5 * (1.0 - level), df)
                .and_then(|critical| noncentrality(critical, df, power))
                .is_some_and(|needed| needed * error <= delta)
        })
    }
}

/// The goal of a plan, and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerGoal {
    /// The true difference, in the metric's unit.
    pub delta: f64,
    /// The probability that it is proven.
    pub power: f64,
    /// The most boots (of each condition, if nested).
    pub boots_at_most: u32,
    /// The most runs of a condition in a boot.
    pub runs_at_most: u32,
}

/// A size that reaches the goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SampleSize {
    /// Boots: of each condition if nested, of all together if crossed.
    pub boots: u32,
    /// Runs of each condition in each of its boots.
    pub runs: u32,
    /// The time of the whole study.
    pub seconds: f64,
    /// The probability that the goal's difference is proven.
    pub power: f64,
}

impl SampleSizePlan {
    /// The cost of a study of this size.
    pub fn cost(&self, cost: Cost, boots: u32, runs: u32) -> f64 {
        let (conditions, boots) = (self.conditions as f64, f64::from(boots));
        let runs = cost.run * f64::from(runs);
        match self.design {
            Design::Nested => conditions * boots * (cost.boot + runs),
            Design::Crossed => boots * (cost.boot + conditions * runs),
        }
    }

    /// The fewest boots, from 2, that reach the goal with `runs` runs in each. `None` if the goal's
    /// limit is too low, or as for [`SampleSizePlan::power`].
    pub fn boots_needed(&self, goal: PowerGoal, runs: u32) -> Option<u32> {
        self.check(runs)?;
        self.search(goal)?(runs, 2, goal.boots_at_most)
    }

    /// From runs to the fewest boots, between two numbers of them, that reach the goal.
    fn search(&self, goal: PowerGoal) -> Option<impl Fn(u32, u32, u32) -> Option<u32>> {
        if !(goal.delta > 0.0 && goal.delta.is_finite()) {
            return None;
        }
        // A single look needs no more boots than several, and is computed much faster.
        let plans = [Some(SampleSizePlan { looks: None, ..*self }), self.looks.map(|_| *self)];
        // The noncentrality takes the time, and depends only on the boots: it is kept.
        let known: RefCell<BTreeMap<(u32, bool), Option<f64>>> = RefCell::default();
        let reaches = move |plan: &SampleSizePlan, boots: u32, runs: u32| {
            let needed = *known
                .borrow_mut()
                .entry((boots, plan.looks.is_some()))
                .or_insert_with(|| plan.noncentrality(goal.power, boots));
            needed.is_some_and(|needed| needed * plan.standard_error(boots, runs) <= goal.delta)
        };
        Some(move |runs, least, most| {
            fewest(least, most, |boots| plans.iter().flatten().all(|plan| reaches(plan, boots, runs)))
        })
    }

    /// The cheapest size within the limits that reaches the goal; of equally cheap ones that with
    /// the fewest runs. `None` if none reaches it, a cost is negative or not finite, or as for
    /// [`SampleSizePlan::power`].
    pub fn cheapest(&self, goal: PowerGoal, cost: Cost) -> Option<SampleSize> {
        self.check(1)?;
        let is_price = |price: f64| price >= 0.0 && price.is_finite();
        let search = self.search(goal).filter(|_| is_price(cost.boot) && is_price(cost.run))?;
        // More runs can save boots, but never more than unlimited runs would: that ends both
        // searches.
        let fewest = search(u32::MAX, 2, goal.boots_at_most)?;
        let mut best: Option<(f64, u32, u32)> = None;
        let mut most = goal.boots_at_most;
        for runs in 1..=goal.runs_at_most {
            if best.is_some_and(|(least, ..)| self.cost(cost, fewest, runs) >= least) {
                break;
            }
            let Some(boots) = search(runs, fewest, most) else { continue };
            most = boots;
            let price = self.cost(cost, boots, runs);
            if best.is_none_or(|(least, ..)| price < least) {
                best = Some((price, boots, runs));
            }
            if boots == fewest && cost.run > 0.0 {
                break;
            }
        }
        best.and_then(|(cost, boots, runs)| self.choice(goal, cost, boots, runs))
    }

    /// Other sizes that reach the goal: a quarter, half, one, two and four times `choice`'s runs.
    pub fn around(&self, choice: SampleSize, goal: PowerGoal, cost: Cost) -> Vec<SampleSize> {
        let Some(search) = self.search(goal) else { return Vec::new() };
        let SampleSize { runs, .. } = choice;
        let mut runs = vec![runs / 4, runs / 2, runs, runs.saturating_mul(2), runs.saturating_mul(4)];
        runs.retain(|runs| (1..=goal.runs_at_most).contains(runs));
        runs.dedup();
        let choice = |runs: u32| {
            let boots = search(runs, 2, goal.boots_at_most)?;
            self.choice(goal, self.cost(cost, boots, runs), boots, runs)
        };
        runs.into_iter().filter_map(choice).collect()
    }

    fn choice(&self, goal: PowerGoal, seconds: f64, boots: u32, runs: u32) -> Option<SampleSize> {
        Some(SampleSize { boots, runs, seconds, power: self.power(goal.delta, boots, runs)? })
    }
}

fn fewest(least: u32, most: u32, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    // Doubling first: small studies are likely, and large ones take no longer.
    let (mut low, mut high) = (least, least);
    while high < most && !is_enough(high) {
        low = high + 1;
        high = high.saturating_mul(2).min(most);
    }
    if high > most || !is_enough(high) {
        return None;
    }
    // By bisection: with more boots the error falls and the degrees of freedom grow.
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}
