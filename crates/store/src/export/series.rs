//! Counters over time as comma-separated values: one row per run, side and moment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::csv::field;
use crate::record::RunId;
use crate::stored::{StoredRun, StoredSeries, StoredStudy};

/// The counters over time of a study's runs, warm-ups and disturbed ones included. The first
/// columns say which run, `t_ms` is the time since its window opened; the counters follow, each
/// counted from there on, empty where a run has none.
pub fn series(study: &StoredStudy, series: &[StoredSeries]) -> String {
    let counters: BTreeSet<&str> =
        series.iter().flat_map(|one| one.series.counters.keys()).map(String::as_str).collect();
    let mut out = String::from("study,boot,part,run,warmup,condition,label,status,side,t_ms");
    for counter in &counters {
        write!(out, ",{}", field(counter)).expect("writing to a string cannot fail");
    }
    out.push('\n');
    let runs: BTreeMap<RunId, &StoredRun> = study.runs.iter().map(|run| (run.id, run)).collect();
    for StoredSeries { run, series } in series {
        // A run that was recorded after the study was loaded.
        let Some(run) = runs.get(run) else { continue };
        let head = format!(
            "{},{},{},{},{},{},{},{},{}",
            study.row.id,
            run.boot,
            run.part,
            run.repeat,
            u8::from(run.warmup),
            run.condition,
            field(&study.label(run.condition)),
            run.status,
            field(&series.side),
        );
        for (row, at_ns) in series.at_ns.iter().enumerate() {
            write!(out, "{head},{}", *at_ns as f64 / 1e6).expect("writing to a string cannot fail");
            for counter in &counters {
                out.push(',');
                if let Some(value) = series.counters.get(*counter).and_then(|values| values.get(row)) {
                    write!(out, "{value}").expect("writing to a string cannot fail");
                }
            }
            out.push('\n');
        }
    }
    out
}
