//! A stored study's measurements in little room, from which a page's script makes the CSV and the
//! JSON again without reading a number: it only joins texts, so that no digit is lost.

use serde_json::{Value, json};
use words::metric::Metric;

use super::{FORMAT_VERSION, HEADER, head, shortest, units};
use crate::records::StoredStudy;

/// Every run of a study with its values, warm-ups, failed and disturbed runs included. The further
/// record of a run (`detail` in [`super::json()`]) is left out: it has ten times the room of the
/// rest.
///
/// `header` is the first line of the CSV, `document` is `format_version`, `study`, `plan`, `boots`
/// and `units` as the text of a JSON object, `runs` has the text of each run's without its
/// metrics, and `rows` the first columns of each run in the CSV. Each of `metrics` has its columns
/// in the CSV (`csv`), its quoted key (`json`), and its `values`: that of each run, each followed
/// by a blank, with nothing before it where there is none.
///
/// The CSV is `header`, then, for each run, `rows` with `,` and the `csv` and the value of each
/// metric that the run has, on a line each; `rows` with `,,,` for a run without any. The JSON is
/// `document` without its last brace, `,"runs":[`, each of `runs` without its last brace,
/// `,"metrics":{`, the `json` of each metric that the run has with `:` and its value (`null` for
/// one that is not finite), and what closes them.
pub fn packed(study: &StoredStudy) -> Value {
    let units = units(study);
    let mut columns: Vec<(Metric, String)> = units.keys().map(|metric| (*metric, String::new())).collect();
    for run in &study.runs {
        // Both are in the order of the keys.
        let mut own = run.metrics.iter().peekable();
        for (metric, values) in &mut columns {
            if let Some((_, value)) = own.next_if(|(own, _)| *own == *metric) {
                values.push_str(&shortest(value));
            }
            values.push(' ');
        }
    }
    let column = |(metric, values): (Metric, String)| {
        json!({
            "csv": format!("{metric},{}", metric.unit),
            "json": format!("{:?}", metric.key),
            "values": values,
        })
    };
    let document = json!({
        "format_version": FORMAT_VERSION,
        "study": study.row,
        "plan": study.plan,
        "boots": study.boots,
        "units": units,
    });
    let text = |run| serde_json::to_string(run).expect("it was read from JSON");
    json!({
        "header": HEADER,
        "document": document.to_string(),
        "runs": study.runs.iter().map(text).collect::<Vec<String>>(),
        "rows": study.runs.iter().map(|run| head(study, run)).collect::<Vec<String>>(),
        "metrics": columns.into_iter().map(column).collect::<Vec<Value>>(),
    })
}
