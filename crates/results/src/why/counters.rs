//! The counters that explain effects, in every condition.

use std::collections::BTreeMap;

use stats::{ConditionEstimate, Observation};
use store::StoredStudy;
use study::Side;
use study::metric::Metric;

use super::rule::ExplanationRule;
use super::rules::RULES;
use crate::data::comparison_group::ComparisonGroup;
use crate::data::means::by_boot;

/// A counter that explains an effect, or several.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainingCounter {
    /// The name of the workload.
    pub workload: String,
    /// The counter's metric.
    pub metric: Metric,
    /// The words for its figures, with their unit: `segments per packet at the transmitter`.
    pub words: String,
    /// Its mean over boots in each condition of the workload that has it.
    pub conditions: Vec<ConditionEstimate>,
    /// The effects that it explains: condition and baseline.
    pub explains: Vec<(usize, usize)>,
}

/// The counters that explain any of the effects, in the order of the rules; intervals have `level`
/// by themselves.
pub(crate) fn counters(
    stored: &StoredStudy,
    groups: &[ComparisonGroup],
    level: f64,
) -> Vec<ExplainingCounter> {
    let rules = RULES.iter().flat_map(|rule| Side::BOTH.map(|side| (rule, side)));
    let mut found = Vec::new();
    for (rule, side) in rules {
        let metric = rule.counter[side];
        let mut workloads: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for group in groups {
            let rows = group.rows.iter().filter(|row| row.why.iter().any(|why| why.counter == metric));
            let pairs = rows.map(|row| (row.comparison.condition, row.comparison.baseline));
            for pair in pairs {
                let explained = workloads.entry(&group.workload).or_default();
                if !explained.contains(&pair) {
                    explained.push(pair);
                }
            }
        }
        found.extend(workloads.into_iter().filter_map(|(workload, explains)| {
            let conditions = figures(stored, workload, rule, side, level);
            let words = rule.words(side);
            let counter =
                ExplainingCounter { workload: workload.to_owned(), metric, words, conditions, explains };
            (!counter.conditions.is_empty()).then_some(counter)
        }));
    }
    found
}

/// A rule's figure in each condition of a workload.
fn figures(
    stored: &StoredStudy,
    workload: &str,
    rule: &ExplanationRule,
    side: Side,
    level: f64,
) -> Vec<ConditionEstimate> {
    let own = stored.plan.conditions.iter().filter(|condition| condition.workload.name == workload);
    let boots = own.flat_map(|condition| {
        let boots = by_boot(stored, condition.index).into_iter();
        boots.filter_map(move |(boot, means)| {
            let value = rule.figure(side, &means)?;
            Some(Observation { condition: condition.index, boot, value })
        })
    });
    let boots: Vec<Observation> = boots.collect();
    stats::estimates(&boots, level, rule.range(side)).unwrap_or_default()
}
