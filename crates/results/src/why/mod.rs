//! The reasons why two conditions differ, as far as stored counters tell: conditions that differ by
//! a factor that can explain a large effect.
//!
//! A counter that differs is evidence and no proof. So a sentence gives the counter's two figures,
//! and there is none where counters are alike, move against the effect, or overlap between boots.

mod rule;
mod rules;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;
use store::{Metrics, StoredStudy};
use study::metric::{Better, Metric};

use self::rule::{BootMeans, CounterSubject};
use self::rules::RULES;
use crate::data::comparison_group::ComparisonGroup;
use crate::data::means::per_boot;
use crate::words::lists::grouped;

/// A counter that differs between two conditions as their effect does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The counter's metric.
    pub counter: Metric,
    /// Its figure in the condition, in the unit that the sentence names.
    pub value: f64,
    /// The figure of the baseline.
    pub baseline: f64,
    /// Both in words, without a full stop.
    pub sentence: String,
}

// More reasons than this explain nothing.
const MOST: usize = 2;
// From this share of the baseline on, an effect needs an explanation.
const LARGE: f64 = 0.03;

pub(crate) fn explain(groups: &mut [ComparisonGroup], stored: &StoredStudy) {
    // Many rows have the same baseline.
    let mut means: BTreeMap<usize, Vec<Metrics>> = BTreeMap::new();
    for group in groups {
        let Some(metric) = group.metric.known() else { continue };
        for row in &mut group.rows {
            let comparison = &row.comparison;
            let is_large = comparison.difference.abs() >= LARGE * comparison.baseline_mean.abs();
            if is_large && row.is_proven() {
                let both = [comparison.condition, comparison.baseline];
                for condition in both {
                    means.entry(condition).or_insert_with(|| per_boot(stored, condition));
                }
                let boots = both.map(|condition| means[&condition].as_slice());
                row.why = reasons(metric, comparison.difference > 0.0, boots);
            }
        }
    }
}

/// The most telling first. `rises`: whether the metric is higher than the baseline's.
pub(crate) fn reasons(metric: Metric, rises: bool, boots: [BootMeans<'_>; 2]) -> Vec<Explanation> {
    let is_worse = match metric.better {
        Better::Higher => !rises,
        Better::Lower => rises,
        Better::Neither => return Vec::new(),
    };
    let rules = RULES.iter().filter(|rule| (rule.explains)(metric));
    let sides = || study::Side::BOTH.into_iter().filter(|side| metric.side.is_none_or(|own| own == *side));
    let mut found: Vec<(CounterSubject, f64, Explanation)> =
        rules.flat_map(|rule| sides().filter_map(|side| rule.reason(side, is_worse, boots))).collect();
    // The sort is stable: of equals, the first rule's and the transmitter's.
    found.sort_by(|(_, one, _), (_, other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
    // Several counters of one subject say the same: the most telling stands for them.
    let by_subject = grouped(found.into_iter().map(|(about, _, why)| (about, why)));
    by_subject.into_iter().take(MOST).filter_map(|(_, reasons)| reasons.into_iter().next()).collect()
}

#[cfg(test)]
mod tests;
