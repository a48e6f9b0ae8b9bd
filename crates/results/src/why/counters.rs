//! The counters that explain effects, in every condition.

use std::collections::BTreeSet;

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
        let is_told = |group: &&ComparisonGroup| {
            group.rows.iter().flat_map(|row| &row.why).any(|why| why.counter == metric)
        };
        let workloads: BTreeSet<&String> =
            groups.iter().filter(is_told).map(|group| &group.workload).collect();
        for workload in workloads {
            let conditions = figures(stored, workload, rule, side, level);
            if !conditions.is_empty() {
                let (workload, words) = (workload.clone(), rule.words(side));
                found.push(ExplainingCounter { workload, metric, words, conditions });
            }
        }
    }
    found
}

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
