//! The values that a run measured, by metric.

use std::collections::BTreeMap;

use serde::Serialize;
use words::metric::Metric;

/// A run's values by metric, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metrics(BTreeMap<Metric, f64>);

impl Metrics {
    /// The value of a metric.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.0.get(&metric).copied()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Metrics and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (Metric, f64)> {
        self.0.iter().map(|(metric, value)| (*metric, *value))
    }

    /// Sets the value of a metric.
    pub fn insert(&mut self, metric: Metric, value: f64) {
        self.0.insert(metric, value);
    }

    /// Combines the values of each metric that any of `all` has, for example into means.
    pub fn combined(all: &[&Metrics], combine: impl Fn(&[f64]) -> f64) -> Metrics {
        let mut columns: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
        for (metric, value) in all.iter().flat_map(|one| one.iter()) {
            columns.entry(metric).or_default().push(value);
        }
        Self(columns.into_iter().map(|(metric, values)| (metric, combine(&values))).collect())
    }
}

impl FromIterator<(Metric, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (Metric, f64)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use words::metric::METRICS;

    use super::*;

    fn metric() -> impl Strategy<Value = Metric> {
        prop::sample::select(&METRICS[..12])
    }

    fn some() -> impl Strategy<Value = BTreeMap<Metric, f64>> {
        proptest::collection::btree_map(metric(), -1e3..1e3_f64, 0..6)
    }

    proptest! {
        #[test]
        fn values_combine_by_metric(maps in proptest::collection::vec(some(), 0..6)) {
            let all: Vec<Metrics> = maps.iter().map(|map| map.clone().into_iter().collect()).collect();
            let all: Vec<&Metrics> = all.iter().collect();
            let mut expected: BTreeMap<Metric, f64> = BTreeMap::new();
            for (metric, value) in maps.iter().flatten() {
                // Not symmetric: the order counts.
                let sum = expected.entry(*metric).or_default();
                *sum = *sum / 2.0 + value;
            }
            let combined = Metrics::combined(&all, |values| values.iter().fold(0.0, |sum, value| sum / 2.0 + value));
            prop_assert_eq!(combined, expected.into_iter().collect::<Metrics>());
        }
    }
}
