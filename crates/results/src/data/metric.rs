//! Metrics by their words.

use std::collections::BTreeSet;

use stats::ValueRange;
use store::StoredStudy;
use study::metric::{self, Metric};

use crate::data::error::Error;

/// The unit of a metric; `None` for an unknown one.
#[must_use]
pub fn unit_of(key: &str) -> Option<&'static str> {
    metric::find(key).map(|metric| metric.unit)
}

/// The key that a word means: `cpu` is the transmitter's.
///
/// # Errors
/// [`Error::UnknownMetric`] with the nearest key.
pub fn resolve_metric(word: &str) -> Result<&'static str, Error> {
    known(word).map(|metric| metric.key)
}

pub(crate) fn known(word: &str) -> Result<&'static Metric, Error> {
    metric::find(word).ok_or_else(|| Error::UnknownMetric {
        word: word.to_owned(),
        nearest: metric::nearest(word).map(str::to_owned),
    })
}

/// The values that a metric may have.
pub(crate) fn range_of(metric: &Metric) -> ValueRange {
    let (least, most) = metric.range();
    ValueRange { least: Some(least), most }
}

/// The main metrics of a stored study's workloads, each once.
#[must_use]
pub fn main_metrics(stored: &StoredStudy) -> Vec<String> {
    let kinds = stored.plan.conditions.iter().map(|condition| condition.workload.traffic.kind);
    let keys: BTreeSet<&str> = kinds.map(|kind| kind.main_metric(stored.plan.exact).key).collect();
    keys.into_iter().map(str::to_owned).collect()
}
