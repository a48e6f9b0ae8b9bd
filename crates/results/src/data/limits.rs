//! The limits of each condition's runs, and their meaning for a comparison.

use std::collections::BTreeMap;

use record::{Evidence, Label};
use serde::Serialize;
use store::StoredStudy;
use study::metric::{self, Metric};

// Metrics that such a limit sets.
const RATES: [Metric; 3] = [metric::THROUGHPUT, metric::PACKETS, metric::TRANSACTIONS];

/// The limit of one condition's runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionLimit {
    /// The limit of most of its runs; of several, the first in the alphabet.
    pub label: Label,
    /// The number of these runs.
    pub runs: usize,
    /// The number of runs with a known limit.
    pub of: usize,
    /// The number of runs of each label.
    pub labels: BTreeMap<Label, usize>,
    /// The evidence of the last such run, in sentences.
    pub evidence: Vec<String>,
}

impl ConditionLimit {
    pub(crate) fn for_condition(stored: &StoredStudy, condition: usize) -> Option<Self> {
        let runs = stored.measurements_of(condition);
        let limits: Vec<_> = runs.filter_map(|run| run.limited_by.as_ref()).collect();
        let mut labels: BTreeMap<Label, usize> = BTreeMap::new();
        for limit in &limits {
            *labels.entry(limit.label).or_default() += 1;
        }
        // The first of the largest: `max_by_key` would return the last.
        let (&label, &runs) = labels.iter().rev().max_by_key(|(_, runs)| **runs)?;
        let evidence = &limits.iter().rfind(|limit| limit.label == label)?.evidence;
        let evidence = evidence.iter().map(Evidence::to_string).collect();
        Some(Self { label, runs, of: limits.len(), evidence, labels })
    }

    /// The label in a table: `tx CPU`, with its number of runs if there are others: `rx CPU 7/9`.
    pub fn short(&self) -> String {
        let label = self.label.short();
        if self.runs == self.of { label.to_owned() } else { format!("{label} {}/{}", self.runs, self.of) }
    }
}

/// The limit outside both hosts that set a rate.
pub(crate) fn set_from_outside(
    stored: &StoredStudy,
    metric: Metric,
    one: usize,
    other: usize,
) -> Option<&'static str> {
    if !RATES.contains(&metric) {
        return None;
    }
    let label = |condition: usize| ConditionLimit::for_condition(stored, condition).map(|limit| limit.label);
    let limit = label(one).filter(|limit| limit.is_outside())?;
    let pace = |condition: usize| {
        let condition = stored.plan.conditions.get(condition)?;
        Some((condition.workload.traffic.pacing, condition.workload.traffic.rate))
    };
    // At the same limit the two can differ only if they are paced differently.
    let is_alike = label(other) == Some(limit) && (limit != Label::Pacing || pace(one) == pace(other));
    is_alike.then_some(if limit == Label::Link { "the link" } else { limit.word() })
}

pub(crate) fn cannot_differ(
    stored: &StoredStudy,
    metric: Metric,
    baseline: usize,
    others: &[usize],
) -> Option<String> {
    let limit = set_from_outside(stored, metric, baseline, baseline)?;
    let is_alike = |other: &&usize| set_from_outside(stored, metric, baseline, **other).is_some();
    let alike: Vec<String> = others.iter().filter(is_alike).map(|other| stored.label(*other)).collect();
    let baseline = stored.label(baseline);
    let cost = if metric == metric::TRANSACTIONS { "transaction" } else { "byte" };
    (!alike.is_empty()).then(|| {
        format!(
            "{} against {baseline}: limited by {limit} in both, so {metric} cannot differ; look at CPU per {cost} (--metric receiver.service_demand_{cost})",
            alike.join(", ")
        )
    })
}
