//! `netassay trace STUDY`, `--from` and `merge`: traces of the conditions of a study, compared.

use std::path::Path;
use std::process::ExitCode;

use report::document::Block;
use report::views;
use results::{StageDifferences, StageRanges};
use serde::Serialize;
use store::{Store, StudyId};
use study::{Assignment, Scenario, Study, bundled};

use super::flame::{FileForm, Flames};
use super::place;
use crate::again;
use crate::cli::{Changes, Merge, ProgressStyle, RunFlags, Trace};
use crate::commands::hosts;
use crate::commands::run;
use crate::commands::stored::{load_from, study_of};
use crate::commands::study_files::read_text;
use crate::exit;
use crate::failure::{Failure, say};
use crate::output::{self, named};

/// The confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// True for the name of a bundled study, and of a file with traffic; false for that of a path.
pub(super) fn is_meant(name: &str) -> bool {
    let has_traffic = |text: String| text.lines().any(|line| line.trim_start().starts_with("[[workload]]"));
    bundled::find(name).is_some()
        || (name.contains(['.', '/'])
            && read_text(Path::new(name), study::MAX_TEXT as u64, "a study").is_ok_and(has_traffic))
}

/// Measures a study with these changes and traces it, and prints what its stages explain.
pub(super) fn trace(name: &str, changes: Vec<Assignment>, flags: &Trace) -> Result<ExitCode, Failure> {
    let of_path = [(flags.tracepoints, "--tracepoints"), (!flags.chart.is_empty(), "--chart")];
    place::refuse(of_path, "a path", name)?;
    let mut run = run_flags(flags, changes);
    let mut study = run::asked(name, &run)?;
    if flags.host.is_some() {
        check_host(&study)?;
    }
    if study.tracing.is_none() {
        return Err(Failure::Usage(format!(
            "the study {name:?} traces nothing: add `[trace]` with `paths = [\"udp-tx\"]` to it, or measure it with `{}`",
            words::shell_command(["netassay", "run", name])
        )));
    }
    // Before anything is measured.
    if let Some(path) = &flags.flame {
        FileForm::of_flame_graph(path)?;
        run.set.changes.push(hosts::change("trace.profile=true")?);
        study = run::asked(name, &run)?;
    }
    if flags.host.is_some() {
        run.hosts.transmitter.clone_from(&flags.host);
    }
    let Some(summary) = run::measure(&study, &run)? else { return Ok(ExitCode::from(exit::OK)) };
    match print(summary.study, flags) {
        // The runs are stored, and the end of the session is told.
        Err(failure @ Failure::Usage(_)) => say(&format!("netassay: {failure}")),
        printed => printed?,
    }
    Ok(run::conclude(&run, &summary))
}

/// Refuses a study whose traces are not inside one machine that is there already.
fn check_host(study: &Study) -> Result<(), Failure> {
    let is_elsewhere = |scenario: &Scenario| *scenario != Scenario::Loopback;
    if !study.inside_guest && !study.scenarios().iter().any(is_elsewhere) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "the study {:?} needs virtual machines, which run on this machine only: --host is for a path, and for a study of the scenario `loopback`",
        &study.name
    )))
}

/// Prints the stages of a stored study.
pub(super) fn stored(word: &str, flags: &Trace) -> Result<(), Failure> {
    let store = Store::open_read_only(&flags.campaign.database.db)?;
    print(study_of(&store, Some(word))?, flags)
}

fn print(study: StudyId, flags: &Trace) -> Result<(), Failure> {
    let db = &flags.campaign.database.db;
    let stored = Store::open_read_only(db)?.load(study)?.sanitised();
    let stages = StageDifferences::new(&stored, CONFIDENCE)?;
    if let Some(path) = &flags.flame {
        Flames::of_study(&stages, &stored.row.name).write(path, &FileForm::of_flame_graph(path)?)?;
    }
    let next = format!(
        "Results: study {study} in {}; `netassay compare {study}` judges the runs before the traces, without probes",
        named(db)
    );
    let printed = Printed::new(stages);
    output::show_view(&printed, &flags.output, flags.tables.wide, |printed, _| {
        let mut blocks = views::stage_differences(&printed.found);
        blocks.extend([printed.line(), next].map(Block::Text));
        blocks
    })
}

/// A result with the command and the version that print it.
#[derive(Serialize)]
struct Printed<F> {
    netassay: &'static str,
    command: String,
    #[serde(flatten)]
    found: F,
}

impl<F> Printed<F> {
    fn new(found: F) -> Self {
        Self { netassay: env!("CARGO_PKG_VERSION"), command: again::command(), found }
    }

    fn line(&self) -> String {
        format!("Printed by netassay {}: `{}`", self.netassay, self.command)
    }
}

fn run_flags(flags: &Trace, changes: Vec<Assignment>) -> RunFlags {
    RunFlags {
        set: Changes { changes },
        campaign: flags.campaign.clone(),
        rootless: false,
        change_machine: false,
        hosts: flags.hosts.clone(),
        reboot_within: None,
        turn: flags.turn,
        tables: flags.tables,
        progress: ProgressStyle::Auto,
        output: flags.output,
    }
}

/// Prints what stages cost over the traced studies of several databases.
pub(super) fn merge(flags: &Merge) -> Result<(), Failure> {
    let mut studies = Vec::new();
    for path in &flags.databases {
        let store = Store::open_read_only(path)?;
        let stored = match &flags.study {
            Some(word) => load_from(&store, Some(word))?,
            None => {
                let mut rows = store.studies()?;
                let mut found = None;
                while let (None, Some(row)) = (&found, rows.pop()) {
                    found = Some(store.load(row.id)?).filter(|stored| stored.plan.tracing.is_some());
                }
                found.ok_or_else(|| {
                    let path = named(path);
                    Failure::Nothing(format!(
                        "{path} holds no study that was traced: `netassay trace STUDY` makes one"
                    ))
                })?
            }
        };
        studies.push((named(path).to_string(), stored.sanitised()));
    }
    let printed = Printed::new(StageRanges::new(&studies)?);
    output::show_view(&printed, &flags.output, flags.tables.wide, |printed, _| {
        let mut blocks = views::stage_ranges(&printed.found);
        blocks.push(Block::Text(printed.line()));
        blocks
    })
}
