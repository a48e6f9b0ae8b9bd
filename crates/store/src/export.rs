//! A stored study in other programs' formats (ministat, CSV, JSON, Parquet), and its counters over
//! time as CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use record::{Column, Series};
use serde_json::{Value, json};
use words::csv_field as field;
use words::metric::Metric;

use crate::records::{RunId, StoredRun, StoredSeries, StoredStudy};

mod packed;
#[cfg(feature = "parquet")]
mod parquet_file;

pub use packed::packed;
#[cfg(feature = "parquet")]
pub use parquet_file::parquet;

/// A study as a Parquet file; `None`: this build does not write any.
#[cfg(not(feature = "parquet"))]
pub fn parquet(_: &StoredStudy) -> Option<Vec<u8>> {
    None
}

/// The version of the JSON of all commands, whose fields are in `docs/output.schema.json`.
// It rises when a field goes or changes its meaning, not when one is added.
pub const FORMAT_VERSION: u32 = 1;

/// The study as one object: `study` (the row), `plan`, `boots`, `runs`, and `units` by metric key.
pub fn json(study: &StoredStudy) -> Value {
    json!({
        "study": study.row,
        "plan": study.plan,
        "boots": study.boots,
        "runs": study.runs.iter().map(run_json).collect::<Vec<Value>>(),
        "units": units(study),
    })
}

fn run_json(run: &StoredRun) -> Value {
    let mut value = json!(run);
    value["metrics"] = json!(run.metrics);
    value["detail"] = json!(run.detail);
    value
}

fn units(study: &StoredStudy) -> BTreeMap<Metric, &'static str> {
    let metrics = study.runs.iter().flat_map(|run| run.metrics.iter());
    metrics.map(|(metric, _)| (metric, metric.unit)).collect()
}

// The first line of the CSV of runs (RFC 4180, but lines end in a bare newline).
const HEADER: &str = "study,name,boot,part,block,repeat,position,warmup,condition,label,started_unix_ms,status,reason,metric,unit,value\n";

/// Every run of a study, warm-ups, failed and disturbed ones included, in the long format: one row
/// per run and metric, and one row with empty metric, unit and value for a run that gave none.
pub fn csv(study: &StoredStudy) -> String {
    let mut out = String::from(HEADER);
    for run in &study.runs {
        let head = head(study, run);
        if run.metrics.is_empty() {
            writeln!(out, "{head},,,").expect("writing to a string cannot fail");
        }
        for (metric, value) in run.metrics.iter() {
            writeln!(out, "{head},{metric},{},{}", metric.unit, shortest(value))
                .expect("writing to a string cannot fail");
        }
    }
    out
}

fn head(study: &StoredStudy, run: &StoredRun) -> String {
    let StoredRun { boot, part, block, repeat, position, condition, started_unix_ms, status, .. } = run;
    let (id, warmup) = (study.row.id, u8::from(run.warmup));
    let (name, label) = (field(&study.row.name), field(&study.label(*condition)));
    let reason = field(&words::shortened_reason(run.reason.as_deref().unwrap_or_default()));
    format!(
        "{id},{name},{boot},{part},{block},{repeat},{position},{warmup},{condition},{label},{started_unix_ms},{status},{reason}"
    )
}

/// The counters over time of a study's runs, warm-ups and disturbed ones included. The first
/// columns say which run, `t_ms` is the time since its window opened; the counters follow, each
/// counted from there on.
pub fn series(study: &StoredStudy, series: &[StoredSeries]) -> String {
    let mut out = String::from("study,boot,part,run,warmup,condition,label,status,side,t_ms");
    for counter in by_name(&Series::default()) {
        write!(out, ",{}", counter.name).expect("writing to a string cannot fail");
    }
    out.push('\n');
    let runs: BTreeMap<RunId, &StoredRun> = study.runs.iter().map(|run| (run.id, run)).collect();
    for StoredSeries { run, side, series } in series {
        // A run that was recorded after the study was loaded.
        let Some(run) = runs.get(run) else { continue };
        let StoredRun { boot, part, repeat, condition, status, .. } = run;
        let (id, warmup, label) = (study.row.id, u8::from(run.warmup), field(&study.label(*condition)));
        let head = format!("{id},{boot},{part},{repeat},{warmup},{condition},{label},{status},{side}");
        for (row, at_ns) in series.at_ns.iter().enumerate() {
            write!(out, "{head},{}", *at_ns as f64 / 1e6).expect("writing to a string cannot fail");
            for counter in by_name(series) {
                write!(out, ",{}", counter.values[row]).expect("writing to a string cannot fail");
            }
            out.push('\n');
        }
    }
    out
}

