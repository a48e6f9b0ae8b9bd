//! The effects of switches that are plain factors, by conditions that differ in no other factor.

use std::collections::BTreeMap;

use stats::{Comparison, Correction, Verdict};
use store::StoredStudy;
use study::metric::Metric;
use study::{Condition, Effective, Settled, Side, Switch};

use super::switch_effect::{
    ChangeEstimate, ChangeOutcome, EffectMethod, MetricChange, SwitchContext, SwitchEffect, metrics,
};
use crate::data::error::Error;
use crate::data::limits;
use crate::data::stored::subjects;
use crate::data::subject::answer_alone;
use crate::data::target::{ComparisonRequest, ComparisonTarget};
use crate::words::lists::grouped;

pub(super) fn contexts(stored: &StoredStudy, level: f64) -> Result<Vec<SwitchContext>, Error> {
    let switched = stored.plan.conditions.iter().flat_map(|condition| {
        let switches = condition.levels.iter().filter(|(name, _)| Switch::named(name).is_some());
        switches.map(move |(factor, _)| {
            let others: Vec<_> = condition.levels.iter().filter(|(name, _)| name != factor).collect();
            ((factor, others), condition)
        })
    });
    let several = grouped(switched).into_iter().filter(|(_, conditions)| conditions.len() > 1);
    let context = |((factor, _), conditions): ((&String, Vec<_>), Vec<&Condition>)| {
        let effects = effects(stored, factor, &conditions, level)?;
        let numbers: Vec<usize> = conditions.iter().map(|condition| condition.index).collect();
        Ok(SwitchContext::new(stored, &numbers, std::slice::from_ref(factor), effects))
    };
    several.map(context).collect()
}

/// From the earlier level in the plan to the later one.
fn effects(
    stored: &StoredStudy,
    factor: &String,
    conditions: &[&Condition],
    level: f64,
) -> Result<Vec<SwitchEffect>, Error> {
    let level_of = |condition: &Condition| {
        let own = condition.levels.iter().find(|(name, _)| name == factor);
        own.map_or_else(String::new, |(_, level)| level.clone())
    };
    let compared = |metric| Ok((metric, comparisons(stored, conditions, metric, level)?));
    // They differ in one factor only, so all have the workload of the first.
    let metrics = metrics(conditions[0].workload.traffic.kind, stored.plan.exact);
    let compared = metrics.into_iter().map(compared).collect::<Result<Vec<_>, Error>>()?;
    let mut effects: Vec<SwitchEffect> = Vec::new();
    for (place, one) in conditions.iter().enumerate() {
        for other in &conditions[place + 1..] {
            let bases = [one, other].map(|of| format!("{factor}={}", level_of(of)));
            let of_metric = |(metric, all): &(Metric, Vec<Comparison>)| {
                let against = |condition: usize, baseline: usize| {
                    all.iter().find(|one| (one.condition, one.baseline) == (condition, baseline))
                };
                let both = [against(other.index, one.index)?, against(one.index, other.index)?];
                let outside = limits::set_from_outside(stored, *metric, one.index, other.index);
                Some(change(both, &bases, outside, *metric))
            };
            effects.push(SwitchEffect {
                factors: vec![factor.clone()],
                from: level_of(one),
                to: level_of(other),
                how: EffectMethod::Alone,
                features: features(stored, one.index, other.index),
                changes: compared.iter().filter_map(of_metric).collect(),
            });
        }
    }
    Ok(effects)
}

/// Each of these conditions against each other one in a metric; none if fewer than two have it.
fn comparisons(
    stored: &StoredStudy,
    conditions: &[&Condition],
    metric: Metric,
    level: f64,
) -> Result<Vec<Comparison>, Error> {
    let is_measured = |index: &usize| stored.values(metric).any(|(measured, ..)| measured == *index);
    let measured: Vec<usize> = conditions.iter().map(|one| one.index).filter(is_measured).collect();
    if measured.len() < 2 {
        return Ok(Vec::new());
    }
    let target = |baseline: &usize| ComparisonTarget {
        workload: conditions[0].workload.name.clone(),
        metric,
        baseline: *baseline,
        conditions: measured.iter().copied().filter(|one| one != baseline).collect(),
        equivalent: None,
    };
    let targets: Vec<ComparisonTarget> = measured.iter().map(target).collect();
    let request =
        ComparisonRequest { confidence: level, correction: Correction::None, ..ComparisonRequest::default() };
    // The caller judges all changes of a study together.
    let found = answer_alone(&subjects(stored, &targets, &request)?)?;
    Ok(found.into_iter().flat_map(|analysis| analysis.comparisons).collect())
}

fn change(
    [there, back]: [&Comparison; 2],
    [from, to]: &[String; 2],
    outside: Option<&'static str>,
    metric: Metric,
) -> MetricChange {
    let estimate = |one: &Comparison, base: &str| ChangeEstimate {
        value: one.difference,
        interval: one.interval,
        relative: one.relative,
        relative_interval: one.relative_interval,
        base: base.to_owned(),
    };
    let outcome = match (outside, there.verdict) {
        (Some(limit), _) => ChangeOutcome::Saturated(limit.to_owned()),
        (None, Verdict::Higher | Verdict::Lower) => ChangeOutcome::Proven,
        (None, _) => match there.gap {
            Some(gap) => ChangeOutcome::Unknown(gap.as_str().to_owned()),
            // Equivalence says nothing of zero, the interval does.
            None if there.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0) => {
                ChangeOutcome::Proven
            }
            None => ChangeOutcome::NotProven,
        },
    };
    MetricChange {
        metric,
        there: estimate(there, from),
        back: estimate(back, to),
        outcome,
        mean: 0.5 * there.mean + 0.5 * there.baseline_mean,
        standard_error: there.standard_error,
        df: there.df,
        // Counts have no error rate, and a limit from outside leaves nothing to prove.
        p: there.p.filter(|_| there.resolution.is_none() && outside.is_none()),
    }
}

fn features(stored: &StoredStudy, from: usize, to: usize) -> BTreeMap<(Side, bool), Vec<(String, bool)>> {
    let mut found = BTreeMap::new();
    let effective = |condition: usize| stored.plan.effective.get(condition);
    let (Some(before), Some(after)) = (effective(from), effective(to)) else { return found };
    for (side, underlay) in Side::BOTH.into_iter().flat_map(|side| [(side, false), (side, true)]) {
        let [before, after] = [before, after].map(|effective| interface(effective, side, underlay));
        let (Some(before), Some(after)) = (before, after) else { continue };
        let changes = after.changes(before).into_iter().map(|(feature, on)| (feature.to_owned(), on));
        found.insert((side, underlay), changes.collect());
    }
    found
}

fn interface(effective: &Effective, side: Side, underlay: bool) -> Option<&Settled> {
    match (underlay, side) {
        (false, Side::Transmitter) => Some(&effective.transmitter),
        (false, Side::Receiver) => effective.receiver.as_ref(),
        (true, side) => effective.underlay.as_ref().map(|both| &both[side]),
    }
}
