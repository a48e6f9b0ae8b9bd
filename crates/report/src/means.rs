//! A condition's figure is the mean of its boots' means: each boot has one vote, however many runs it gave.
//!
//! Means are taken by [`stats::mean`], which values near the largest number do not overflow.

use std::collections::BTreeMap;

use store::StoredStudy;

/// The mean of boot means of every metric of one condition.
pub(crate) fn boot_means(stored: &StoredStudy, condition: usize) -> BTreeMap<String, f64> {
    let mut values: BTreeMap<&str, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
    for run in stored.measurements().filter(|run| run.condition == condition) {
        for (metric, value) in &run.metrics {
            values.entry(metric).or_default().entry(run.boot).or_default().push(*value);
        }
    }
    let of_boots = |boots: BTreeMap<u32, Vec<f64>>| {
        stats::mean(&boots.values().map(|runs| stats::mean(runs)).collect::<Vec<_>>())
    };
    values.into_iter().map(|(metric, boots)| (metric.to_owned(), of_boots(boots))).collect()
}
