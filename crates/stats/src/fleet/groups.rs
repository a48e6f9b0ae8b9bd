//! Groups of machine pairs, and the differences between them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fleet::{Fleet, JudgedEffect, PairEffect, holm_levels, mean_of, welch};
use crate::model::Estimate;
use crate::question::StatsError;

/// The effects of groups of machine pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupedEffect<Label> {
    /// The groups, in the order of their labels.
    pub groups: Vec<GroupEffect<Label>>,
    /// Each group less every group before it.
    pub differences: Vec<GroupDifference>,
}

/// The effect of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupEffect<Label> {
    /// The label of its pairs.
    pub label: Label,
    /// The number of its pairs.
    pub pairs: usize,
    /// The mean over its pairs; without an interval for one pair.
    pub mean: JudgedEffect,
}

/// The difference between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupDifference {
    /// The index of the group.
    pub group: usize,
    /// The index of the group it is compared with.
    pub baseline: usize,
    /// `group` less `baseline`; without an interval if either is one pair. The intervals of all
    /// differences are corrected so that all verdicts hold together.
    pub difference: JudgedEffect,
}

/// Compares groups of machine pairs, each given with the label of its group.
///
/// # Errors
/// [`StatsError::Level`], [`StatsError::NoPairs`] and [`StatsError::Pair`].
pub fn over_groups<Label: Ord + Clone>(
    pairs: &[(Label, PairEffect)],
    confidence: f64,
) -> Result<GroupedEffect<Label>, StatsError> {
    let effects: Vec<PairEffect> = pairs.iter().map(|(_, effect)| *effect).collect();
    let fleet = Fleet::new(&effects, confidence)?;
    let mut by_label: BTreeMap<&Label, Vec<Estimate>> = BTreeMap::new();
    for ((label, _), estimate) in pairs.iter().zip(&fleet.estimates) {
        by_label.entry(label).or_default().push(*estimate);
    }
    let means: Vec<Estimate> = by_label.values().map(|group| mean_of(group)).collect();
    let compared: Vec<(usize, usize)> =
        (1..means.len()).flat_map(|group| (0..group).map(move |baseline| (group, baseline))).collect();
    let differences: Vec<Estimate> =
        compared.iter().map(|(group, baseline)| welch(&means[*group], &means[*baseline])).collect();
    let levels = holm_levels(&differences, fleet.alpha, None);
    let groups = by_label.iter().zip(&means).map(|((label, pairs), mean)| GroupEffect {
        label: (*label).clone(),
        pairs: pairs.len(),
        mean: fleet.judged(mean, fleet.alpha, None),
    });
    let judged = |(((group, baseline), difference), level): (((usize, usize), &Estimate), f64)| {
        GroupDifference { group, baseline, difference: fleet.judged(difference, level, None) }
    };
    let differences = compared.into_iter().zip(&differences).zip(levels).map(judged).collect();
    Ok(GroupedEffect { groups: groups.collect(), differences })
}
