//! Metrics by their words.

use std::collections::BTreeSet;

use store::StoredStudy;
use study::metric::{self, Metric};

use crate::data::error::Error;
use study::{Asked, PlanDocument};

/// The unit of a metric; `None` for a metric that this program does not know.
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

/// The primary metrics of a stored study's workloads, each once.
///
/// # Errors
/// [`Error::Plan`] when its plan cannot be read.
pub fn primary_metrics(stored: &StoredStudy) -> Result<Vec<String>, Error> {
    let plan = plan_of(stored)?;
    let keys: BTreeSet<&str> = plan
        .plan
        .conditions
        .iter()
        .map(|condition| condition.workload.traffic.kind.primary_metric().key)
        .collect();
    Ok(keys.into_iter().map(str::to_owned).collect())
}

/// What a stored study asked.
///
/// # Errors
/// [`Error::Plan`] when it is more than a study can ask: pages go through all planned runs.
pub(crate) fn asked_of(stored: &StoredStudy, plan: &PlanDocument) -> Result<Asked, Error> {
    let asked = &plan.plan.asked;
    if asked.protocol.is_possible(plan.plan.conditions.len()) {
        Ok(asked.clone())
    } else {
        let what = "it has more runs than a study can have".to_owned();
        Err(Error::Plan { study: stored.row.id.0, what })
    }
}

pub(crate) fn plan_of(stored: &StoredStudy) -> Result<PlanDocument, Error> {
    PlanDocument::read(&stored.plan_json).map_err(|what| Error::Plan { study: stored.row.id.0, what })
}
