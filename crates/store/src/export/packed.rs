//! A stored study's measurements in little room, from which a page's script makes the CSV and the
//! JSON again without reading a number: it only joins texts, so that no digit is lost.

use serde::Serialize;
use serde_json::json;
use words::metric::Metric;

use super::{HEADER, head, shortest, units};
use crate::records::StoredStudy;

/// Every run of a study with its values, warm-ups, failed and disturbed runs included. The further
/// record of a run (`detail` in [`super::json()`]) is left out: it has ten times the room of the
/// rest.
///
/// The CSV is `header`, then, for each run, `rows` with `,` and the `csv` and the value of each
/// metric that the run has, on a line each; `rows` with `,,,` for a run without any. The JSON is
/// `document` without its last brace, `,"runs":[`, each of `runs` without its last brace,
/// `,"metrics":{`, the `json` of each metric that the run has with `:` and its value (`null` for
/// one that is not finite), and what closes them.
#[derive(Debug, Serialize)]
pub struct Packed {
    /// The first line of the CSV, with its end.
    pub header: &'static str,
    /// `study`, `plan`, `boots` and `units` as a JSON object.
    pub document: String,
    /// Each run as a JSON object, without its metrics.
    pub runs: Vec<String>,
    /// The first columns of each run in the CSV.
    pub rows: Vec<String>,
    /// The metrics that any run has, by key.
    pub metrics: Vec<PackedMetric>,
}

/// One metric of all runs.
#[derive(Debug, Serialize)]
pub struct PackedMetric {
    /// Key and unit in the CSV.
    pub csv: String,
    /// The key in the JSON, quoted.
    pub json: String,
    /// The value in each run, each followed by a blank; nothing before it where there is none.
    pub values: String,
}

/// The measurements of a study, packed.
pub fn packed(study: &StoredStudy) -> Packed {
    let units = units(study);
    let column = |metric: &Metric| {
        let mut values = String::new();
        for run in &study.runs {
            values.push_str(&run.metrics.get(*metric).map(shortest).unwrap_or_default());
            values.push(' ');
        }
        PackedMetric { csv: format!("{metric},{}", metric.unit), json: format!("{:?}", metric.key), values }
    };
    let text = |run| serde_json::to_string(run).expect("it was read from JSON");
    Packed {
        header: HEADER,
        metrics: units.keys().map(column).collect(),
        runs: study.runs.iter().map(text).collect(),
        rows: study.runs.iter().map(|run| head(study, run)).collect(),
        document: json!({ "study": study.row, "plan": study.plan, "boots": study.boots, "units": units })
            .to_string(),
    }
}
