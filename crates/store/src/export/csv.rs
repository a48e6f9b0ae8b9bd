//! Comma-separated values (RFC 4180, but lines end in a bare newline): one row per run and metric.

use std::fmt::Write;

use words::csv_field as field;

use super::Number;
use crate::stored::{StoredRun, StoredStudy};

pub(super) const HEADER: &str = "study,name,boot,part,block,repeat,position,warmup,condition,label,started_unix_ms,status,reason,metric,unit,value\n";

/// Every run of a study, warm-ups, failed and disturbed ones included, in the long format: one row
/// per run and metric, and one row with empty metric, unit and value for a run that gave none.
pub fn csv(study: &StoredStudy, unit: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut out = String::from(HEADER);
    for run in &study.runs {
        let head = head(study, run);
        if run.metrics.is_empty() {
            writeln!(out, "{head},,,").expect("writing to a string cannot fail");
        }
        for (metric, value) in &run.metrics {
            let unit = unit(metric).unwrap_or_default();
            writeln!(out, "{head},{},{},{}", field(metric), field(unit), Number(*value))
                .expect("writing to a string cannot fail");
        }
    }
    out
}

/// The columns that say which run it is.
pub(super) fn head(study: &StoredStudy, run: &StoredRun) -> String {
    format!(
        "{},{},{},{},{},{},{},{},{},{},{},{},{}",
        study.row.id,
        field(&study.row.name),
        run.boot,
        run.part,
        run.block,
        run.repeat,
        run.position,
        u8::from(run.warmup),
        run.condition,
        field(&study.label(run.condition)),
        run.started_unix_ms,
        run.status,
        field(&words::shortened_reason(run.reason.as_deref().unwrap_or_default())),
    )
}
