//! The values that a run measured, by metric.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use words::metric::Metric;

/// A run's values by metric, in the order of their keys, each metric once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics(Vec<(Metric, f64)>);

impl Metrics {
    /// The value of a metric.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.position(metric).ok().map(|place| self.0[place].1)
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Metrics and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (Metric, f64)> {
        self.0.iter().copied()
    }

    /// Sets the value of a metric.
    pub fn insert(&mut self, metric: Metric, value: f64) {
        match self.position(metric) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (metric, value)),
        }
    }

    /// Removes a metric; the value that it had.
    pub fn remove(&mut self, metric: Metric) -> Option<f64> {
        self.position(metric).ok().map(|place| self.0.remove(place).1)
    }

    /// Combines the values of each metric that any of `all` has, in their order, by `combine`: into
    /// the means of runs, for one.
    #[must_use]
    pub fn combined(all: &[&Metrics], combine: impl Fn(&[f64]) -> f64) -> Metrics {
        let mut columns: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
        for (metric, value) in all.iter().flat_map(|one| one.iter()) {
            columns.entry(metric).or_default().push(value);
        }
        Self(columns.into_iter().map(|(metric, values)| (metric, combine(&values))).collect())
    }

    /// The position of a metric, or where it would be.
    fn position(&self, metric: Metric) -> Result<usize, usize> {
        self.0.binary_search_by_key(&metric, |(own, _)| *own)
    }
}

/// A map from keys to values.
impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The last value of a repeated metric counts.
impl FromIterator<(Metric, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (Metric, f64)>>(all: I) -> Self {
        let mut metrics = Self::default();
        all.into_iter().for_each(|(metric, value)| metrics.insert(metric, value));
        metrics
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
        fn they_are_a_map(all in proptest::collection::vec((metric(), -1e3..1e3_f64), 0..8), one in metric()) {
            let mut map: BTreeMap<Metric, f64> = all.iter().copied().collect();
            let mut metrics: Metrics = all.into_iter().collect();
            prop_assert_eq!(metrics.get(one), map.get(&one).copied());
            prop_assert!(metrics.iter().eq(map.iter().map(|(metric, value)| (*metric, *value))));
            prop_assert_eq!(serde_json::to_string(&metrics).unwrap(), serde_json::to_string(&map).unwrap());
            prop_assert_eq!(metrics.remove(one), map.remove(&one));
            metrics.insert(one, 1.0);
            map.insert(one, 1.0);
            prop_assert_eq!(metrics, map.into_iter().collect::<Metrics>());
        }

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
