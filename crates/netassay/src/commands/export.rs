//! `netassay db export`: the measurements, for other tools.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use host::user_file::refuse_planted;
use store::{Store, StoredStudy};
use study::metric::Metric;

use crate::cli::ExportFormat;
use crate::commands::stored::study_of;
use crate::failure::{Failure, bail, say};
use crate::output::{MayReplace, named, print, print_bytes, write, write_bytes};

pub(crate) fn export(
    db: &Path,
    study: Option<&str>,
    format: ExportFormat,
    metric: Option<&str>,
    output: Option<&Path>,
) -> Result<(), Failure> {
    let store = Store::open_read_only(db)?;
    let stored = store.load(study_of(&store, study)?)?;
    let text = match format {
        ExportFormat::Stat => return stat(&stored, metric, output),
        ExportFormat::Csv => store::export::csv(&stored),
        ExportFormat::Series => {
            let (id, series) = (stored.row.id, store.series(stored.row.id)?);
            if series.is_empty() {
                bail!(Nothing, "study {id} has no counters over time");
            }
            store::export::series(&stored, &series)
        }
        ExportFormat::Parquet => return parquet(&stored, output),
    };
    match output {
        Some(path) => write(path, &text, MayReplace::OwnFile),
        None => print(&text),
    }
}

fn parquet(stored: &StoredStudy, output: Option<&Path>) -> Result<(), Failure> {
    let Some(bytes) = store::export::parquet(stored) else {
        bail!(Environment, "this build of netassay writes no Parquet: build it with `--features parquet`");
    };
    match output {
        Some(path) => write_bytes(path, &bytes, MayReplace::OwnFile),
        None if io::stdout().is_terminal() => {
            bail!(Usage, "Parquet is for programs: name a file with --output")
        }
        None => print_bytes(&bytes),
    }
}

/// One file for each condition and metric. A single metric goes into the directory itself; `all` of
/// them into a directory each.
fn stat(stored: &StoredStudy, metric: Option<&str>, output: Option<&Path>) -> Result<(), Failure> {
    let Some(directory) = output else {
        bail!(Usage, "--format stat writes several files: name a directory with --output");
    };
    let is_all = metric == Some("all");
    let metrics: BTreeSet<Metric> = match metric {
        Some("all") => stored.measurements().flat_map(|run| run.metrics.iter()).map(|(one, _)| one).collect(),
        Some(word) => BTreeSet::from([results::resolve_metric(word)?]),
        None => results::main_metrics(stored),
    };
    let mut written = 0;
    for metric in &metrics {
        let below = if is_all { directory.join(metric.key) } else { directory.to_owned() };
        let failed = |source| Failure::Write { path: below.clone(), source };
        refuse_planted(directory).map_err(failed)?;
        fs::create_dir_all(&below).and_then(|()| refuse_planted(&below)).map_err(failed)?;
        for (name, text) in store::export::stat(stored, *metric) {
            write(&below.join(name), &text, MayReplace::OwnFile)?;
            written += 1;
        }
    }
    if written == 0 {
        let asked: Vec<&str> = metrics.iter().map(|metric| metric.key).collect();
        bail!(Nothing, "study {} holds no value of {}", stored.row.id, asked.join(", "));
    }
    say(&format!("wrote {} to {}", results::counted(written, "file"), named(directory)));
    Ok(())
}
