//! One effect over many machines: each machine pair (a transmitter and a receiver) has its own
//! estimate of the effect, from its own boots.
//!
//! The estimate of a pair is the effect over machines, plus a deviation of its machines, plus an
//! error. Each pair counts once: more boots of one pair say nothing about other machines, and
//! weights by precision would let the quietest machine stand for all. Deviations and errors are
//! assumed to be normal, and the errors of all pairs equal where the list says so: if a third of
//! the pairs have five times the error of the others, such a 95 % interval covers 91 to 97 %.
//!
//! - Effect over machines: unweighted mean, Student's t with n - 1 degrees of freedom. Unequal
//!   errors only make it cautious, at error rates up to 8.3 % (Bakirov and Székely, J. Math. Sci.
//!   139, 2006).
//! - Spread over machines: variance of the estimates less their mean squared standard error. In
//!   balanced data it is REML's estimate, where that is positive. Interval by the modified large
//!   sample method (Ting, Burdick, Graybill, Jeyaratnam and Lu, J. Stat. Comput. Simul. 35, 1990),
//!   for equal errors; unequal ones cost degrees of freedom.
//! - Prediction for one more pair: Student's t with n - 1 degrees of freedom, for equal errors.
//! - Pairs with a proven effect: t-test of each with its own degrees of freedom. Holm's correction
//!   (Scandinavian Journal of Statistics 6, 1979) holds for the directions too (Shaffer, Annals of
//!   Statistics 8, 1980).
//! - Pairs that stand apart: externally studentised deviation from the others, with n - 2 degrees
//!   of freedom and Bonferroni's correction, which is Grubbs' test (Technometrics 11, 1969); the
//!   pair's own error, with its degrees of freedom, must not explain the deviation either.
//! - Groups: means like those over all machines, and Welch's t between them (Biometrika 34, 1947)
//!   with the degrees of freedom that comparisons of conditions have, and Holm's correction.

mod groups;

use serde::{Deserialize, Serialize};

use crate::compare::Verdict;
use crate::distribution::student;
use crate::families;
use crate::model::{Component, Estimate, ROUNDING, Spread, sum_of_two};
use crate::observed::{deviation, mean};
use crate::question::{StatsError, require_level};

pub use groups::{GroupDifference, GroupEffect, GroupedEffect, over_groups};

/// One machine pair's estimate of an effect: the logarithm of a ratio, or a difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairEffect {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error over the boots of this pair.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error; below 1 the error is unknown, as after one boot.
    pub degrees_of_freedom: f64,
}

/// An estimated effect with its verdict, in the unit of the pairs' effects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgedEffect {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error; `None` if unknown.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of the standard error; 0 if it is unknown.
    pub degrees_of_freedom: f64,
    /// Its interval; `None` if the error is unknown.
    pub interval: Option<(f64, f64)>,
    /// The verdict of the interval.
    pub verdict: Verdict,
}

/// The effect over a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetEffect {
    /// The effect over machines; for one pair the pair's own.
    pub mean: JudgedEffect,
    /// The standard deviation between machines beyond the error of their estimates. `None` for one
    /// pair, or if no error is known. It has no interval if the estimates agree better than their
    /// errors allow at any spread, as those of 2.5 % of fleets without spread do at 95 %.
    pub spread: Option<Component>,
    /// The interval of the estimate of one more machine pair, measured as these were: it includes
    /// the error of that estimate. `None` for one pair.
    pub prediction: Option<(f64, f64)>,
    /// Each pair, in the order given. Their intervals are corrected so that all verdicts hold
    /// together.
    pub pairs: Vec<JudgedEffect>,
    /// The number of pairs with each result.
    pub count: PairCount,
    /// Indices of the pairs that do not belong to the others; the chance of any in a fleet without
    /// one is at most 1 - confidence. Two such pairs can hide each other. Empty for fewer than
    /// three pairs: of two that differ, neither is the odd one.
    pub apart: Vec<usize>,
}

/// The number of pairs with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairCount {
    /// Pairs with a proven effect in the direction of the mean.
    pub holds: usize,
    /// Pairs with a proven effect in the other direction, or in any if the mean is zero.
    pub contradicts: usize,
    /// Pairs with an effect proven to be within the margin.
    pub equivalent: usize,
    /// All other pairs.
    pub not_proven: usize,
}

