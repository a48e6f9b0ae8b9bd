//! One study on many pairs of machines: its effects over machines, and the pairs that stand apart.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::StatsError;
use stats::fleet::{FleetEffect, GroupedEffect, PairEffect, over_groups, over_pairs};
use store::{Outline, PairRow, StudyId};
use study::metric::{Better, Metric};

use crate::data::differences::{StudyDifference, of_environments};
use crate::data::error::Error;
use crate::data::matched_conditions::{ConditionSettings, settings_of};
use crate::data::means::mean_by_boot;
use crate::data::metric::ComparedMetric;
use crate::data::target::own_targets;

/// The results of one study on many pairs of machines.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FleetResults {
    pub campaign: String,
    pub name: String,
    pub question: String,
    /// The confidence of the intervals, as a probability.
    pub confidence: f64,
    /// The pairs with a study, by name.
    pub pairs: Vec<PairOfFleet>,
    /// The pairs without one.
    pub not_measured: Vec<PairOfFleet>,
    pub effects: Vec<EffectOverPairs>,
}

/// A pair of machines with its study, or with the reason why it has none.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct PairOfFleet {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The effect of one condition on one metric, over all pairs that measured it.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct EffectOverPairs {
    pub workload: String,
    #[serde(flatten)]
    pub metric: ComparedMetric,
    pub better: Option<Better>,
    pub condition: String,
    pub baseline: String,
    /// Whether the sizes are natural logarithms of ratios to the baseline; else differences in the
    /// metric's unit.
    pub is_log_ratio: bool,
    /// The indices of [`FleetResults::pairs`] that measured it, in the order of `sizes.pairs`.
    pub pairs: Vec<usize>,
    pub sizes: FleetEffect,
    pub apart: Vec<PairApart>,
    /// By the values of a label, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupedEffect<String>>,
}

/// A pair that does not belong to the others.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct PairApart {
    pub name: String,
    /// Values that are recorded of it and of none of the others, the weightiest first; the others'
    /// value is that of one of them.
    pub differences: Vec<StudyDifference>,
}

// A pair that stands apart is compared with this many of the others.
const OTHERS: usize = 20;

/// The metric, and the settings of the condition and of its baseline: a pair without IPv6 has
/// shorter labels for the same conditions.
type EffectKey = (Metric, ConditionSettings, ConditionSettings);

/// One pair's estimates of an effect.
struct Sizes {
    pair: usize,
    workload: String,
    condition: String,
    baseline: String,
    /// The logarithm of the ratio; `None` if a value is not above zero.
    logarithm: Option<PairEffect>,
    difference: PairEffect,
}

impl FleetResults {
    /// Reads the pairs of a campaign one after the other, with the values of
    /// [`metrics_to_compare`](crate::metrics_to_compare). `by`: the label that makes groups.
    ///
    /// # Errors
    /// Errors of reading a study; [`Error::Stats`] for values that no statistics can take.
    pub fn new<E: From<Error>>(
        rows: &[PairRow],
        by: Option<&str>,
        mut outline: impl FnMut(StudyId) -> Result<Outline, E>,
    ) -> Result<Self, E> {
        let (mut pairs, mut not_measured, mut outlines) = (Vec::new(), Vec::new(), Vec::new());
        let mut effects: BTreeMap<EffectKey, Vec<Sizes>> = BTreeMap::new();
        let mut order: Vec<EffectKey> = Vec::new();
        for row in rows {
            let (name, labels) = (row.pair.name.clone(), row.pair.labels.clone());
            let Some(study) = row.study else {
                let why = row.failure.clone().unwrap_or_else(|| "it was not begun".to_owned());
                not_measured.push(PairOfFleet { name, labels, study: None, why: Some(why) });
                continue;
            };
            let mut outline = outline(study)?;
            for (key, sizes) in sizes(&outline, pairs.len()) {
                if !effects.contains_key(&key) {
                    order.push(key.clone());
                }
                effects.entry(key).or_default().push(sizes);
            }
            pairs.push(PairOfFleet { name, labels, study: Some(study.0), why: None });
            // Only the environments are needed again.
            outline.values.clear();
            outlines.push(outline);
        }
        let confidence = 0.95;
        let found = order.into_iter().map(|key| {
            let sizes = effects.remove(&key).unwrap_or_default();
            EffectOverPairs::new(key.0, &sizes, confidence, by, &pairs, &outlines)
        });
        let effects = found.collect::<Result<_, Error>>()?;
        let asked =
            outlines.first().map(|outline| (outline.row.name.clone(), outline.plan.asked.question.clone()));
        let (name, question) = asked.unwrap_or_default();
        let campaign = rows.first().map(|row| row.pair.campaign.clone()).unwrap_or_default();
        Ok(Self { campaign, name, question, confidence, pairs, not_measured, effects })
    }
}

/// The effects of a study's own comparisons, on one pair.
fn sizes(outline: &Outline, pair: usize) -> Vec<(EffectKey, Sizes)> {
    let conditions = &outline.plan.conditions;
    let mut found: Vec<(EffectKey, Sizes)> = Vec::new();
    for target in own_targets(&outline.plan) {
        let Some(values) = outline.values.get(&target.metric) else { continue };
        let baseline = boot_means(values, target.baseline);
        for &condition in target.conditions.iter().filter(|one| **one != target.baseline) {
            let own = boot_means(values, condition);
            let Some(difference) = effect(&baseline, &own) else { continue };
            let is_positive = baseline.values().chain(own.values()).all(|value| *value > 0.0);
            let logarithm = is_positive.then(|| effect(&logarithms(&baseline), &logarithms(&own)));
            let [of, against] = [condition, target.baseline].map(|index| &conditions[index]);
            let key = (target.metric, settings_of(of), settings_of(against));
            if !found.iter().any(|(known, _)| *known == key) {
                let (workload, logarithm) = (target.workload.clone(), logarithm.flatten());
                let (condition, baseline) = (of.label.to_string(), against.label.to_string());
                found.push((key, Sizes { pair, workload, condition, baseline, logarithm, difference }));
            }
        }
    }
    found
}

