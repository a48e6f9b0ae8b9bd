//! The values that a run measured, by metric.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Index;
use std::sync::Arc;
use std::{iter, slice};

use serde::{Serialize, Serializer};

/// The keys of a run's metrics, in ascending order, each once.
pub(crate) type Keys = Arc<[String]>;

/// A run's values by the keys of their metrics, in the order of the keys.
///
/// The runs of a study mostly have the same metrics: they share one list of keys, so that a study
/// of 10,000 runs holds numbers and not half a million strings.
#[derive(Clone, PartialEq)]
pub struct Metrics {
    keys: Keys,
    /// One for each key.
    values: Vec<f64>,
}

impl Metrics {
    /// The value of a metric.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&f64> {
        self.place(key).ok().map(|place| &self.values[place])
    }

    /// Whether there is a value of a metric.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.place(key).is_ok()
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The keys, in ascending order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// The values, in the order of the keys.
    pub fn values(&self) -> slice::Iter<'_, f64> {
        self.values.iter()
    }

    /// Keys and values, in the order of the keys.
    pub fn iter(&self) -> Iter<'_> {
        let key: fn(&String) -> &str = String::as_str;
        self.keys.iter().map(key).zip(&self.values)
    }

    /// Sets the value of a metric; the value that it had.
    pub fn insert(&mut self, key: String, value: f64) -> Option<f64> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.values[place], value)),
            Err(place) => {
                let mut keys = self.keys.to_vec();
                keys.insert(place, key);
                self.keys = keys.into();
                self.values.insert(place, value);
                None
            }
        }
    }

    /// Removes a metric; the value that it had.
    pub fn remove(&mut self, key: &str) -> Option<f64> {
        let place = self.place(key).ok()?;
        let mut keys = self.keys.to_vec();
        keys.remove(place);
        self.keys = keys.into();
        Some(self.values.remove(place))
    }

    /// Combines the values of each metric that any of `all` has, in their order, by `of`: into the
    /// means of runs, for one.
    #[must_use]
    pub fn combined(all: &[&Metrics], of: impl Fn(&[f64]) -> f64) -> Metrics {
        let Some(first) = all.first() else { return Self::default() };
        if all.iter().all(|one| one.has_keys_of(first)) {
            let mut column = Vec::with_capacity(all.len());
            let combine = |place: usize| {
                column.clear();
                column.extend(all.iter().map(|one| one.values[place]));
                of(&column)
            };
            return Self { keys: Arc::clone(&first.keys), values: (0..first.len()).map(combine).collect() };
        }
        let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (key, value) in all.iter().flat_map(|one| one.iter()) {
            columns.entry(key).or_default().push(*value);
        }
        columns.into_iter().map(|(key, values)| (key.to_owned(), of(&values))).collect()
    }

    /// Whether both have the same metrics.
    pub(crate) fn has_keys_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.keys, &other.keys) || self.keys == other.keys
    }

    pub(crate) fn list(&self) -> &Keys {
        &self.keys
    }

    /// The place of a key, or where it would be.
    fn place(&self, key: &str) -> Result<usize, usize> {
        self.keys.binary_search_by(|own| own.as_str().cmp(key))
    }
}

/// Keys and values of [`Metrics`].
pub type Iter<'m> = iter::Zip<iter::Map<slice::Iter<'m, String>, fn(&String) -> &str>, slice::Iter<'m, f64>>;

