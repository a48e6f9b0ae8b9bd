//! Effects of several factors, and their credits.
//!
//! [`factorial`] gives main effects and interactions, [`effects_given`] the effect of one factor at
//! each level of another, [`shapley`] divides a total fairly between factors, and [`ladder`]
//! credits each step of a sequence. All are linear combinations of condition means with the error
//! term of the data, as in a comparison, so their intervals are as valid. Each interval has its
//! level by itself: with many effects the chance that one of them misses is larger.

mod conditional;
mod factorial;
mod shapley;

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use crate::distribution::student;
use crate::model::{Borrowing, Estimate, Fit, Quantiles, relative_interval};
use crate::observed::{Cells, Observation};
use crate::question::{Correction, Question, StatsError, require_level};

pub use conditional::{ConditionalEffect, effects_given};
pub use factorial::{Effect, factorial};
pub use shapley::{Shares, shapley};

/// The levels of conditions.
#[derive(Clone, Copy, Debug)]
pub struct DesignMatrix<'a> {
    /// The factors' names, for messages.
    pub factors: &'a [String],
    /// For each condition of the plan whether each factor is on. Combinations that could not be
    /// measured are missing or have no runs.
    pub levels: &'a [Vec<bool>],
}

impl DesignMatrix<'_> {
    fn states(&self, conditions: &[usize]) -> Result<BTreeMap<&[bool], usize>, EffectsError> {
        let mut states: BTreeMap<&[bool], usize> = BTreeMap::new();
        for condition in conditions {
            let levels = self.levels.get(*condition).ok_or(EffectsError::Levels(*condition))?;
            if states.insert(levels, *condition).is_some() {
                return Err(EffectsError::Levels(*condition));
            }
        }
        Ok(states)
    }
}

/// Why there are no effects.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum EffectsError {
    #[error(transparent)]
    Numbers(#[from] StatsError),
    #[error("condition {0} has runs but no levels of its own: give each measured condition different levels")]
    Levels(usize),
    #[error("no factor was measured at more than one level, so there is no effect to estimate")]
    NothingVaried,
    #[error(
        "the effect of {0} cannot be told from those of the factors before it: measure more combinations of levels"
    )]
    Confounded(String),
    #[error("{given} factors are too many to share a total between: {most} at most")]
    TooMany { given: usize, most: usize },
    #[error("{0} was not measured: measure it")]
    Unmeasured(String),
    #[error(
        "no order of switching on leads from nothing to everything through measured combinations: measure more of those between"
    )]
    NoOrder,
    #[error("no step of the ladder was measured at both ends")]
    ShortLadder,
    #[error("{0} cannot be estimated: no boot measured together the conditions that it combines")]
    Unconnected(String),
}

/// An effect, share or step with its interval, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimated {
    /// The estimate.
    pub value: f64,
    /// Its interval at the requested level; `None` with too few boots.
    pub interval: Option<(f64, f64)>,
    /// Its standard error; `None` with too few boots.
    pub standard_error: Option<f64>,
    /// The degrees of freedom of the interval; 0 without one.
    pub df: f64,
    /// The p-value, not adjusted for other effects; `None` without an interval.
    pub p: Option<f64>,
    /// The estimate in % of its base's size; `None` where zero is in the base's interval.
    pub relative: Option<f64>,
    /// The interval of `relative` (Fieller's); `None` with too few boots.
    pub relative_interval: Option<(f64, f64)>,
}

impl Estimated {
    /// The estimate of values that cannot be negative: a decrease is at most all of the base.
    pub fn of_non_negative(self) -> Estimated {
        let possible = |percent: f64| percent.max(-100.0);
        Estimated {
            relative: self.relative.map(possible),
            relative_interval: self.relative_interval.map(|(low, high)| (possible(low), possible(high))),
            ..self
        }
    }
}

pub(super) struct Estimator {
    pub(super) fit: Fit,
    level: f64,
}

impl Estimator {
    pub(super) fn new(observations: &[Observation], level: f64) -> Result<Estimator, EffectsError> {
        require_level(level)?;
        let cells = Cells::from_observations(observations)?;
        let alike = Question { correction: Correction::None, ..Question::against(0) };
        Ok(Estimator { fit: Fit::new(&cells, &alike), level })
    }

