//! Counters over time as comma-separated values: one row per run, side and moment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use record::Series;
use words::csv_field as field;

use crate::new_records::RunId;
use crate::stored::{StoredRun, StoredSeries, StoredStudy};

/// The counters over time of a study's runs, warm-ups and disturbed ones included. The first
/// columns say which run, `t_ms` is the time since its window opened; the counters follow, each
/// counted from there on.
pub fn series(study: &StoredStudy, series: &[StoredSeries]) -> String {
    let counters: BTreeSet<&str> = Series::default().columns().map(|column| column.name).into();
    let mut out = String::from("study,boot,part,run,warmup,condition,label,status,side,t_ms");
    for counter in &counters {
        write!(out, ",{counter}").expect("writing to a string cannot fail");
    }
    out.push('\n');
    let runs: BTreeMap<RunId, &StoredRun> = study.runs.iter().map(|run| (run.id, run)).collect();
    for StoredSeries { run, side, series } in series {
        // A run that was recorded after the study was loaded.
        let Some(run) = runs.get(run) else { continue };
        let head = format!(
            "{},{},{},{},{},{},{},{},{side}",
            study.row.id,
            run.boot,
            run.part,
            run.repeat,
            u8::from(run.warmup),
            run.condition,
            field(&study.label(run.condition)),
            run.status,
        );
        let columns: BTreeMap<&str, &[u64]> =
            series.columns().map(|column| (column.name, column.values)).into();
        for (row, at_ns) in series.at_ns.iter().enumerate() {
            write!(out, "{head},{}", *at_ns as f64 / 1e6).expect("writing to a string cannot fail");
            for values in columns.values() {
                write!(out, ",{}", values[row]).expect("writing to a string cannot fail");
            }
            out.push('\n');
        }
    }
    out
}
