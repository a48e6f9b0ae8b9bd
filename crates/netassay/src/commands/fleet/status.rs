//! `netassay fleet status`: how far the pairs of a fleet are, by the files of their tasks.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::views;
use results::{FleetStatus, PairState, PairStatus};
use store::{PairRow, RunStatus, Store, StudyId, StudyStatus};

use super::in_order;
use super::script::{named_pairs, task_name};
use crate::cli::FleetStatusFlags;
use crate::exit;
use crate::failure::{Failure, bail};
use crate::output::{self, named};

/// A pair with its campaign, if that is known.
type FoundPair = (Option<String>, PairStatus);

pub(crate) fn status(flags: &FleetStatusFlags) -> Result<ExitCode, Failure> {
    let pairs = named_pairs(&flags.hosts)?;
    let mut found: Vec<FoundPair> = files(&flags.files)?.iter().flat_map(|file| pairs_of(file)).collect();
    let campaign = match &flags.campaign {
        Some(name) => Some(name.clone()),
        None => the_only_campaign(&found)?,
    };
    found.retain(|(of, _)| of.is_none() || *of == campaign);
    // With any seed there are as many measurements of the reference pair.
    let repeats = in_order(&pairs, 0).into_iter().map(|(_, repeat)| repeat).max().unwrap_or(1);
    let tasks = pairs.iter().flat_map(|pair| {
        let last = if pair.reference { repeats } else { 1 };
        (1..=last).map(|repeat| task_name(&pair.name, repeat))
    });
    let tasks: Vec<String> = tasks.collect();
    let found = found.into_iter().map(|(_, pair)| pair).collect();
    let status = FleetStatus::new(campaign, &tasks, found);
    output::show_view(&status, &flags.output, views::fleet_status)?;
    Ok(ExitCode::from(if status.is_complete() { exit::OK } else { exit::SOME_FAILED }))
}

fn the_only_campaign(found: &[FoundPair]) -> Result<Option<String>, Failure> {
    let campaigns: BTreeSet<&String> = found.iter().filter_map(|(campaign, _)| campaign.as_ref()).collect();
    if campaigns.len() > 1 {
        let names = campaigns.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        bail!(Usage, "the files hold several campaigns ({names}): choose one with --campaign");
    }
    Ok(campaigns.into_iter().next().cloned())
}

fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in given {
        let cannot_read = |source| Failure::Read { path: path.clone(), source };
        let is_directory = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!(
                Nothing,
                "there is no {}: no task began there; name the directory of the pairs' files",
                named(path)
            ),
            about => about.map_err(cannot_read)?.is_dir(),
        };
        if !is_directory {
            files.push(path.clone());
            continue;
        }
        for entry in fs::read_dir(path).map_err(cannot_read)? {
            let file = entry.map_err(cannot_read)?.path();
            files.extend(file.extension().is_some_and(|ending| ending == "db").then_some(file));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// The pairs of a file. One that cannot be read, or that a process records into, is named as the
/// pair of its task.
fn pairs_of(file: &Path) -> Vec<FoundPair> {
    let task = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let of_task = |state| PairStatus { file: Some(named(file)), ..PairStatus::new(task, state) };
    // Reading would damage it if it is recorded on another machine.
    if Store::is_recorded(file) {
        return vec![(None, of_task(PairState::Running))];
    }
    read(file).unwrap_or_else(|failure| {
        vec![(None, PairStatus { why: Some(failure.to_string()), ..of_task(PairState::Failed) })]
    })
}

fn read(file: &Path) -> Result<Vec<FoundPair>, Failure> {
    let store = Store::open_for_outlines(file)?;
    let rows = store.all_pairs()?;
    rows.into_iter().map(|row| Ok((Some(row.pair.campaign.clone()), status_of(&store, row)?))).collect()
}

fn status_of(store: &Store, row: PairRow) -> Result<PairStatus, Failure> {
    let PairRow { pair, study, failure, .. } = row;
    // Another program may have stored a longer reason.
    let failure = failure.as_deref().map(words::shortened_reason);
    let status = |state| PairStatus {
        file: Some(named(store.path())),
        study: study.map(|study| study.0),
        ..PairStatus::new(pair.to_string(), state)
    };
    let Some(study) = study else {
        let state = if failure.is_some() { PairState::Failed } else { PairState::Missing };
        return Ok(PairStatus { why: failure, ..status(state) });
    };
    let outline = store.environments(study)?;
    let schedule = study::schedule(&outline.plan.states_of_conditions(), &outline.plan.asked.protocol);
    let planned = schedule.iter().flatten().filter(|run| !run.warmup).count();
    let state = match outline.row.status {
        StudyStatus::Complete => PairState::Complete,
        StudyStatus::Running => PairState::Running,
        StudyStatus::Interrupted | StudyStatus::Failed => PairState::Partial,
    };
    let why = match failure {
        _ if state != PairState::Partial => None,
        Some(why) => Some(why),
        None => last_failure(store, study)?,
    };
    Ok(PairStatus { runs: Some((outline.row.recorded_runs, planned)), why, ..status(state) })
}

fn last_failure(store: &Store, study: StudyId) -> Result<Option<String>, Failure> {
    let mut runs = store.load_with(study, &[])?.runs.into_iter();
    Ok(runs.rfind(|run| run.status == RunStatus::Failed).and_then(|run| run.reason))
}
