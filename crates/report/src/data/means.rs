//! A condition's figure is the mean of its boots' means: each boot has the same weight, however
//! many runs it has. [`stats::mean`] does not overflow near the largest number.

use std::collections::BTreeMap;

use store::StoredStudy;

/// The mean of boot means of every metric of one condition.
pub(crate) fn boot_means(stored: &StoredStudy, condition: usize) -> BTreeMap<String, f64> {
    let boots = per_boot(stored, condition);
    means(boots.iter().flatten().map(|(metric, value)| (metric.as_str(), *value)))
}

/// The mean of every metric of one condition in each of its boots.
pub(crate) fn per_boot(stored: &StoredStudy, condition: usize) -> Vec<BTreeMap<String, f64>> {
    by_boot(stored, condition).into_values().collect()
}

/// The same by the boots' numbers.
pub(crate) fn by_boot(stored: &StoredStudy, condition: usize) -> BTreeMap<u32, BTreeMap<String, f64>> {
    let mut boots: BTreeMap<u32, Vec<(&str, f64)>> = BTreeMap::new();
    for run in stored.measurements().filter(|run| run.condition == condition) {
        let metrics = run.metrics.iter().map(|(metric, value)| (metric.as_str(), *value));
        boots.entry(run.boot).or_default().extend(metrics);
    }
    boots.into_iter().map(|(boot, values)| (boot, means(values))).collect()
}

/// The mean of the values of each metric.
fn means<'a>(values: impl IntoIterator<Item = (&'a str, f64)>) -> BTreeMap<String, f64> {
    let mut of_metric: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (metric, value) in values {
        of_metric.entry(metric).or_default().push(value);
    }
    of_metric.into_iter().map(|(metric, values)| (metric.to_owned(), stats::mean(&values))).collect()
}
