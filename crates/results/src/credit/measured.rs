//! A combination in one metric: the changes by its switches, and whether they are proven.

use std::collections::BTreeMap;

use stats::Observation;
use stats::effects::{ConditionalEffect, EffectsError, Estimated, Ladder, effects_given, ladder};
use store::StoredStudy;
use study::DesignKind;
use study::metric::Metric;

use super::Credit;
use super::combination::Combination;
use super::parts::CreditPart;
use crate::data::exact::{self, RESOLUTION, UnequalCounts};
use crate::data::limits;
use crate::switches::switch_effect::{
    ChangeEstimate, ChangeOutcome, EffectMethod, MetricChange, SwitchContext, SwitchEffect, metrics,
};
use crate::words::lists::grouped;

pub(crate) fn contexts(stored: &StoredStudy, level: f64) -> Vec<SwitchContext> {
    let context = |combination: &Combination| {
        let changes = metrics(combination.kind, stored.plan.exact)
            .into_iter()
            .filter_map(|metric| MeasuredCombination::new(stored, combination, metric, level))
            .flat_map(|measured| measured.changes());
        let effect = |((factors, how), changes): ((Vec<String>, EffectMethod), Vec<MetricChange>)| {
            let (from, to) = ("off".to_owned(), "on".to_owned());
            SwitchEffect { factors, from, to, how, features: BTreeMap::new(), changes }
        };
        let effects = grouped(changes).into_iter().map(effect).collect();
        SwitchContext::new(stored, &combination.conditions, &combination.design.factors, effects)
    };
    Combination::from_plan(&stored.plan).iter().map(context).collect()
}

pub(crate) struct MeasuredCombination<'c> {
    pub(super) stored: &'c StoredStudy,
    pub(super) combination: &'c Combination<'c>,
    pub(super) metric: Metric,
    pub(super) level: f64,
    pub(super) exact: bool,
    /// States whose counts do not repeat.
    pub(super) unlike: Vec<UnequalCounts>,
    pub(super) runs: Vec<Observation>,
}

pub(crate) struct SwitchPair {
    pub(crate) other: String,
    /// With the other factor off, then on, each the mean over the states of all remaining factors.
    pub(crate) changes: [MetricChange; 2],
    pub(crate) is_proven: bool,
    /// The p-value of the hypothesis that they are the same; `None` without an interval.
    pub(crate) p: Option<f64>,
}

impl<'c> MeasuredCombination<'c> {
    /// `None` if no run has the metric.
    pub(crate) fn new(
        stored: &'c StoredStudy,
        combination: &'c Combination<'c>,
        metric: Metric,
        level: f64,
    ) -> Option<Self> {
        let place = |condition| combination.conditions.iter().position(|one| *one == condition);
        let run = |(condition, boot, value)| Some(Observation { condition: place(condition)?, boot, value });
        let runs: Vec<Observation> = stored.values(metric).filter_map(run).collect();
        let exact = stored.plan.exact && exact::is_count(metric);
        let label = |place: usize| stored.label(combination.conditions[place]);
        let unlike = if exact { exact::unequal_counts(&runs, metric, label) } else { Vec::new() };
        (!runs.is_empty()).then_some(Self { stored, combination, metric, level, exact, unlike, runs })
    }

    pub(super) fn between(&self, from: usize, to: usize) -> Result<[Estimated; 2], EffectsError> {
        let Ladder { total, back, .. } = ladder(&self.runs, &[from, to], self.level)?;
        Ok([total, back].map(Estimated::of_non_negative))
    }

