//! The values that a run measured, by metric.

use serde::{Serialize, Serializer};
use words::metric::Metric;

/// A run's values by metric, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics(Vec<(Metric, f64)>);

impl Metrics {
    /// The value of a metric.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.place(metric).ok().map(|place| self.0[place].1)
    }

    fn place(&self, metric: Metric) -> Result<usize, usize> {
        self.0.binary_search_by_key(&metric, |(metric, _)| *metric)
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
        self.0.iter().copied()
    }

    /// Sets the value of a metric.
    pub fn insert(&mut self, metric: Metric, value: f64) {
        // The usual case: values come in the order of their keys.
        if self.0.last().is_none_or(|(last, _)| *last < metric) {
            return self.0.push((metric, value));
        }
        match self.place(metric) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (metric, value)),
        }
    }

    /// Combines the values of each metric that any of `all` has, for example into means.
    pub fn combined(all: &[&Metrics], combine: impl Fn(&[f64]) -> f64) -> Metrics {
        let mut rests: Vec<&[(Metric, f64)]> = all.iter().map(|one| &one.0[..]).collect();
        let (mut combined, mut values) = (Self::default(), Vec::with_capacity(all.len()));
        while let Some(next) = rests.iter().filter_map(|rest| rest.first()).map(|(metric, _)| *metric).min() {
            values.clear();
            for rest in &mut rests {
                if let Some(((_, value), others)) = rest.split_first().filter(|((own, _), _)| *own == next) {
                    values.push(*value);
                    *rest = others;
                }
            }
            combined.0.push((next, combine(&values)));
        }
        combined
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl FromIterator<(Metric, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (Metric, f64)>>(all: I) -> Self {
        let mut metrics = Self::default();
        all.into_iter().for_each(|(metric, value)| metrics.insert(metric, value));
        metrics
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
