//! A combination of condition means with what is known of its error.

use serde::Serialize;

use super::EffectsError;
use crate::boots::{Cells, Observation};
use crate::distribution::student;
use crate::error::StatsError;
use crate::fit::Fit;
use crate::question::Design;

/// An effect, share or step with its interval, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimated {
    /// The estimate.
    pub value: f64,
    /// Its interval at the level asked for; none for too few boots.
    pub interval: Option<(f64, f64)>,
    /// Its standard error; none for too few boots.
    pub standard_error: Option<f64>,
    /// The degrees of freedom of the interval; 0 without one.
    pub df: f64,
    /// The p-value of the hypothesis that it is zero, not adjusted for the other effects; none without an interval.
    pub p: Option<f64>,
}

/// The fitted model, and the level of what is estimated from it.
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
            return Err(StatsError::Level { level }.into());
        }
        let cells = Cells::of(observations)?;
        Ok(Estimator { fit: Fit::of(&cells, design), level })
    }

    pub(super) fn is_measured(&self, condition: usize) -> bool {
        self.fit.conditions().binary_search(&condition).is_ok()
    }

    /// The combination of condition means with these coefficients; `what` names it if it cannot be had.
    pub(super) fn estimate(
        &self,
        terms: &[(usize, f64)],
        what: impl Fn() -> String,
    ) -> Result<Estimated, EffectsError> {
        let terms: Vec<(usize, f64)> =
            terms.iter().copied().filter(|(_, coefficient)| *coefficient != 0.0).collect();
        let estimate = self.fit.contrast(&terms).ok_or_else(|| EffectsError::Unconnected { what: what() })?;
        let interval = estimate.interval(1.0 - self.level);
        let p = 2.0 * student::sf(estimate.t(), estimate.df);
        Ok(Estimated {
            value: estimate.value,
            interval,
            standard_error: interval.map(|_| estimate.se),
            df: if interval.is_some() { estimate.df } else { 0.0 },
            p: interval.map(|_| p),
        })
    }
}
