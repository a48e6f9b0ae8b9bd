//! The metrics of a run while they are collected.

/// Figures by key.
#[derive(Default)]
pub(crate) struct MetricValues {
    pub(crate) entries: Vec<(String, f64)>,
}

impl MetricValues {
    pub(crate) fn put(&mut self, key: &str, value: f64) {
        if value.is_finite() {
            self.entries.push((key.to_owned(), value));
        }
    }

    pub(crate) fn ratio(&mut self, key: &str, dividend: f64, divisor: f64) {
        if divisor > 0.0 {
            self.put(key, dividend / divisor);
        }
    }
}

/// A sum of counts from another host: it may exceed every integer type.
pub(crate) fn total<const N: usize>(counts: [u64; N]) -> f64 {
    counts.into_iter().map(|count| count as f64).sum()
}
