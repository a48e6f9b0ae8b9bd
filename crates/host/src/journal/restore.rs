//! Journals whose processes are gone: found, and followed.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::line::{Damage, Header, Record, parse};
use super::paper::Paper;
use super::undo::{Undoing, undo};
use super::{JournalError, place};
use crate::machine::{Identity, Machine};

/// How to restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Change nothing, only tell what would be done.
    pub dry_run: bool,
    /// Also set back what somebody else changed meanwhile.
    pub force: bool,
    /// Set journals aside of which something is left: they are kept, but nobody follows them any more.
    pub forget: bool,
}

/// What became of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// Its process runs, and will undo it.
    InUse,
    /// Everything is undone and the journal removed; in a dry run, it would be.
    Undone,
    /// The machine was started anew since: its changes went with that, and it was removed.
    Restarted,
    /// Its changes belong to another network namespace, and it is left.
    Elsewhere {
        /// The namespace.
        network: String,
    },
    /// Something is left to be done, and it is kept.
    Kept,
    /// Something was left to be done, and it was set aside.
    SetAside {
        /// Where it is now.
        path: PathBuf,
    },
}

/// What was found in, and done about, a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The journal.
    pub journal: PathBuf,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
    /// Its changes, the last first.
    pub changes: Vec<Undoing>,
    /// Its lines that cannot be read.
    pub damaged: Vec<Damage>,
}

impl Report {
    /// Whether somebody has to look at it.
    pub fn needs_a_look(&self) -> bool {
        matches!(self.fate, Fate::Kept | Fate::Elsewhere { .. })
    }
}

/// Undoes what processes that are gone left in `directory`, the newest journal first.
///
/// # Errors
/// [`JournalError`] if the directory or a journal cannot be read or trusted, or not written. What the machine refuses is told
/// change by change.
pub fn restore(directory: &Path, machine: &Machine, manner: Manner) -> Result<Vec<Report>, JournalError> {
    let mut journals = Vec::new();
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(errno) if errno.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(errno) => return Err(JournalError::file("look for", directory)(errno)),
    };
    let metadata = std::fs::symlink_metadata(directory).map_err(JournalError::file("look at", directory))?;
    place::ours(directory, &metadata)?;
    for entry in entries {
        let path = entry.map_err(JournalError::file("look for", directory))?.path();
        if path.extension().is_some_and(|extension| extension == "journal") {
            journals.push(path);
        }
    }
    journals.sort_unstable();
    journals.iter().rev().filter_map(|path| follow(path, machine, manner).transpose()).collect()
}

/// Follows one journal; `None` if it went away meanwhile.
fn follow(path: &Path, machine: &Machine, manner: Manner) -> Result<Option<Report>, JournalError> {
    let report = |fate, changes, damaged| Some(Report { journal: path.to_owned(), fate, changes, damaged });
    let Some((mut paper, bytes)) = Paper::open(path)? else {
        return Ok(path.exists().then(|| report(Fate::InUse, Vec::new(), Vec::new())).flatten());
    };
    let parsed = parse(&bytes);
    let Identity { boot, network } = machine.identity();
    if let Some(header) = &parsed.header {
        if header.boot != boot {
            return settle(paper, manner, report(Fate::Restarted, Vec::new(), parsed.damaged));
        }
        if is_alive(header) {
            return Ok(report(Fate::InUse, Vec::new(), Vec::new()));
        }
        if header.network != network {
            let fate = Fate::Elsewhere { network: header.network.clone() };
            return settle(paper, manner, report(fate, Vec::new(), parsed.damaged));
        }
    }
    let done = undo(machine, &parsed.open(), manner, |number| paper.add(&Record::Undone(number)))?;
    let whole = parsed.damaged.is_empty() && done.iter().all(|one| one.outcome.is_settled());
    let fate = if whole { Fate::Undone } else { Fate::Kept };
    settle(paper, manner, report(fate, done, parsed.damaged))
}

/// Does with the file what its fate is.
fn settle(paper: Paper, manner: Manner, report: Option<Report>) -> Result<Option<Report>, JournalError> {
    let Some(mut report) = report else { return Ok(None) };
    match report.fate {
        _ if manner.dry_run => {}
        Fate::Undone | Fate::Restarted => paper.remove()?,
        Fate::Kept | Fate::Elsewhere { .. } if manner.forget => {
            report.fate = Fate::SetAside { path: paper.set_aside()? };
        }
        _ => {}
    }
    Ok(Some(report))
}

fn is_alive(header: &Header) -> bool {
    start_of(header.pid).is_some_and(|start| start == header.start)
}

/// When a process started, in ticks since the machine did; `None` if none of this number runs.
pub(super) fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so the fields are counted from its end: the 22nd is `starttime`.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    // One that has ended and was not waited for (zombie, dead) owns nothing any more.
    let ended = matches!(fields.next()?, "Z" | "X");
    if ended { None } else { fields.nth(18)?.parse().ok() }
}
