//! A condition's figure is the mean of its boots' means: each boot has one vote, however many runs it gave.

use std::collections::BTreeMap;

use store::StoredStudy;

/// The mean of boot means of every metric of one condition.
pub(crate) fn boot_means(stored: &StoredStudy, condition: usize) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&str, BTreeMap<u32, (f64, u32)>> = BTreeMap::new();
    for run in stored.measurements().filter(|run| run.condition == condition) {
        for (metric, value) in &run.metrics {
            let (sum, count) = sums.entry(metric).or_default().entry(run.boot).or_default();
            *sum += value;
            *count += 1;
        }
    }
    sums.into_iter()
        .map(|(metric, boots)| {
            let means: Vec<f64> = boots.values().map(|(sum, count)| sum / f64::from(*count)).collect();
            (metric.to_owned(), means.iter().sum::<f64>() / means.len() as f64)
        })
        .collect()
}
