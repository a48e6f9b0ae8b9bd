//! A condition's figure is the mean of its boots' means: each boot has the same weight, however
//! many runs it has. [`stats::mean`] does not overflow near the largest number.

use std::collections::BTreeMap;

use store::{Metrics, StoredStudy};

pub(crate) fn boot_means(stored: &StoredStudy, condition: usize) -> Metrics {
    Metrics::combined(&per_boot(stored, condition).iter().collect::<Vec<_>>(), stats::mean)
}

pub(crate) fn per_boot(stored: &StoredStudy, condition: usize) -> Vec<Metrics> {
    let mut boots: BTreeMap<u32, Vec<&Metrics>> = BTreeMap::new();
    for run in stored.measurements_of(condition) {
        boots.entry(run.boot).or_default().push(&run.metrics);
    }
    boots.into_values().map(|runs| Metrics::combined(&runs, stats::mean)).collect()
}
