//! A stored study's measurements in little room, from which a page's script makes the CSV and the
//! JSON again without reading a number: it only joins texts, so that no digit is lost.

use std::fmt::Write as _;

use record::Limit;
use serde::Serialize;
use serde_json::json;
use words::csv_field as field;

use super::{HEADER, Number, head, keys, units};
use crate::metrics::Metrics;
use crate::records::{RunId, RunStatus, StoredRun, StoredStudy};

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
    /// The value in each run, each followed by a blank; nothing before the blank where a run has
    /// none.
    pub values: String,
}

/// A run in [`super::json()`], without its metrics and its further record.
#[derive(Serialize)]
struct Run<'a> {
    id: RunId,
    boot: u32,
    part: u32,
    block: u32,
    repeat: u32,
    position: u32,
    warmup: bool,
    condition: usize,
    started_unix_ms: i64,
    status: RunStatus,
    reason: &'a Option<String>,
    limited_by: &'a Option<Limit>,
}

impl<'a> Run<'a> {
    fn from_stored(run: &'a StoredRun) -> Self {
        Self {
            id: run.id,
            boot: run.boot,
            part: run.part,
            block: run.block,
            repeat: run.repeat,
            position: run.position,
            warmup: run.warmup,
            condition: run.condition,
            started_unix_ms: run.started_unix_ms,
            status: run.status,
            reason: &run.reason,
            limited_by: &run.limited_by,
        }
    }
}

/// The measurements of a study, packed.
pub fn packed(study: &StoredStudy, unit: impl Fn(&str) -> Option<&'static str>) -> Packed {
    let units = units(study, &unit);
    let document = json!({ "study": study.row, "plan": study.plan, "boots": study.boots, "units": units });
    let metric = |key: &str| PackedMetric {
        csv: format!("{},{}", field(key), field(unit(key).unwrap_or_default())),
        json: json!(key).to_string(),
        values: String::new(),
    };
    let keys = keys(study);
    let mut metrics: Vec<PackedMetric> = keys.iter().map(|key| metric(key)).collect();
    // Most runs have the same metrics as the one before: which of a run's values is in which
    // column.
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut before: Option<&Metrics> = None;
    for run in &study.runs {
        if before.is_none_or(|before| !before.has_keys_of(&run.metrics)) {
            let mut own = run.metrics.keys().enumerate().peekable();
            let place = |key: &&str| own.next_if(|(_, name)| name == key).map(|(place, _)| place);
            places = keys.iter().map(place).collect();
        }
        before = Some(&run.metrics);
        let values = run.metrics.values().as_slice();
        for (column, place) in metrics.iter_mut().zip(&places) {
            if let Some(place) = place {
                write!(column.values, "{}", Number(values[*place])).expect("writing to a string cannot fail");
            }
            column.values.push(' ');
        }
    }
    let text =
        |run: &StoredRun| serde_json::to_string(&Run::from_stored(run)).expect("it was read from JSON");
    Packed {
        header: HEADER,
        document: document.to_string(),
        runs: study.runs.iter().map(text).collect(),
        rows: study.runs.iter().map(|run| head(study, run)).collect(),
        metrics,
    }
}
