//! Conditions that read back as the same effective state are one condition.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use crate::model::dropped::Dropped;
use crate::plan::Plan;
use crate::plan::comparison::Comparison;
use crate::plan::condition::Condition;

impl Plan {
    /// Makes conditions with the same effective state one: the first stays, the others move to
    /// `merged`, the conditions are numbered anew and the comparisons follow.
    ///
    /// `states[i]` is what the testbed's state reads back as under `conditions[i]`. Only conditions
    /// with the same traffic (workload, family, checksums of the sockets), the same state of the
    /// testbed and no label of `twin` between them are merged, so that `states` need not hold what
    /// is no state of the testbed. A condition without one stays as it is.
    pub fn merge<S: Eq + Hash>(self, states: &[S]) -> Plan {
        let representatives = representatives(&self.conditions, states);
        let mut merged = self.merged;
        let mut numbers = HashMap::new();
        let mut conditions: Vec<Condition> = Vec::new();
        let labels: Vec<String> = self.conditions.iter().map(|condition| condition.label.clone()).collect();
        for (old, condition) in self.conditions.into_iter().enumerate() {
            let first = representatives[old];
            if first == old {
                numbers.insert(old, conditions.len());
                conditions.push(Condition { index: conditions.len(), ..condition });
            } else {
                let why = format!("reads back as the same state as `{}`", labels[first]);
                merged.push(Dropped { label: condition.label, why });
            }
        }
        let renumber = |old: usize| representatives.get(old).and_then(|first| numbers.get(first)).copied();
        let comparisons =
            self.comparisons.into_iter().filter_map(|comparison| follow(comparison, renumber)).collect();
        Plan { conditions, merged, comparisons, ..self }
    }

    /// Moves the conditions that cannot be measured here to `excluded`; the others are numbered
    /// anew and the comparisons follow. One whose baseline is gone goes there too, with what it was
    /// to tell.
    ///
    /// `reasons[i]` is why `conditions[i]` cannot be measured; without one it stays.
    pub fn without(self, reasons: &[Option<String>]) -> Plan {
        let mut excluded = self.excluded;
        let labels: Vec<String> = self.conditions.iter().map(|condition| condition.label.clone()).collect();
        let mut conditions: Vec<Condition> = Vec::new();
        let mut numbers = Vec::new();
        for (old, condition) in self.conditions.into_iter().enumerate() {
            if let Some(why) = reasons.get(old).cloned().flatten() {
                excluded.push(Dropped { label: condition.label, why });
                numbers.push(None);
            } else {
                numbers.push(Some(conditions.len()));
                conditions.push(Condition { index: conditions.len(), ..condition });
            }
        }
        let renumber = |old: usize| numbers.get(old).copied().flatten();
        let mut comparisons = Vec::new();
        for comparison in self.comparisons {
            let Comparison { metric, baseline, .. } = &comparison;
            match (renumber(*baseline), labels.get(*baseline)) {
                (None, Some(baseline)) => excluded.push(Dropped {
                    label: format!("the comparison of {metric} with {baseline}"),
                    why: "its baseline is not measured".to_owned(),
                }),
                _ => comparisons.extend(follow(comparison, renumber)),
            }
        }
        Plan { conditions, excluded, comparisons, ..self }
    }
}

/// For each condition, the first one with its state and its traffic.
fn representatives<S: Eq + Hash>(conditions: &[Condition], states: &[S]) -> Vec<usize> {
    let mut by_state: HashMap<&S, Vec<usize>> = HashMap::new();
    (0..conditions.len())
        .map(|index| {
            let Some(state) = states.get(index) else { return index };
            match by_state.entry(state) {
                Entry::Vacant(entry) => {
                    entry.insert(vec![index]);
                    index
                }
                Entry::Occupied(mut entry) => {
                    let twin = |first: &usize| same_traffic(&conditions[*first], &conditions[index]);
                    if let Some(first) = entry.get().iter().copied().find(twin) {
                        return first;
                    }
                    entry.get_mut().push(index);
                    index
                }
            }
        })
        .collect()
}

fn same_traffic(one: &Condition, other: &Condition) -> bool {
    (&one.workload, one.family, one.twin(), &one.boot)
        == (&other.workload, other.family, other.twin(), &other.boot)
}

/// A comparison under new numbers; `None` if nothing is left to compare.
pub(crate) fn follow(
    comparison: Comparison,
    renumber: impl Fn(usize) -> Option<usize>,
) -> Option<Comparison> {
    let baseline = renumber(comparison.baseline)?;
    let mut conditions: Vec<usize> = comparison.conditions.into_iter().filter_map(renumber).collect();
    conditions.sort_unstable();
    conditions.dedup();
    conditions.retain(|index| *index != baseline);
    (!conditions.is_empty()).then_some(Comparison { baseline, conditions, ..comparison })
}
