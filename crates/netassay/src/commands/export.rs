//! `netassay db export`: the measurements, for other tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use host::user_file::refuse_planted;
use store::{Store, StoredStudy};
use study::metric::Metric;

use crate::cli::{Export, ExportFormat};
use crate::commands::stored::study_of;
use crate::failure::{Failure, bail, say};
use crate::output::{MayReplace, named, print, write};

pub(crate) fn export(flags: &Export) -> Result<(), Failure> {
    let store = Store::open_read_only(&flags.database.db)?;
    let stored = store.load(study_of(&store, flags.study.as_deref())?)?;
    match flags.format {
        ExportFormat::Series => {
            let series = store.series(stored.row.id)?;
            if series.is_empty() {
                let id = stored.row.id;
                bail!(Nothing, "study {id} has no counters over time");
            }
            put(flags.output.as_deref(), &store::export::series(&stored, &series))
        }
        ExportFormat::Stat => stat(flags, &stored),
        ExportFormat::Csv => put(flags.output.as_deref(), &store::export::csv(&stored)),
    }
}

/// One file for each condition and metric. A single metric goes into the directory itself; `all` of
/// them into a directory each.
fn stat(flags: &Export, stored: &StoredStudy) -> Result<(), Failure> {
    let Some(directory) = &flags.output else {
        bail!(Usage, "--format stat writes several files: name a directory with --output");
    };
    let is_all = flags.metric.as_deref() == Some("all");
    let metrics: BTreeSet<Metric> = match flags.metric.as_deref() {
        Some("all") => stored.measurements().flat_map(|run| run.metrics.iter()).map(|(one, _)| one).collect(),
        Some(word) => BTreeSet::from([results::resolve_metric(word)?]),
        None => results::main_metrics(stored),
    };
    let mut written = 0;
    for metric in &metrics {
        let below = if is_all { directory.join(metric.key) } else { directory.clone() };
        let failed = |source| Failure::Write { path: below.clone(), source };
        refuse_planted(directory).map_err(failed)?;
        fs::create_dir_all(&below).and_then(|()| refuse_planted(&below)).map_err(failed)?;
        for file in store::export::stat(stored, *metric) {
            write(&below.join(file.name), &file.text, MayReplace::OwnFile)?;
            written += 1;
        }
    }
    if written == 0 {
        let (id, asked) = (stored.row.id, metrics.iter().map(|metric| metric.key).collect::<Vec<_>>());
        let asked = asked.join(", ");
        bail!(Nothing, "study {id} holds no value of {asked}");
    }
    say(&format!("wrote {} to {}", results::counted(written, "file"), named(directory)));
    Ok(())
}

fn put(out: Option<&Path>, text: &str) -> Result<(), Failure> {
    match out {
        Some(path) => write(path, text, MayReplace::OwnFile),
        None => print(text),
    }
}
