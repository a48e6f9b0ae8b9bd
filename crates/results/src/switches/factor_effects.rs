//! The effects of switches that are plain factors, by conditions that differ in no other factor.

use stats::{Comparison, Correction, Gap, Verdict};
use store::StoredStudy;
use study::metric::Metric;
use study::{Condition, Effective, Side, Switch};

use super::switch_effect::{
    ChangeEstimate, ChangeOutcome, EffectMethod, FeatureReadBack, MetricChange, SwitchContext, SwitchEffect,
    metrics,
};
use crate::data::error::Error;
use crate::data::limits;
use crate::data::stored::subjects;
use crate::data::subject::answer_alone;
use crate::data::target::{ComparisonRequest, ComparisonTarget};

/// Conditions that differ in the level of one switch only.
struct SwitchConditions<'s> {
    factor: &'s str,
    /// The levels of all other factors.
    others: Vec<(String, String)>,
    conditions: Vec<&'s Condition>,
}

/// The effects of each switch under every combination of the levels of the other factors.
pub(super) fn contexts(stored: &StoredStudy, level: f64) -> Result<Vec<SwitchContext>, Error> {
    let context = |set: SwitchConditions<'_>| {
        let effects = effects(stored, &set, level)?;
        let numbers: Vec<usize> = set.conditions.iter().map(|condition| condition.index).collect();
        let is_shown = |name: &str| !["workload", "scenario"].contains(&name);
        let at = set.others.iter().filter(|(name, _)| is_shown(name)).cloned().collect();
        Ok(SwitchContext::new(stored, &numbers, at, effects))
    };
    sets(&stored.plan.conditions).into_iter().map(context).collect()
}

/// In the order of the plan.
fn sets(conditions: &[Condition]) -> Vec<SwitchConditions<'_>> {
    let mut sets: Vec<SwitchConditions<'_>> = Vec::new();
    for condition in conditions {
        for (factor, _) in condition.levels.iter().filter(|(name, _)| Switch::named(name).is_some()) {
            let others: Vec<(String, String)> =
                condition.levels.iter().filter(|(name, _)| name != factor).cloned().collect();
            match sets.iter_mut().find(|set| (set.factor, &set.others) == (factor.as_str(), &others)) {
                Some(set) => set.conditions.push(condition),
                None => sets.push(SwitchConditions { factor, others, conditions: vec![condition] }),
            }
        }
    }
    sets.retain(|set| set.conditions.len() > 1);
    sets
}

/// Each pair of levels, from the earlier one in the plan to the later one.
fn effects(stored: &StoredStudy, set: &SwitchConditions<'_>, level: f64) -> Result<Vec<SwitchEffect>, Error> {
    let level_of = |condition: &Condition| {
        let own = condition.levels.iter().find(|(name, _)| name == set.factor);
        own.map_or_else(String::new, |(_, level)| level.clone())
    };
    let first = set.conditions[0];
    let traffic = &first.workload.traffic;
    let mut effects: Vec<SwitchEffect> = Vec::new();
    for (place, one) in set.conditions.iter().enumerate() {
        for other in &set.conditions[place + 1..] {
            effects.push(SwitchEffect {
                factors: vec![set.factor.to_owned()],
                from: level_of(one),
                to: level_of(other),
                how: EffectMethod::Alone,
                features: features(stored, one.index, other.index),
                changes: Vec::new(),
            });
        }
    }
    for metric in metrics(traffic.kind, stored.plan.exact) {
        let is_measured =
            |condition: &&&Condition| stored.values(metric).any(|(measured, ..)| measured == condition.index);
        let measured: Vec<&Condition> = set.conditions.iter().filter(is_measured).copied().collect();
        let target = |baseline: &&Condition| ComparisonTarget {
            workload: first.workload.name.clone(),
            metric,
            baseline: baseline.index,
            conditions: measured.iter().map(|one| one.index).filter(|one| *one != baseline.index).collect(),
            equivalent: None,
        };
        let targets: Vec<ComparisonTarget> = measured.iter().map(target).collect();
        if targets.len() < 2 {
            continue;
        }
        let request = ComparisonRequest {
            confidence: level,
            correction: Correction::None,
            ..ComparisonRequest::default()
        };
        let found = answer_alone(&subjects(stored, &targets, &request)?)?;
        let all: Vec<&Comparison> = found.iter().flat_map(|analysis| &analysis.comparisons).collect();
        let find = |condition: usize, baseline: usize| {
            all.iter().find(|one| (one.condition, one.baseline) == (condition, baseline)).copied()
        };
        for (place, one) in measured.iter().enumerate() {
            for other in &measured[place + 1..] {
                let (Some(there), Some(back)) = (find(other.index, one.index), find(one.index, other.index))
                else {
                    continue;
                };
                let bases = [one, other].map(|of| format!("{}={}", set.factor, level_of(of)));
                let outside = limits::set_from_outside(stored, metric, one.index, other.index);
                let (from, to) = (level_of(one), level_of(other));
                let effect = effects.iter_mut().find(|effect| (&effect.from, &effect.to) == (&from, &to));
                if let Some(effect) = effect {
                    effect.changes.push(change([there, back], &bases, outside, metric));
                }
            }
        }
    }
    Ok(effects)
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
            Some(gap) => ChangeOutcome::Unknown(why(gap)),
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
        p: there.p.filter(|_| there.resolution.is_none() && outside.is_none()),
    }
}

fn why(gap: Gap) -> String {
    match gap {
        Gap::Unlike => "its counts do not repeat from boot to boot",
        Gap::NotConnected => "no boot measured both levels",
        Gap::OneBootInCommon | Gap::OneBoot => "an interval needs two boots or more",
        Gap::NoError => "too few boots measured several conditions to estimate the error",
        Gap::Carried => Gap::Carried.as_str(),
    }
    .to_owned()
}

/// The features that read back otherwise in `to` than in `from`.
fn features(stored: &StoredStudy, from: usize, to: usize) -> Vec<FeatureReadBack> {
    let effective = |condition: usize| stored.plan.effective.get(condition);
    let (Some(before), Some(after)) = (effective(from), effective(to)) else { return Vec::new() };
    let interface = |effective: &Effective, side: Side, underlay: bool| match (underlay, side) {
        (false, Side::Transmitter) => Some(effective.transmitter.clone()),
        (false, Side::Receiver) => effective.receiver.clone(),
        (true, side) => effective.underlay.as_ref().map(|both| both[side].clone()),
    };
    let mut found = Vec::new();
    for (side, underlay) in Side::BOTH.into_iter().flat_map(|side| [(side, false), (side, true)]) {
        let (Some(one), Some(other)) = (interface(before, side, underlay), interface(after, side, underlay))
        else {
            continue;
        };
        for (feature, on) in other.changes(&one) {
            found.push(FeatureReadBack { side, underlay, feature: feature.to_owned(), on });
        }
    }
    found
}