    fn contrast(&self, terms: &[(usize, f64)]) -> Option<Estimate> {
        // Each effect has its level by itself.
        self.fit.contrast(terms, Borrowing::None)
    }

    /// Also in % of the combination of `base`; `what` names it in errors.
    pub(super) fn estimate(
        &self,
        terms: &[(usize, f64)],
        base: &[(usize, f64)],
        what: impl Fn() -> String,
    ) -> Result<Estimated, EffectsError> {
        let terms: Vec<(usize, f64)> =
            terms.iter().copied().filter(|(_, coefficient)| *coefficient != 0.0).collect();
        let estimate = self.contrast(&terms).ok_or_else(|| EffectsError::Unconnected(what()))?;
        let interval = estimate.interval(1.0 - self.level);
        let p = student::two_sided(estimate.t(), estimate.df);
        let base_value = self.contrast(base).map_or(0.0, |base| base.value);
        let relative_interval = interval.and_then(|_| {
            let critical = student::upper_quantile((1.0 - self.level) / 2.0, estimate.df)?;
            let less = |r: f64| self.contrast(&sum(&terms, base, -r));
            relative_interval((estimate, self.contrast(base)?), critical, &Quantiles::default(), less)
        });
        let has_percentage = (relative_interval.is_some() || interval.is_none()) && base_value != 0.0;
        Ok(Estimated {
            relative: has_percentage.then(|| 100.0 * estimate.value / base_value.abs()),
            relative_interval,
            value: estimate.value,
            interval,
            standard_error: interval.map(|_| estimate.se),
            df: if interval.is_some() { estimate.df } else { 0.0 },
            p: interval.map(|_| p),
        })
    }
}

fn sum(one: &[(usize, f64)], other: &[(usize, f64)], factor: f64) -> Vec<(usize, f64)> {
    let mut terms: BTreeMap<usize, f64> = BTreeMap::new();
    let scaled = other.iter().map(|(condition, coefficient)| (*condition, factor * coefficient));
    for (condition, coefficient) in one.iter().copied().chain(scaled) {
        *terms.entry(condition).or_default() += coefficient;
    }
    terms.into_iter().collect()
}

/// A note for readers of a ladder.
pub const REMARK: &str = "a step's credit depends on its place: on another rung the same change may bring more or less; Shapley shares \
     average over the places";

/// The steps of a ladder. They add up to the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ladder {
    /// The steps from each rung to the next.
    pub steps: Vec<Step>,
    /// The change from the first rung to the last; percentages are of the first.
    pub total: Estimated,
    /// The total with the other sign; percentages are of the last.
    pub back: Estimated,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The condition below.
    pub from: usize,
    /// The condition above.
    pub to: usize,
    /// The mean above less the mean below; percentages are of the mean below.
    pub change: Estimated,
}

/// The steps between `rungs` (conditions), with intervals of confidence `level`.
///
/// # Errors
/// [`EffectsError`] for fewer than two rungs, a rung without runs, a value that is not finite, or
/// an invalid level.
pub fn ladder(observations: &[Observation], rungs: &[usize], level: f64) -> Result<Ladder, EffectsError> {
    let (Some(first), Some(last), true) = (rungs.first(), rungs.last(), rungs.len() > 1) else {
        return Err(EffectsError::ShortLadder);
    };
    let estimator = Estimator::new(observations, level)?;
    let change = |from: usize, to: usize| {
        // A step to the same condition is no change; its condition counts once.
        let terms = if from == to { [(to, 0.0), (from, 0.0)] } else { [(to, 1.0), (from, -1.0)] };
        estimator.estimate(&terms, &[(from, 1.0)], || format!("the step from condition {from} to {to}"))
    };
    let step = |pair: &[usize]| Ok(Step { from: pair[0], to: pair[1], change: change(pair[0], pair[1])? });
    let steps = rungs.windows(2).map(step).collect::<Result<Vec<Step>, EffectsError>>()?;
    Ok(Ladder { steps, total: change(*first, *last)?, back: change(*last, *first)? })
}
