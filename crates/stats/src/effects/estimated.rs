//! A combination of condition means, with its error.

use std::collections::BTreeMap;

use serde::Serialize;

use super::EffectsError;
use crate::distribution::student;
use crate::error::StatsError;
use crate::model::{Borrowing, Estimate, Fieller, Fit, Quantiles};
use crate::observed::{Cells, Observation};
use crate::question::Design;

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
    /// The p-value of the hypothesis that it is zero, not adjusted for other effects; `None`
    /// without an interval.
    pub p: Option<f64>,
    /// The estimate in % of the size of its base, which its type names; `None` where zero is in the
    /// base's interval.
    pub relative: Option<f64>,
    /// The interval of `relative` (Fieller's); `None` with too few boots.
    pub relative_interval: Option<(f64, f64)>,
}

impl Estimated {
    /// The estimate of values that cannot be negative: a decrease is at most all of the base.
    #[must_use]
    pub fn of_non_negative(self) -> Estimated {
        let possible = |percent: f64| percent.max(-100.0);
        Estimated {
            relative: self.relative.map(possible),
            relative_interval: self.relative_interval.map(|(low, high)| (possible(low), possible(high))),
            ..self
        }
    }
}

/// The fitted model, and the level of the estimates.
pub(super) struct Estimator {
    pub(super) fit: Fit,
    level: f64,
}

impl Estimator {
    pub(super) fn new(
        observations: &[Observation],
        design: Option<Design>,
        level: f64,
    ) -> Result<Estimator, EffectsError> {
        if !(level > 0.0 && level < 1.0) {
            return Err(StatsError::Level(level).into());
        }
        let cells = Cells::from_observations(observations)?;
        Ok(Estimator { fit: Fit::of_all_alike(&cells, design), level })
    }

    /// Each effect has its level by itself.
    fn contrast(&self, terms: &[(usize, f64)]) -> Option<Estimate> {
        self.fit.contrast(terms, Borrowing::None)
    }

    pub(super) fn is_measured(&self, condition: usize) -> bool {
        self.fit.conditions().binary_search(&condition).is_ok()
    }

    /// The combination of condition means with these coefficients, also in % of the one of `base`;
    /// `what` names it in errors.
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
        let relative_interval = interval.and_then(|_| self.relative_interval(&terms, base, estimate));
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

    /// Fieller's interval of a combination in % of another.
    fn relative_interval(
        &self,
        terms: &[(usize, f64)],
        base: &[(usize, f64)],
        difference: Estimate,
    ) -> Option<(f64, f64)> {
        let quantiles = Quantiles::default();
        let baseline = self.contrast(base)?;
        let critical = student::upper_quantile((1.0 - self.level) / 2.0, difference.df)?;
        let error = |r: f64| {
            let estimate = self.contrast(&sum(terms, base, -r)).filter(Estimate::is_sure)?;
            Some((estimate.se, estimate.df))
        };
        Fieller { difference, baseline, error: &error, critical, quantiles: &quantiles }.interval()
    }
}

/// `one` + `factor` * `other`, each condition once.
fn sum(one: &[(usize, f64)], other: &[(usize, f64)], factor: f64) -> Vec<(usize, f64)> {
    let mut terms: BTreeMap<usize, f64> = BTreeMap::new();
    let scaled = other.iter().map(|(condition, coefficient)| (*condition, factor * coefficient));
    for (condition, coefficient) in one.iter().copied().chain(scaled) {
        *terms.entry(condition).or_default() += coefficient;
    }
    terms.into_iter().collect()
}