type MeanByBoot = BTreeMap<u32, f64>;

fn boot_means(values: &[(usize, u32, f64)], condition: usize) -> MeanByBoot {
    let own = values.iter().filter(|(own, ..)| *own == condition);
    mean_by_boot(own.map(|(_, boot, value)| (*boot, *value)))
}

fn logarithms(means: &MeanByBoot) -> MeanByBoot {
    means.iter().map(|(boot, mean)| (*boot, mean.ln())).collect()
}

/// The difference of two conditions on one pair: within boots where boots measured both, else
/// between boots (Welch). `None` if one was not measured.
fn effect(baseline: &MeanByBoot, own: &MeanByBoot) -> Option<PairEffect> {
    let shared: Vec<f64> = own.iter().filter_map(|(boot, mean)| Some(mean - baseline.get(boot)?)).collect();
    if !shared.is_empty() {
        return Some(PairEffect::of_shared_boots(&shared));
    }
    let [baseline, own] = [baseline, own].map(|means| means.values().copied().collect::<Vec<_>>());
    (!baseline.is_empty() && !own.is_empty()).then(|| PairEffect::of_separate_boots(&baseline, &own))
}

impl EffectOverPairs {
    fn new(
        metric: Metric,
        sizes: &[Sizes],
        confidence: f64,
        by: Option<&str>,
        pairs: &[PairOfFleet],
        outlines: &[Outline],
    ) -> Result<Self, Error> {
        let logarithms: Option<Vec<PairEffect>> = sizes.iter().map(|one| one.logarithm).collect();
        let is_log_ratio = logarithms.is_some();
        let effects = logarithms.unwrap_or_else(|| sizes.iter().map(|one| one.difference).collect());
        let measured: Vec<usize> = sizes.iter().map(|one| one.pair).collect();
        let found = over_pairs(&effects, confidence, None)?;
        let groups = by.map(|label| {
            let value = |pair: &usize| pairs[*pair].labels.get(label).cloned().unwrap_or_default();
            let labelled: Vec<_> = measured.iter().map(value).zip(effects.iter().copied()).collect();
            over_groups(&labelled, confidence)
        });
        let describe = |place: &usize| describe_pair_apart(*place, &measured, &found.apart, pairs, outlines);
        // The longest labels name the levels of most factors.
        let of_label = |one: &&Sizes| one.condition.len() + one.baseline.len();
        let named = sizes.iter().max_by_key(of_label).ok_or(StatsError::NoPairs)?;
        Ok(Self {
            workload: named.workload.clone(),
            metric: metric.into(),
            better: Some(metric.better),
            condition: named.condition.clone(),
            baseline: named.baseline.clone(),
            is_log_ratio,
            apart: found.apart.iter().map(describe).collect(),
            pairs: measured,
            groups: groups.transpose()?,
            sizes: found,
        })
    }

    /// A size as it is shown: in % of the baseline, or in the metric's unit.
    pub fn in_unit(&self, size: f64) -> f64 {
        if self.is_log_ratio { 100.0 * size.exp_m1() } else { size }
    }

    /// An interval of sizes, as it is shown.
    pub fn interval(&self, sizes: Option<(f64, f64)>) -> Option<(f64, f64)> {
        sizes.map(|(low, high)| (self.in_unit(low), self.in_unit(high)))
    }

    /// The unit of the sizes.
    pub fn unit(&self) -> &str {
        if self.is_log_ratio { "%" } else { self.metric.unit() }
    }
}

fn describe_pair_apart(
    place: usize,
    measured: &[usize],
    all_apart: &[usize],
    pairs: &[PairOfFleet],
    outlines: &[Outline],
) -> PairApart {
    let own = measured[place];
    let others = (0..measured.len()).filter(|other| !all_apart.contains(other));
    let others: Vec<usize> = others.map(|other| measured[other]).take(OTHERS).collect();
    let labels = pairs[own]
        .labels
        .iter()
        .filter(|(key, value)| !others.iter().any(|other| pairs[*other].labels.get(*key) == Some(value)));
    let theirs = |key: &str| others.first().and_then(|other| pairs[*other].labels.get(key));
    let mut differences: Vec<StudyDifference> = labels
        .map(|(key, value)| {
            let other = theirs(key).map(String::as_str);
            StudyDifference::new(format!("label {key}"), other, Some(value))
        })
        .collect();
    let mut from_others = others.iter().map(|other| of_environments(&outlines[*other], &outlines[own]));
    let mut recorded = from_others.next().unwrap_or_default();
    for differing in from_others {
        recorded.retain(|one| differing.iter().any(|other| other.what == one.what));
    }
    // Each pair has machines of its own.
    recorded.retain(|one| !(one.what.starts_with("machines ") && one.what.ends_with(" host")));
    differences.extend(recorded);
    PairApart { name: pairs[own].name.clone(), differences }
}