impl Default for Metrics {
    fn default() -> Self {
        Self { keys: Keys::from([]), values: Vec::new() }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// A map from keys to values.
impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

/// # Panics
/// Without a value of the metric.
impl Index<&str> for Metrics {
    type Output = f64;

    fn index(&self, key: &str) -> &f64 {
        self.get(key).expect("a metric that the run has")
    }
}

impl From<BTreeMap<String, f64>> for Metrics {
    fn from(map: BTreeMap<String, f64>) -> Self {
        let (keys, values): (Vec<String>, Vec<f64>) = map.into_iter().unzip();
        Self { keys: keys.into(), values }
    }
}

/// The last value of a repeated key counts.
impl FromIterator<(String, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(all: I) -> Self {
        all.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

impl<'m> IntoIterator for &'m Metrics {
    type Item = (&'m str, &'m f64);
    type IntoIter = Iter<'m>;

    fn into_iter(self) -> Iter<'m> {
        self.iter()
    }
}

/// Makes the metrics of many runs, which share their lists of keys.
#[derive(Default)]
pub(crate) struct Gatherer {
    known: BTreeSet<Keys>,
    /// The keys of the last run of each condition, which the next one probably has too.
    last: BTreeMap<usize, Keys>,
}

impl Gatherer {
    /// Begins a run of a condition.
    pub(crate) fn begin(&self, condition: usize) -> Gathered {
        let likely = self.last.get(&condition).cloned().unwrap_or_else(|| Keys::from([]));
        Gathered { condition, values: Vec::with_capacity(likely.len()), likely, own: None }
    }

    pub(crate) fn finish(&mut self, run: Gathered) -> Metrics {
        let Gathered { condition, likely, own, values } = run;
        let keys = match own {
            None if likely.len() == values.len() => return Metrics { keys: likely, values },
            None => likely[..values.len()].to_vec(),
            Some(own) => own,
        };
        if !keys.is_sorted_by(|one, next| one < next) {
            // Only a damaged file has them in another order.
            return keys.into_iter().zip(values).collect();
        }
        let keys = match self.known.get(keys.as_slice()) {
            Some(known) => Keys::clone(known),
            None => Keys::from(keys),
        };
        self.known.insert(Keys::clone(&keys));
        self.last.insert(condition, Keys::clone(&keys));
        Metrics { keys, values }
    }
}

/// The metrics of a run, as far as they are read.
pub(crate) struct Gathered {
    condition: usize,
    /// The keys that it has, as long as there is no list of its own.
    likely: Keys,
    own: Option<Vec<String>>,
    values: Vec<f64>,
}

impl Gathered {
    /// Adds a metric. They come in the order of their keys.
    pub(crate) fn push(&mut self, key: &str, value: f64) {
        let place = self.values.len();
        if self.own.is_none() && self.likely.get(place).is_none_or(|likely| likely != key) {
            self.own = Some(self.likely[..place].to_vec());
        }
        if let Some(own) = &mut self.own {
            own.push(key.to_owned());
        }
        self.values.push(value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gathered(gatherer: &mut Gatherer, condition: usize, all: &BTreeMap<String, f64>) -> Metrics {
        let mut run = gatherer.begin(condition);
        all.iter().for_each(|(key, value)| run.push(key, *value));
        gatherer.finish(run)
    }

    #[test]
    fn runs_with_the_same_metrics_share_their_keys() {
        let all = |keys: &[&str]| keys.iter().map(|key| ((*key).to_owned(), 1.0)).collect();
        let (both, one) = (all(&["a", "b"]), all(&["b"]));
        let mut gatherer = Gatherer::default();
        let [first, other, again] = [(0, &both), (1, &one), (0, &both)]
            .map(|(condition, metrics)| gathered(&mut gatherer, condition, metrics));
        let elsewhere = gathered(&mut gatherer, 2, &both);
        assert!(Arc::ptr_eq(first.list(), again.list()) && Arc::ptr_eq(first.list(), elsewhere.list()));
        assert!(!first.has_keys_of(&other));
        // A failure leaves the next ones their list.
        let none = gathered(&mut gatherer, 0, &BTreeMap::new());
        assert!(none.is_empty());
    }

    #[test]
    fn keys_out_of_order_are_put_in_order() {
        let gatherer = &mut Gatherer::default();
        let mut run = gatherer.begin(0);
        ["b", "a", "b"].iter().zip([1.0, 2.0, 3.0]).for_each(|(key, value)| run.push(key, value));
        let metrics = gatherer.finish(run);
        assert_eq!(metrics.iter().collect::<Vec<_>>(), [("a", &2.0), ("b", &3.0)]);
    }

    fn some() -> impl Strategy<Value = BTreeMap<String, f64>> {
        proptest::collection::btree_map("[a-d]{1,2}", -1e3..1e3_f64, 0..6)
    }

    proptest! {
        #[test]
        fn they_are_a_map(all in proptest::collection::vec((0..3_usize, some()), 0..8), key in "[a-d]{1,2}") {
            let mut gatherer = Gatherer::default();
            for (condition, map) in all {
                let mut map = map;
                let mut metrics = gathered(&mut gatherer, condition, &map);
                prop_assert_eq!(metrics.get(&key), map.get(&key));
                prop_assert!(metrics.iter().eq(map.iter().map(|(key, value)| (key.as_str(), value))));
                prop_assert_eq!(serde_json::to_string(&metrics).unwrap(), serde_json::to_string(&map).unwrap());
                prop_assert_eq!(metrics.remove(&key), map.remove(&key));
                prop_assert_eq!(metrics.insert(key.clone(), 1.0), map.insert(key.clone(), 1.0));
                prop_assert_eq!(&metrics, &Metrics::from(map));
            }
        }

        #[test]
        fn values_combine_by_metric(maps in proptest::collection::vec(some(), 0..6)) {
            let mut gatherer = Gatherer::default();
            let all: Vec<Metrics> = maps.iter().map(|map| gathered(&mut gatherer, 0, map)).collect();
            let all: Vec<&Metrics> = all.iter().collect();
            let mut expected: BTreeMap<String, f64> = BTreeMap::new();
            for (key, value) in maps.iter().flatten() {
                // Not symmetric: the order counts.
                let sum = expected.entry(key.clone()).or_default();
                *sum = *sum / 2.0 + value;
            }
            let combined = Metrics::combined(&all, |values| values.iter().fold(0.0, |sum, value| sum / 2.0 + value));
            prop_assert_eq!(combined, Metrics::from(expected));
        }
    }
}
