//! The dependence of the effect of one switch of a design on the others.

use stats::Observation;
use stats::effects::{ConditionalEffect, effects_given};
use store::StoredStudy;
use study::metric::Metric;

use super::Credit;
use super::combination::Combination;
use crate::data::limits;
use crate::switches::switch_effect::{ChangeEstimate, MetricChange};

/// The effects of the switches of one context of [`crate::SwitchEffects`] on each other's effect in
/// one metric.
pub struct Interplay<'s> {
    stored: &'s StoredStudy,
    combination: Combination<'s>,
    metric: Metric,
    runs: Vec<Observation>,
    credit: Credit,
}

/// The changes by switching one factor on, at each level of another factor.
#[derive(Debug, Clone)]
pub struct SwitchPair {
    /// The other factor.
    pub other: String,
    /// The change with the other factor off, then with it on, each the mean over the states of all
    /// remaining factors.
    pub changes: [MetricChange; 2],
    /// Whether both changes are proven to differ.
    pub is_proven: bool,
    /// The p-value of the hypothesis that they are the same; `None` without an interval.
    pub p: Option<f64>,
}

impl<'s> Interplay<'s> {
    /// Reads the context with this place in [`crate::SwitchEffects::contexts`], with intervals of
    /// confidence `level`. `None` for a study without a design, and if no run has the metric.
    #[must_use]
    pub fn for_context(stored: &'s StoredStudy, context: usize, metric: Metric, level: f64) -> Option<Self> {
        let combination = Combination::from_plan(&stored.plan).into_iter().nth(context)?;
        let credit = Credit::for_combination(stored, &combination, metric, level)?;
        let runs = combination.observations(stored, metric);
        Some(Self { stored, combination, metric, runs, credit })
    }

    /// The change by switching some factors on together, where of all others those in `off` are off
    /// and the rest is on; `None` if one of both states was not measured.
    #[must_use]
    pub fn change_in_state(&self, factors: &[String], off: &[String]) -> Option<MetricChange> {
        let factors = factors.iter().map(|factor| self.place(factor)).collect::<Option<Vec<_>>>()?;
        let is_on = |one: usize| !off.contains(&self.combination.design.factors[one]);
        self.credit.change_in_state(self.stored, &self.combination, &factors, is_on, self.metric)
    }

    /// The changes by switching a factor on, given each other factor. A factor is left out if no
    /// state of the remaining ones has all four combinations of both.
    #[must_use]
    pub fn pairs(&self, factor: &str) -> Vec<SwitchPair> {
        let Some(place) = self.place(factor) else { return Vec::new() };
        // What cannot be estimated is not known, which is what an empty list says.
        let found = effects_given(&self.runs, &self.combination.layout(), place, self.credit.level);
        found.unwrap_or_default().iter().map(|one| self.pair(factor, one)).collect()
    }

    fn place(&self, factor: &str) -> Option<usize> {
        self.combination.design.factors.iter().position(|one| one == factor)
    }

    fn pair(&self, factor: &str, one: &ConditionalEffect) -> SwitchPair {
        let change = |level: usize| {
            let (there, back) = (&one.on[level], &one.off[level]);
            let ends = (
                ChangeEstimate::from_estimated(there, &format!("{factor} off")),
                ChangeEstimate::from_estimated(back, &format!("{factor} on")),
            );
            let saturated = self.set_from_outside(&one.conditions[level]);
            self.credit.judged(there, ends.0, ends.1, saturated, self.metric)
        };
        SwitchPair {
            other: self.combination.design.factors[one.other].clone(),
            changes: [change(0), change(1)],
            is_proven: self.credit.is_proven(&one.interaction),
            p: one.interaction.p.filter(|_| !self.credit.exact),
        }
    }

    /// The limit outside the hosts that set the rate of all these conditions.
    fn set_from_outside(&self, places: &[usize]) -> Option<&'static str> {
        let condition = |place: &usize| self.combination.conditions[*place];
        let first = condition(places.first()?);
        let mut limits = places
            .iter()
            .map(|place| limits::set_from_outside(self.stored, self.metric, first, condition(place)));
        limits.next()?.filter(|_| limits.all(|limit| limit.is_some()))
    }
}
