//! `netassay trace STUDY` and `--from`: traces of the conditions of a study, compared.

use std::path::Path;
use std::process::ExitCode;

use report::document::Block;
use report::views;
use results::StageDifferences;
use serde::Serialize;
use study::{Assignment, Scenario, bundled};

use super::flame::{self, Flames};
use crate::cli::{Formatted, RunFlags, Trace};
use crate::commands::stored::load;
use crate::commands::study_files::read_text;
use crate::commands::{hosts, run};
use crate::failure::{Failure, bail, refuse_given, say};
use crate::output::{self, named};
use crate::{again, exit};

const CONFIDENCE: f64 = 0.95;

/// True for the name of a bundled study, and of a file with traffic; false for that of a path.
pub(super) fn is_meant(name: &str) -> bool {
    let has_traffic = |text: String| text.lines().any(|line| line.trim_start().starts_with("[[workload]]"));
    bundled::find(name).is_some()
        || (name.contains(['.', '/'])
            && read_text(Path::new(name), study::MAX_TEXT as u64, "a study").is_ok_and(has_traffic))
}

pub(super) fn trace(name: &str, changes: Vec<Assignment>, flags: &Trace) -> Result<ExitCode, Failure> {
    let why = format!("needs a path: {name:?} is none");
    refuse_given(&why, [("--tracepoints", flags.tracepoints), ("--chart", !flags.chart.is_empty())])?;
    let mut run = RunFlags {
        set: changes,
        campaign: flags.campaign.clone(),
        hosts: flags.hosts.clone(),
        turn: flags.turn,
        output: flags.output,
        ..RunFlags::default()
    };
    let mut study = run::asked(name, &run)?;
    let is_elsewhere = |scenario: &Scenario| *scenario != Scenario::Loopback;
    if flags.host.is_some() && (study.inside_guest || study.scenarios().iter().any(is_elsewhere)) {
        let only = "--host is for a path, and for a study of the scenario `loopback`";
        bail!(Usage, "the study {name:?} needs virtual machines: {only}");
    }
    if study.tracing.is_none() {
        bail!(Usage, "the study {name:?} traces nothing: add `[trace]` with `paths = [\"udp-tx\"]` to it");
    }
    // Before anything is measured.
    if let Some(path) = &flags.flame {
        flame::check(path)?;
        run.set.push(hosts::change("trace.profile=true")?);
        study = run::asked(name, &run)?;
    }
    if flags.host.is_some() {
        run.hosts.transmitter.clone_from(&flags.host);
    }
    let Some(summary) = run::measure(&study, &run)? else { return Ok(ExitCode::from(exit::OK)) };
    match print(&summary.study.to_string(), flags) {
        // The runs are stored, and the end of the session is told.
        Err(failure @ Failure::Usage(_)) => say(&format!("netassay: {failure}")),
        printed => printed?,
    }
    Ok(run::conclude(&run, &summary))
}

pub(super) fn print(word: &str, flags: &Trace) -> Result<(), Failure> {
    let db = &flags.campaign.database.db;
    let stored = load(db, Some(word))?;
    let stages = StageDifferences::new(&stored, CONFIDENCE)?;
    if let Some(path) = &flags.flame {
        Flames::of_study(&stages, &stored.row.name).write(path)?;
    }
    let (id, db) = (stored.row.id, named(db));
    let of = views::database_option(&db);
    let next =
        format!("Results: study {id} in {db}; `netassay compare {id}{of}` judges the runs before the traces");
    show(stages, &flags.output, Some(next), views::stage_differences)
}

#[derive(Serialize)]
struct Printed<F> {
    netassay: &'static str,
    command: String,
    #[serde(flatten)]
    found: F,
}

fn show<F: Serialize>(
    found: F,
    output: &Formatted,
    next: Option<String>,
    view: fn(&F) -> Vec<Block<'static>>,
) -> Result<(), Failure> {
    let printed = Printed { netassay: env!("CARGO_PKG_VERSION"), command: again::command(), found };
    output::show_view(&printed, output, |Printed { netassay, command, found }, _| {
        let line = format!("Printed by netassay {netassay}: `{command}`");
        view(found).into_iter().chain([line].into_iter().chain(next).map(Block::Text)).collect()
    })
}