fn by_name(series: &Series) -> [Column<'_>; 8] {
    let mut columns = series.columns();
    columns.sort_by_key(|column| column.name);
    columns
}

/// The name and the text of a file in ministat's format for each condition: a metric's recorded
/// runs, without warm-ups and failed ones. The name is of letters, digits, `.`, `_` and `-`, from
/// the condition's slug: `udp4_default_nocksum.stat`.
///
/// Comment lines name study, condition, metric and unit. Column 1 is the value, for ministat;
/// column 2 is the planned boot, for programs that group the runs of a boot.
pub fn stat(study: &StoredStudy, metric: Metric) -> Vec<(String, String)> {
    let mut taken = BTreeSet::new();
    let mut files = Vec::new();
    for condition in 0..study.plan.conditions.len() {
        let mut lines = String::new();
        for (_, boot, value) in study.values(metric).filter(|(of, ..)| *of == condition) {
            writeln!(lines, "{}\t{boot}", shortest(value)).expect("writing to a string cannot fail");
        }
        if lines.is_empty() {
            continue;
        }
        let text = format!(
            "# study: {} (netassay {})\n# condition: {}\n# metric: {metric} ({})\n# columns: value, boot\n{lines}",
            words::sanitised_line(&study.row.name),
            words::sanitised_line(&study.row.version),
            words::sanitised_line(&study.label(condition)),
            metric.unit,
        );
        files.push((file_name(&study.slug(condition), &mut taken), text));
    }
    files
}

fn file_name(slug: &str, taken: &mut BTreeSet<String>) -> String {
    // Slugs come from the stored plan: they must neither leave the directory nor overwrite each
    // other.
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let mut stem = slug.replace(|letter| !is_safe(letter), "_");
    if stem.is_empty() || stem.starts_with(['.', '-']) {
        stem.insert(0, '_');
    }
    let mut name = format!("{stem}.stat");
    let mut copy = 1;
    while !taken.insert(name.clone()) {
        copy += 1;
        name = format!("{stem}_{copy}.stat");
    }
    name
}

/// The shortest decimal that reads back equal, with an exponent only if a plain one is long.
fn shortest(value: f64) -> String {
    let magnitude = value.abs();
    let is_plain = magnitude == 0.0 || (1e-5..1e16).contains(&magnitude);
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (12.5, "12.5"), (9.4e9, "9400000000"), (1e300, "1e300"), (3e-9, "3e-9")]
        {
            assert_eq!(shortest(value), text);
        }
    }

    #[test]
    fn file_names_stay_in_the_directory_and_apart() {
        let mut taken = BTreeSet::new();
        let mut name = |slug| file_name(slug, &mut taken);
        assert_eq!(name("udp4_default_nocksum"), "udp4_default_nocksum.stat");
        assert_eq!(name("udp4_default_nocksum"), "udp4_default_nocksum_2.stat");
        assert_eq!(name("../../etc/passwd"), "_.._.._etc_passwd.stat");
        assert_eq!(name("-n"), "_-n.stat");
        assert_eq!(name(""), "_.stat");
        assert_eq!(name("mtu 9000\n"), "mtu_9000_.stat");
    }

    proptest! {
        #[test]
        fn numbers_read_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(shortest(value).parse::<f64>().unwrap(), value);
        }
    }
}
