//! One JSON object with everything that is stored of a study.

use serde_json::{Value, json};

use super::units;
use crate::stored::StoredStudy;

/// The study as one object: `study` (the row), `plan`, `boots`, `runs`, and `units` by metric key.
pub fn json(study: &StoredStudy, unit: impl Fn(&str) -> Option<&'static str>) -> Value {
    let units = units(study, &unit);
    json!({
        "study": study.row,
        "plan": study.plan,
        "boots": study.boots,
        "runs": study.runs,
        "units": units,
    })
}
