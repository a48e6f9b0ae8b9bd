//! Metrics of comparisons, and metrics by their words.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use stats::ValueRange;
use store::StoredStudy;
use study::metric::{self, Metric};

use crate::data::error::Error;

/// A metric of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComparedMetric {
    /// A metric of the vocabulary.
    Known(Metric),
    /// A metric of another program's file: its name, and its unit, which may be empty.
    Foreign(String, String),
}

impl ComparedMetric {
    /// The metric of a file: that of the vocabulary if it has this key with this unit.
    pub fn of_file(name: String, unit: String) -> Self {
        let known = Metric::from_key(&name).filter(|known| known.unit == unit);
        known.map_or(Self::Foreign(name, unit), Self::Known)
    }

    /// The metric, if it is one of the vocabulary.
    pub fn known(&self) -> Option<Metric> {
        match self {
            Self::Known(metric) => Some(*metric),
            Self::Foreign(..) => None,
        }
    }

    /// Its name in files and tables.
    pub fn key(&self) -> &str {
        match self {
            Self::Known(metric) => metric.key,
            Self::Foreign(name, _) => name,
        }
    }

    /// Its unit.
    pub fn unit(&self) -> &str {
        match self {
            Self::Known(metric) => metric.unit,
            Self::Foreign(_, unit) => unit,
        }
    }
}

impl From<Metric> for ComparedMetric {
    fn from(metric: Metric) -> Self {
        Self::Known(metric)
    }
}

impl Serialize for ComparedMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("metric", self.key()), ("unit", self.unit())])
    }
}

/// The metric that a person's word means: `cpu` is the transmitter's.
///
/// # Errors
/// [`Error::UnknownMetric`] with the nearest key.
pub fn resolve_metric(word: &str) -> Result<Metric, Error> {
    metric::find(word)
        .ok_or_else(|| Error::UnknownMetric { word: word.to_owned(), nearest: metric::nearest(word) })
}

pub(crate) fn range_of(metric: Metric) -> ValueRange {
    let (least, most) = metric.range();
    ValueRange { least: Some(least), most }
}

/// The main metrics of a stored study's workloads, each once.
pub fn main_metrics(stored: &StoredStudy) -> BTreeSet<Metric> {
    let kinds = stored.plan.conditions.iter().map(|condition| condition.workload.traffic.kind);
    kinds.map(|kind| kind.main_metric(stored.plan.exact)).collect()
}
