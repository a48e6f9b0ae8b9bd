//! Runs gathered into boots, the unit of replication.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::summary::mean;

/// One recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The condition's index in the plan.
    pub condition: usize,
    /// The planned boot. Both parts of a boot that was resumed have the same number: they are one unit.
    pub boot: u32,
    /// What was measured, in the metric's unit.
    pub value: f64,
}

/// The mean of each condition in each boot that measured it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BootMeans(BTreeMap<usize, BTreeMap<u32, f64>>);

impl BootMeans {
    pub(crate) fn of(observations: &[Observation]) -> BootMeans {
        let mut cells: BTreeMap<usize, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
        for observation in observations {
            let boots = cells.entry(observation.condition).or_default();
            boots.entry(observation.boot).or_default().push(observation.value);
        }
        let cell_mean = |(boot, mut values): (u32, Vec<f64>)| {
            // Sorted, so that the order of the runs cannot change even the last digit.
            values.sort_by(f64::total_cmp);
            (boot, mean(&values))
        };
        let condition_means = |(condition, boots): (usize, BTreeMap<u32, Vec<f64>>)| {
            (condition, boots.into_iter().map(cell_mean).collect())
        };
        BootMeans(cells.into_iter().map(condition_means).collect())
    }

    /// The conditions that were measured, in order.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }

    /// A condition's means by boot; none if it was never measured.
    pub(crate) fn condition(&self, condition: usize) -> Option<&BTreeMap<u32, f64>> {
        self.0.get(&condition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_boot_are_one_unit() {
        let run = |condition, boot, value| Observation { condition, boot, value };
        let means =
            BootMeans::of(&[run(2, 1, 1.0), run(0, 1, 5.0), run(2, 3, 7.0), run(2, 1, 2.0), run(2, 1, 6.0)]);
        assert_eq!(means.conditions().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(means.condition(2), Some(&BTreeMap::from([(1, 3.0), (3, 7.0)])));
        assert_eq!(means.condition(1), None);
    }
}
