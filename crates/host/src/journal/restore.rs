//! Journals whose processes are gone: found, and followed.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::claim::Claim;
use super::file::JournalFile;
use super::line::{Damage, Header, parse};
use super::undo::{Manner, Undoing, undo};
use super::{JournalError, place};
use crate::machine::{Identity, Machine};

/// What became of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// Its process runs, and will undo it; or another process changes the machine just now.
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
    /// It is no journal of ours, or cannot be read or written, and it is left.
    NotFollowed {
        /// Why.
        why: String,
    },
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
        matches!(self.fate, Fate::Kept | Fate::Elsewhere { .. } | Fate::NotFollowed { .. })
    }
}

/// Undoes what processes that are gone left in `directory`, the newest journal first. While another
/// process changes the machine, nothing is undone.
///
/// # Errors
/// [`JournalError`] if the directory cannot be read or trusted, or if it cannot be told which boot
/// of the machine this is. What is wrong with one journal is told with its fate, what the machine
/// refuses change by change.
pub fn restore(directory: &Path, machine: &Machine, manner: Manner) -> Result<Vec<Report>, JournalError> {
    let journals = find(directory)?;
    if journals.is_empty() {
        return Ok(Vec::new());
    }
    let Some(_claim) = Claim::take(directory)? else {
        return Ok(journals.iter().map(|path| Report::new(path, Fate::InUse)).collect());
    };
    follow_all(directory, machine, manner)
}

/// The same, for who has the claim.
pub(super) fn follow_all(
    directory: &Path,
    machine: &Machine,
    manner: Manner,
) -> Result<Vec<Report>, JournalError> {
    let journals = find(directory)?;
    let here = machine.identity()?;
    // What is odd about one is no reason to leave the others.
    let follow = |path: &PathBuf| {
        follow(path, machine, &here, manner)
            .unwrap_or_else(|error| not_followed(path, manner, error.to_string()))
    };
    Ok(journals.iter().filter_map(follow).collect())
}

/// The journals in a directory of ours, the newest first.
fn find(directory: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(errno) if errno.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(errno) => return Err(JournalError::file("look for", directory)(errno)),
    };
    place::check(directory)?;
    let mut journals = Vec::new();
    for entry in entries {
        let path = entry.map_err(JournalError::file("look for", directory))?.path();
        if path.extension().is_some_and(|extension| extension == "journal") {
            journals.push(path);
        }
    }
    journals.sort_unstable();
    journals.reverse();
    Ok(journals)
}

impl Report {
    fn new(journal: &Path, fate: Fate) -> Self {
        Self { journal: journal.to_owned(), fate, changes: Vec::new(), damaged: Vec::new() }
    }
}

/// Follows one journal; `None` if it went away meanwhile.
fn follow(
    path: &Path,
    machine: &Machine,
    here: &Identity,
    manner: Manner,
) -> Result<Option<Report>, JournalError> {
    let Some((mut file, bytes)) = JournalFile::open(path)? else {
        return Ok(path.exists().then(|| Report::new(path, Fate::InUse)));
    };
    let parsed = parse(&bytes);
    let report = |fate| Report { damaged: parsed.damaged.clone(), ..Report::new(path, fate) };
    // Without a header nobody knows which boot and which namespace its values belong to.
    let Some(header) = &parsed.header else { return settle(file, manner, report(Fate::Kept)) };
    if header.boot != here.boot {
        return settle(file, manner, report(Fate::Restarted));
    }
    if is_alive(header) {
        return Ok(Some(Report::new(path, Fate::InUse)));
    }
    if header.network != here.network {
        return settle(file, manner, report(Fate::Elsewhere { network: header.network.clone() }));
    }
    let changes = undo(machine, &parsed.open(), manner, |record| file.add(record));
    let whole = parsed.damaged.is_empty() && changes.iter().all(|one| one.outcome.is_settled());
    let fate = if whole { Fate::Undone } else { Fate::Kept };
    settle(file, manner, Report { changes, ..report(fate) })
}

/// What is no journal is renamed, if the user says so, and never opened again.
fn not_followed(path: &Path, manner: Manner, why: String) -> Option<Report> {
    let aside = path.with_extension("set-aside");
    let forgotten = manner.forget && !manner.dry_run && std::fs::rename(path, &aside).is_ok();
    Some(Report::new(
        path,
        if forgotten { Fate::SetAside { path: aside } } else { Fate::NotFollowed { why } },
    ))
}

/// Does with the file what its fate is.
fn settle(file: JournalFile, manner: Manner, mut report: Report) -> Result<Option<Report>, JournalError> {
    match report.fate {
        _ if manner.dry_run => {}
        Fate::Undone | Fate::Restarted => file.remove()?,
        Fate::Kept | Fate::Elsewhere { .. } if manner.forget => {
            report.fate = Fate::SetAside { path: file.set_aside()? };
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
    // The name in parentheses may hold anything, so the fields are counted from its end: the 22nd
    // is `starttime`.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    // One that has ended and was not waited for (zombie, dead) owns nothing any more.
    let ended = matches!(fields.next()?, "Z" | "X");
    if ended { None } else { fields.nth(18)?.parse().ok() }
}
