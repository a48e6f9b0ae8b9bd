//! A condition's figure is the mean of its boots' means: each boot has the same weight, however
//! many runs it has. [`stats::mean`] does not overflow near the largest number.

use std::collections::BTreeMap;

use store::{Metrics, StoredStudy};

pub(crate) fn boot_means(stored: &StoredStudy, condition: usize) -> Metrics {
    Metrics::combined(&per_boot(stored, condition).iter().collect::<Vec<_>>(), stats::mean)
}

/// The mean of each boot's values.
pub(crate) fn mean_by_boot(values: impl IntoIterator<Item = (u32, f64)>) -> BTreeMap<u32, f64> {
    let mut boots: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (boot, value) in values {
        boots.entry(boot).or_default().push(value);
    }
    boots.into_iter().map(|(boot, values)| (boot, stats::mean(&values))).collect()
}

pub(crate) fn per_boot(stored: &StoredStudy, condition: usize) -> Vec<Metrics> {
    let mut boots: BTreeMap<u32, Vec<&Metrics>> = BTreeMap::new();
    for run in stored.measurements_of(condition) {
        boots.entry(run.boot).or_default().push(&run.metrics);
    }
    boots.into_values().map(|runs| Metrics::combined(&runs, stats::mean)).collect()
}