/// Summarises an effect over machine pairs. `confidence` is a probability: 0.95 for 95 %; an effect
/// smaller than `margin`, in the unit of the effects, does not matter.
///
/// # Errors
/// [`StatsError::Level`], [`StatsError::Margin`], [`StatsError::NoPairs`] and [`StatsError::Pair`].
pub fn over_pairs(
    pairs: &[PairEffect],
    confidence: f64,
    margin: Option<f64>,
) -> Result<FleetEffect, StatsError> {
    if let Some(margin) = margin.filter(|margin| !(*margin > 0.0 && margin.is_finite())) {
        return Err(StatsError::Margin(margin));
    }
    let fleet = Fleet::new(pairs, confidence)?;
    let margin = margin.map(|margin| margin / fleet.unit);
    let over_machines = mean_of(&fleet.estimates);
    let mean = if let [only] = fleet.estimates[..] { only } else { over_machines };
    let levels = holm_levels(&fleet.estimates, fleet.alpha, margin);
    let judged = fleet.estimates.iter().zip(levels).map(|(one, level)| fleet.judged(one, level, margin));
    let judged: Vec<JudgedEffect> = judged.collect();
    Ok(FleetEffect {
        mean: fleet.judged(&mean, fleet.alpha, margin),
        spread: fleet.spread(&over_machines),
        prediction: fleet.prediction(&over_machines),
        count: PairCount::new(&judged, mean.value),
        pairs: judged,
        apart: fleet.pairs_apart(&over_machines),
    })
}

impl PairCount {
    fn new(pairs: &[JudgedEffect], mean: f64) -> PairCount {
        let mut count = PairCount::default();
        for pair in pairs {
            let place = match pair.verdict {
                Verdict::Higher if mean > 0.0 => &mut count.holds,
                Verdict::Lower if mean < 0.0 => &mut count.holds,
                Verdict::Higher | Verdict::Lower => &mut count.contradicts,
                Verdict::Equivalent => &mut count.equivalent,
                Verdict::NoDifferenceProven | Verdict::Inconclusive => &mut count.not_proven,
            };
            *place += 1;
        }
        count
    }
}

/// The estimates of all pairs in units of the largest number among them, so that no square
/// overflows.
struct Fleet {
    unit: f64,
    estimates: Vec<Estimate>,
    alpha: f64,
}

impl Fleet {
    fn new(pairs: &[PairEffect], confidence: f64) -> Result<Fleet, StatsError> {
        require_level(confidence)?;
        if pairs.is_empty() {
            return Err(StatsError::NoPairs);
        }
        for (place, pair) in (1..).zip(pairs) {
            for (name, value, least) in [
                ("estimate", pair.estimate, f64::MIN),
                ("standard error", pair.standard_error, 0.0),
                ("number of degrees of freedom", pair.degrees_of_freedom, 0.0),
            ] {
                if !(value >= least && value.is_finite()) {
                    return Err(StatsError::Pair { place, name, value });
                }
            }
        }
        let largest = pairs.iter().fold(0.0, |most: f64, pair| most.max(pair.estimate.abs()));
        let unit = pairs.iter().fold(largest, |most, pair| most.max(pair.standard_error));
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let rounding = ROUNDING * largest / unit;
        let estimates = pairs.iter().map(|pair| {
            let value = pair.estimate / unit;
            if pair.degrees_of_freedom < 1.0 {
                return Estimate::unsure(value, rounding);
            }
            Estimate { value, se: pair.standard_error / unit, df: pair.degrees_of_freedom, rounding }
        });
        Ok(Fleet { unit, estimates: estimates.collect(), alpha: 1.0 - confidence })
    }

    /// `scaled` in the unit of the effects; the largest finite number instead of an infinite one.
    fn in_unit(&self, scaled: f64) -> f64 {
        (scaled * self.unit).clamp(f64::MIN, f64::MAX)
    }

    fn judged(&self, estimate: &Estimate, level: f64, margin: Option<f64>) -> JudgedEffect {
        let interval = estimate.interval(level);
        let is_equivalent =
            margin.map(|margin| estimate.is_sure() && equivalence_p(estimate, margin) < level);
        JudgedEffect {
            estimate: self.in_unit(estimate.value),
            standard_error: estimate.is_sure().then(|| self.in_unit(estimate.se)),
            degrees_of_freedom: estimate.df,
            interval: interval.map(|(low, high)| (self.in_unit(low), self.in_unit(high))),
            verdict: Verdict::from_interval(interval, is_equivalent),
        }
    }

