//! Merges conditions that read back the same effective state.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use crate::model::dropped::Dropped;
use crate::plan::Plan;
use crate::plan::comparison::Comparison;
use crate::plan::condition::Condition;

impl Plan {
    /// Merges conditions with the same effective state: the first stays, the others move to
    /// `merged`, the conditions are numbered again and the comparisons follow.
    ///
    /// `states[i]` is the state that the testbed reads back under `conditions[i]`. Only conditions
    /// with the same traffic (workload, family, checksums of the sockets), testbed and `twin` are
    /// merged, so `states` need not contain these. A condition without a state stays.
    pub fn merge<S: Eq + Hash>(mut self, states: &[S]) -> Plan {
        let first = representatives(&self.conditions, states);
        for (condition, &first) in self.conditions.iter().zip(&first) {
            if condition.index != first {
                let why = format!("reads back as the same state as `{}`", self.conditions[first].label);
                self.merged.push(Dropped { label: condition.label.to_string(), why });
            }
        }
        self.keep(&first.into_iter().map(Some).collect::<Vec<_>>()).0
    }

    /// Moves the conditions that cannot be measured here to `lacking`; the others are numbered
    /// anew and the comparisons follow. A comparison whose baseline is gone goes there too.
    ///
    /// `reasons[i]` is why `conditions[i]` cannot be measured; without one it stays.
    pub fn without(mut self, reasons: &[Option<String>]) -> Plan {
        let reason = |index: usize| reasons.get(index).and_then(Option::as_ref);
        for condition in &self.conditions {
            let label = condition.label.to_string();
            self.lacking.extend(reason(condition.index).map(|why| Dropped { label, why: why.clone() }));
        }
        for Comparison { metric, baseline, .. } in &self.comparisons {
            if let (Some(_), Some(condition)) = (reason(*baseline), self.conditions.get(*baseline)) {
                let label = format!("the comparison of {metric} with {}", condition.label);
                self.lacking.push(Dropped { label, why: "its baseline is not measured".to_owned() });
            }
        }
        let stays = |index: usize| reason(index).is_none().then_some(index);
        let stays: Vec<_> = (0..self.conditions.len()).map(stays).collect();
        self.keep(&stays).0
    }

    /// Keeps the measured conditions and numbers them again; comparisons follow. `stands_for[i]` is
    /// the condition that is measured for `conditions[i]`, if one is. Also returns the former
    /// number of each condition of the plan.
    pub(crate) fn keep(mut self, stands_for: &[Option<usize>]) -> (Plan, Vec<usize>) {
        let numbers: Vec<usize> =
            (0..stands_for.len()).filter(|&index| stands_for[index] == Some(index)).collect();
        let renumber = |old: usize| numbers.binary_search(&(*stands_for.get(old)?)?).ok();
        self.comparisons =
            self.comparisons.into_iter().filter_map(|comparison| follow(comparison, renumber)).collect();
        self.conditions.retain(|condition| numbers.binary_search(&condition.index).is_ok());
        for (index, condition) in self.conditions.iter_mut().enumerate() {
            condition.index = index;
        }
        (self, numbers)
    }
}

/// The first condition with the state and the traffic of each condition.
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

/// A comparison under new numbers; `None` if it has no conditions left.
fn follow(comparison: Comparison, renumber: impl Fn(usize) -> Option<usize>) -> Option<Comparison> {
    let baseline = renumber(comparison.baseline)?;
    let mut conditions: Vec<usize> = comparison.conditions.into_iter().filter_map(renumber).collect();
    conditions.sort_unstable();
    conditions.dedup();
    conditions.retain(|index| *index != baseline);
    (!conditions.is_empty()).then_some(Comparison { baseline, conditions, ..comparison })
}
