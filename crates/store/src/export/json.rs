//! One JSON object with everything that is stored of a study.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::stored::StoredStudy;

/// The study as one object: `study` (the row), `plan`, `boots`, `runs`, and `units` by metric key.
pub fn json(study: &StoredStudy, unit: impl Fn(&str) -> Option<&'static str>) -> Value {
    let units: BTreeMap<&str, &str> = study
        .runs
        .iter()
        .flat_map(|run| run.metrics.keys())
        .filter_map(|metric| Some((metric.as_str(), unit(metric)?)))
        .collect();
    json!({
        "study": study.row,
        "plan": study.plan,
        "boots": study.boots,
        "runs": study.runs,
        "units": units,
    })
}