    fn spread(&self, mean: &Estimate) -> Option<Component> {
        let error = mean_square_error(&self.estimates).filter(|_| mean.is_sure())?;
        let variance = mean.se * mean.se * self.count();
        let total = Spread { variance, df: self.total_df(variance, error.variance) };
        let Component { sd, interval, df } = Component::from_difference(total, Some(error), self.alpha, 1.0);
        let interval = interval.filter(|(_, high)| *high > 0.0);
        let in_unit = |(low, high)| (self.in_unit(low), self.in_unit(high));
        Some(Component { sd: self.in_unit(sd), interval: interval.map(in_unit), df })
    }

    /// Satterthwaite's degrees of freedom of the variance of the estimates (Biometrics 2, 1946), as
    /// a quadratic form: n - 1 for equal errors, fewer the more they differ.
    fn total_df(&self, total: f64, error: f64) -> f64 {
        let (n, spread) = (self.count(), (total - error).max(0.0));
        let (mut sum, mut squares) = (0.0, 0.0);
        for one in &self.estimates {
            let (square, df) = if one.is_sure() { (one.se * one.se, one.df) } else { (error, f64::INFINITY) };
            sum += spread + square;
            // The square of an estimated variance is too large on average.
            squares += spread * spread + 2.0 * spread * square + square * square / (1.0 + 2.0 / df);
        }
        let of_mean = sum * sum / (n * n);
        // Without any variance not a number, which `min` leaves out.
        ((n - 1.0).powi(2) * of_mean / (squares * (1.0 - 2.0 / n) + of_mean)).min(n - 1.0)
    }

    fn prediction(&self, mean: &Estimate) -> Option<(f64, f64)> {
        let of_one = Estimate { se: mean.se * (self.count() + 1.0).sqrt(), ..*mean };
        let (low, high) = of_one.interval(self.alpha)?;
        Some((self.in_unit(low), self.in_unit(high)))
    }

    fn pairs_apart(&self, mean: &Estimate) -> Vec<usize> {
        let (n, all) = (self.count(), 0..self.estimates.len());
        if n < 3.0 {
            return Vec::new();
        }
        // Thousands of pairs are not each compared with all others. Grubbs' test by the deviation
        // from the mean of all is the same one, and here a tenth less strict, for the rounding.
        let t = student::upper_quantile(0.5 * self.alpha / n, n - 2.0).unwrap_or(0.0);
        let least = 0.9 * t * t / (t * t + n - 2.0);
        let share = |index: usize| (self.estimates[index].value - mean.value) / ((n - 1.0) * mean.se);
        let may_be = |index: &usize| share(*index).powi(2) >= least;
        all.filter(may_be).filter(|index| self.stands_apart(*index)).collect()
    }

    /// Whether a pair is farther from the mean of the others than both their spread and the errors
    /// explain. Others that agree by chance better than their errors allow are no measure, and a
    /// pair that was measured less precisely than the others may be as much farther.
    fn stands_apart(&self, index: usize) -> bool {
        let pair = &self.estimates[index];
        let is_other = |(place, one): (usize, &Estimate)| (place != index).then_some(*one);
        let others: Vec<Estimate> = self.estimates.iter().enumerate().filter_map(is_other).collect();
        let (mean, count) = (mean_of(&others), others.len() as f64);
        let error = mean_square_error(&others).unwrap_or(Spread::NONE);
        let own =
            if pair.is_sure() { Spread { variance: pair.se * pair.se, df: pair.df } } else { Spread::NONE };
        let spread = Spread { variance: mean.se * mean.se * (count + 1.0), df: mean.df };
        let excess = Spread { variance: (own.variance - error.variance).max(0.0), ..own };
        let of_mean = Spread { variance: error.variance / count, ..error };
        let is_beyond = |parts: [Spread; 2], most_df: f64| {
            let difference = difference(pair, &mean, parts);
            student::two_sided(difference.t(), difference.df.min(most_df)) * self.count() < self.alpha
        };
        // A well-known excess does not make the spread of the others better known.
        is_beyond([spread, excess], spread.df) && is_beyond([own, of_mean], f64::INFINITY)
    }

    fn count(&self) -> f64 {
        self.estimates.len() as f64
    }
}