    pub(super) fn limit(&self, places: &[usize]) -> Option<&'static str> {
        let condition = |place: usize| self.combination.conditions[place];
        // All of them at the same limit: `set_from_outside` compares each with the first.
        let first = condition(*places.first()?);
        let mut limits = places
            .iter()
            .map(|place| limits::set_from_outside(self.stored, self.metric, first, condition(*place)));
        limits.next()?.filter(|_| limits.all(|limit| limit.is_some()))
    }

    fn changes(&self) -> Vec<((Vec<String>, EffectMethod), MetricChange)> {
        let design = &self.combination.design;
        let credit = Credit::from_measured(self);
        let how = match design.kind {
            DesignKind::Factorial => EffectMethod::Share,
            DesignKind::Fractional => EffectMethod::MainEffect,
            DesignKind::Ladder => EffectMethod::Step,
        };
        let parts = credit
            .parts
            .iter()
            .map(|part| ((part.switched.clone(), how), self.change_of_part(part, credit.saturated)));
        let with_others_on = design.factors.iter().filter_map(|factor| {
            let factors = vec![factor.clone()];
            let change = self.change_in_state(&factors, &[])?;
            Some(((factors, EffectMethod::OthersOn), change))
        });
        parts.chain(with_others_on.filter(|_| design.kind == DesignKind::Factorial)).collect()
    }

    /// A part as the change of switching its factors on; `saturated`: the limit of the whole.
    fn change_of_part(&self, part: &CreditPart, saturated: Option<&'static str>) -> MetricChange {
        let Some((back, [from, to])) = &part.step else {
            let base = if part.base == "off" { "all off" } else { part.base };
            let there = ChangeEstimate::from_estimated(&part.change, base);
            let back = there.negated();
            return self.judged(&part.change, [there, back], saturated);
        };
        // A step of a ladder switches off.
        let there = ChangeEstimate::from_estimated(back, &self.combination.state_name(*to));
        let back = ChangeEstimate::from_estimated(&part.change, &self.combination.state_name(*from));
        self.judged(&part.change, [there, back], self.limit(&[*from, *to]))
    }

    /// All factors but these and `off` are on; `None` if one of both states was not measured.
    pub(crate) fn change_in_state(&self, factors: &[String], off: &[String]) -> Option<MetricChange> {
        let names = &self.combination.design.factors;
        let is_switched = |place: usize| factors.contains(&names[place]);
        let is_left_on = |place: usize| !off.contains(&names[place]);
        let before = self.combination.place(|one| !is_switched(one) && is_left_on(one))?;
        let after = self.combination.place(|one| is_switched(one) || is_left_on(one))?;
        let [there, back] = self.between(before, after).ok()?;
        let ends = [(&there, before), (&back, after)];
        let ends =
            ends.map(|(end, place)| ChangeEstimate::from_estimated(end, &self.combination.base(place)));
        Some(self.judged(&there, ends, self.limit(&[before, after])))
    }

    /// Leaves out a factor for which no state of the remaining ones has all four combinations.
    pub(crate) fn pairs(&self, factor: &str) -> Vec<SwitchPair> {
        let names = &self.combination.design.factors;
        let Some(place) = names.iter().position(|one| one == factor) else { return Vec::new() };
        let pair = |one: &ConditionalEffect| SwitchPair {
            other: names[one.other].clone(),
            changes: [0, 1].map(|level| {
                let ends = [
                    ChangeEstimate::from_estimated(&one.on[level], &format!("{factor} off")),
                    ChangeEstimate::from_estimated(&one.off[level], &format!("{factor} on")),
                ];
                self.judged(&one.on[level], ends, self.limit(&one.conditions[level]))
            }),
            is_proven: is_proven(&one.interaction, self.exact, &self.unlike),
            p: one.interaction.p.filter(|_| !self.exact),
        };
        // An effect that cannot be estimated is unknown, as with an empty list.
        let found = effects_given(&self.runs, &self.combination.layout(), place, self.level);
        found.unwrap_or_default().iter().map(pair).collect()
    }

    fn judged(
        &self,
        change: &Estimated,
        [there, back]: [ChangeEstimate; 2],
        saturated: Option<&'static str>,
    ) -> MetricChange {
        let outcome = match saturated {
            Some(limit) => ChangeOutcome::Saturated(limit.to_owned()),
            None if !self.unlike.is_empty() => {
                ChangeOutcome::Unknown("its counts do not repeat from boot to boot".to_owned())
            }
            None if is_proven(change, self.exact, &self.unlike) => ChangeOutcome::Proven,
            None if change.interval.is_none() && !self.exact => {
                ChangeOutcome::Unknown("an interval needs two boots or more".to_owned())
            }
            None => ChangeOutcome::NotProven,
        };
        MetricChange {
            metric: self.metric,
            there,
            back,
            outcome,
            mean: stats::mean(&self.runs.iter().map(|run| run.value).collect::<Vec<_>>()),
            standard_error: change.standard_error,
            df: change.df,
            // A metric that a limit from outside sets proves nothing: no share of the error rate.
            p: change.p.filter(|_| !self.exact && saturated.is_none()),
        }
    }
}

pub(super) fn is_proven(change: &Estimated, exact: bool, unlike: &[UnequalCounts]) -> bool {
    // Something differs between the boots of a count that does not repeat: no change is sure.
    if exact {
        return unlike.is_empty() && change.relative.is_some_and(|relative| relative.abs() > RESOLUTION);
    }
    change.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}