impl PairEffect {
    /// The mean difference of boots that measured both conditions.
    pub fn of_shared_boots(differences: &[f64]) -> PairEffect {
        Self::from_estimate(mean_of(&each_boot(differences)))
    }

    /// The difference of the means of boots that measured one condition each (Welch).
    pub fn of_separate_boots(baseline: &[f64], condition: &[f64]) -> PairEffect {
        let [condition, baseline] = [condition, baseline].map(|boots| mean_of(&each_boot(boots)));
        Self::from_estimate(welch(&condition, &baseline))
    }

    fn from_estimate(Estimate { value, se, df, .. }: Estimate) -> PairEffect {
        let standard_error = if df > 0.0 { se } else { 0.0 };
        PairEffect { estimate: value, standard_error, degrees_of_freedom: df }
    }
}

fn each_boot(values: &[f64]) -> Vec<Estimate> {
    values.iter().map(|value| Estimate::unsure(*value, 0.0)).collect()
}

/// The mean over machines, each with one vote; its error is unknown for one pair.
fn mean_of(estimates: &[Estimate]) -> Estimate {
    let values: Vec<f64> = estimates.iter().map(|one| one.value).collect();
    let (value, count) = (mean(&values), values.len() as f64);
    let rounding = estimates.iter().fold(0.0, |most: f64, one| most.max(one.rounding));
    if values.len() < 2 {
        return Estimate::unsure(value, rounding);
    }
    let se = deviation(&values, value, count - 1.0) / count.sqrt();
    Estimate { value, se, df: count - 1.0, rounding }
}

/// The difference of two independent means (Welch).
fn welch(one: &Estimate, other: &Estimate) -> Estimate {
    let variance = |mean: &Estimate| Spread { variance: mean.se * mean.se, df: mean.df };
    difference(one, other, [variance(one), variance(other)])
}

/// The difference of two estimates, whose variance has these parts.
fn difference(one: &Estimate, other: &Estimate, parts: [Spread; 2]) -> Estimate {
    let (value, rounding) = (one.value - other.value, one.rounding + other.rounding);
    match sum_of_two(parts) {
        Some(Spread { variance, df }) => Estimate { value, se: variance.sqrt(), df, rounding },
        None => Estimate::unsure(value, rounding),
    }
}

// More degrees of freedom change no digit that is shown, and would cost time.
const MOST_DF: f64 = 1e6;

/// The mean square of the known standard errors. Its degrees of freedom are Welch's of 1947, whose
/// 2 corrects for the errors of the squares; together they are worth at most their sum. `None` if
/// no error is known.
fn mean_square_error(estimates: &[Estimate]) -> Option<Spread> {
    let known = || estimates.iter().filter(|one| one.is_sure());
    let count = known().count() as f64;
    let sum: f64 = known().map(|one| one.se * one.se).sum();
    let squares: f64 = known().map(|one| one.se.powi(4) / (one.df + 2.0)).sum();
    let welch = if squares > 0.0 { sum * sum / squares - 2.0 } else { f64::INFINITY };
    let together: f64 = known().map(|one| one.df).sum();
    (count > 0.0).then(|| Spread { variance: sum / count, df: welch.clamp(1.0, together.min(MOST_DF)) })
}

/// The significance level of each of several effects, so that the chance of any wrong verdict is at
/// most `alpha`. Of the two hypotheses of an effect with a margin (none, and at least the margin)
/// at most one is true, so that both share a level.
fn holm_levels(effects: &[Estimate], alpha: f64, margin: Option<f64>) -> Vec<f64> {
    let p_values = |effect: &Estimate| {
        let zero = effect.is_sure().then(|| student::two_sided(effect.t(), effect.df));
        let beyond = margin.filter(|_| effect.is_sure()).map(|margin| equivalence_p(effect, margin));
        zero.into_iter().chain(beyond).collect()
    };
    families::levels(&effects.iter().map(p_values).collect::<Vec<Vec<f64>>>(), alpha)
}

/// The larger p-value of two one-sided tests against effects of at least `margin` (Schuirmann, J.
/// Pharmacokinet. Biopharm. 15, 1987).
fn equivalence_p(effect: &Estimate, margin: f64) -> f64 {
    let inside = margin - effect.value.abs() - effect.rounding;
    let t = if inside == 0.0 { 0.0 } else { inside / effect.se };
    student::sf(t, effect.df)
}
