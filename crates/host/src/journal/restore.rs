//! Finds and undoes journals whose processes are gone.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::claim::{Claim, session_end};
use super::directory;
use super::file::JournalFile;
use super::line::{Damage, Header, parse};
use super::undo::{RestoreOptions, Undoing, undo};
use crate::cpu::threads::ThreadStat;
use crate::error::Error;
use crate::machine::Machine;
use crate::user_file::if_present;

/// The result for a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum JournalFate {
    /// Its process runs and will undo it; or another process changes the machine now.
    InUse,
    /// All changes are undone and the journal removed; in a dry run, they would be.
    Undone,
    /// The machine was rebooted, which reset the changes; the journal was removed.
    Restarted,
    /// Its changes belong to another network namespace; it is left.
    Elsewhere { network: String },
    /// A user had its changes applied to stay, for this advice; they are left.
    Applied { why: String },
    /// A change is left to undo; the journal is kept.
    Kept,
    /// The file is not our journal, or cannot be read or written; it is left.
    NotFollowed { why: String },
    /// A change was left to undo; the journal was set aside, and has this path now.
    SetAside { path: PathBuf },
}

/// The content of a journal, and the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JournalReport {
    pub journal: PathBuf,
    #[serde(flatten)]
    pub fate: JournalFate,
    /// The last first.
    pub changes: Vec<Undoing>,
    /// The first ten.
    pub damaged: Vec<Damage>,
    pub damaged_lines: usize,
}

impl JournalReport {
    /// Whether some of its changes are left to undo, or may be.
    pub fn is_left(&self) -> bool {
        use JournalFate::{Elsewhere, InUse, Kept, NotFollowed};
        matches!(self.fate, InUse | Kept | Elsewhere { .. } | NotFollowed { .. })
    }

    fn new(journal: &Path, fate: JournalFate) -> Self {
        Self { journal: journal.to_owned(), fate, changes: Vec::new(), damaged: Vec::new(), damaged_lines: 0 }
    }
}

/// Undoes journals of processes that are gone in `directory`, the newest first, and nothing while
/// another process changes the machine.
///
/// # Errors
/// The directory cannot be read or trusted, or the boot of the machine is unknown. Errors of a
/// journal are in its fate, errors of the machine in its changes.
pub fn restore(
    directory: &Path,
    machine: &Machine,
    manner: RestoreOptions,
) -> Result<Vec<JournalReport>, Error> {
    let journals = find(directory)?;
    if journals.is_empty() {
        return Ok(Vec::new());
    }
    match Claim::take(directory, None)? {
        // Found again: journals may have come and gone before the claim was taken.
        Ok(_claim) => follow_each(&find(directory)?, machine, manner),
        Err(_) => Ok(in_use(&journals)),
    }
}

/// As [`restore`], for the journal of one ended process of a session, waiting for up to `patience`
/// while another process changes the machine.
///
/// # Errors
/// As [`restore`]. [`JournalFate::InUse`] means that the patience has ended.
pub fn restore_of(
    directory: &Path,
    machine: &Machine,
    (process, session): (Process, u64),
    patience: Duration,
) -> Result<Vec<JournalReport>, Error> {
    let deadline = Instant::now() + patience;
    // The kernel closes files before the process has ended: until then its journal is in use.
    while !process.has_ended() && Instant::now() < deadline {
        std::thread::sleep(WAIT_FOR_END);
    }
    let end = session_end(session, &machine.network()?);
    loop {
        let mut journals = find(directory)?;
        // An unreadable journal belongs to no process.
        journals.retain(|path| {
            JournalFile::header(path)
                .is_some_and(|header| (header.pid, header.start) == (process.pid, process.start))
        });
        if journals.is_empty() {
            return Ok(Vec::new());
        }
        let reports = match Claim::take(directory, Some(&end))? {
            Ok(_claim) => follow_each(&journals, machine, RestoreOptions::default())?,
            Err(_) => in_use(&journals),
        };
        // The other end may look at a journal that it does not follow.
        if Instant::now() >= deadline || reports.iter().all(|report| report.fate != JournalFate::InUse) {
            return Ok(reports);
        }
        std::thread::sleep(WAIT);
    }
}

fn in_use(journals: &[PathBuf]) -> Vec<JournalReport> {
    journals.iter().map(|path| JournalReport::new(path, JournalFate::InUse)).collect()
}

/// A process, identified by its number and start, also after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub(super) pid: u32,
    pub(super) start: u64,
}

impl Process {
    /// The calling process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self { pid, start: start_of(pid).unwrap_or_default() }
    }

    fn has_ended(self) -> bool {
        start_of(self.pid) != Some(self.start)
    }
}

const WAIT: Duration = Duration::from_millis(50);

// Ending an agent takes the kernel well under a millisecond.
const WAIT_FOR_END: Duration = Duration::from_millis(1);

pub(super) fn follow_each(
    journals: &[PathBuf],
    machine: &Machine,
    manner: RestoreOptions,
) -> Result<Vec<JournalReport>, Error> {
    let here = Header::for_machine(machine)?;
    // An error in one must not stop the others.
    let follow = |path: &PathBuf| {
        follow(path, machine, &here, manner)
            .unwrap_or_else(|error| Some(not_followed(path, manner, error.to_string())))
    };
    Ok(journals.iter().filter_map(follow).collect())
}

/// Refuses changes that an earlier owner of the right to change the machine left to undo.
///
/// # Errors
/// They are named with their journal.
pub(super) fn check_left(directory: &Path, machine: &Machine, may_change_applied: bool) -> Result<(), Error> {
    let network = machine.network()?;
    let look = RestoreOptions { dry_run: true, ..RestoreOptions::default() };
    let mut left = follow_each(&find(directory)?, machine, look)?;
    // A machine that crashed has journals of changes that its restart reset.
    let reset: Vec<PathBuf> =
        left.extract_if(.., |left| left.fate == JournalFate::Restarted).map(|left| left.journal).collect();
    follow_each(&reset, machine, RestoreOptions::default())?;
    let is_in_the_way = |left: &JournalReport| match left.fate {
        // A journal of the session's other end: other sessions' have no claim.
        JournalFate::InUse => {
            JournalFile::header(&left.journal).is_none_or(|header| header.network == network)
        }
        JournalFate::NotFollowed { .. } => false,
        JournalFate::Applied { .. } => !may_change_applied,
        _ => true,
    };
    let Some(left) = left.into_iter().find(is_in_the_way) else { return Ok(()) };
    let journal = left.journal.display();
    Err(Error::from(match left.fate {
        JournalFate::Applied { why } => format!(
            "settings of this machine were applied to stay ({why}), and would be changed again: `netassay undo` undoes them first \
             (of another machine with --host); their journal is {journal}"
        ),
        // The journal says that the changes of a process that is gone are still in force.
        _ => format!(
            "changes of another session to this machine are not undone: {journal}; `netassay undo` (from elsewhere with --host) \
             undoes them, or says why not"
        ),
    }))
}

pub(super) fn find(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = if_present(std::fs::read_dir(directory)).map_err(Error::journal("look for", directory))?;
    let Some(entries) = entries else { return Ok(Vec::new()) };
    directory::check(directory)?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>();
    let mut journals = paths.map_err(Error::journal("look for", directory))?;
    journals.retain(|path| path.extension().is_some_and(|extension| extension == "journal"));
    // The newest first: their names begin with the time.
    journals.sort_unstable_by(|one, other| other.cmp(one));
    Ok(journals)
}

fn follow(
    path: &Path,
    machine: &Machine,
    here: &Header,
    manner: RestoreOptions,
) -> Result<Option<JournalReport>, Error> {
    let Some((mut file, bytes)) = JournalFile::open(path)? else {
        return Ok(path.exists().then(|| JournalReport::new(path, JournalFate::InUse)));
    };
    let parsed = parse(&bytes);
    let (damaged, damaged_lines) = (&parsed.damaged, parsed.damaged_lines);
    let report =
        |fate| JournalReport { damaged: damaged.clone(), damaged_lines, ..JournalReport::new(path, fate) };
    // Without a header, the boot and the namespace of its values are unknown.
    let Some(header) = &parsed.header else { return settle(file, manner, report(JournalFate::Kept)) };
    if header.boot != here.boot {
        return settle(file, manner, report(JournalFate::Restarted));
    }
    if start_of(header.pid) == Some(header.start) {
        return Ok(Some(JournalReport::new(path, JournalFate::InUse)));
    }
    if let Some(why) = parsed.applied.clone().filter(|_| !manner.applied) {
        return Ok(Some(report(JournalFate::Applied { why })));
    }
    if header.network != here.network {
        return settle(file, manner, report(JournalFate::Elsewhere { network: header.network.clone() }));
    }
    let changes = undo(machine, &parsed.open(), manner, |records| file.add(records));
    let whole = parsed.damaged.is_empty() && changes.iter().all(|one| one.outcome.is_settled());
    let fate = if whole { JournalFate::Undone } else { JournalFate::Kept };
    settle(file, manner, JournalReport { changes, ..report(fate) })
}

fn not_followed(path: &Path, manner: RestoreOptions, why: String) -> JournalReport {
    // A foreign file is renamed, if the user asks for it, and never opened again: it may be a pipe,
    // or a link to any file.
    let aside = path.with_extension("set-aside");
    let forgotten = manner.forget && !manner.dry_run && std::fs::rename(path, &aside).is_ok();
    let fate =
        if forgotten { JournalFate::SetAside { path: aside } } else { JournalFate::NotFollowed { why } };
    JournalReport::new(path, fate)
}

fn settle(
    file: JournalFile,
    manner: RestoreOptions,
    mut report: JournalReport,
) -> Result<Option<JournalReport>, Error> {
    match report.fate {
        _ if manner.dry_run => {}
        JournalFate::Undone | JournalFate::Restarted => file.remove()?,
        JournalFate::Kept | JournalFate::Elsewhere { .. } if manner.forget => {
            report.fate = JournalFate::SetAside { path: file.set_aside()? };
        }
        _ => {}
    }
    Ok(Some(report))
}

// The field `starttime` of `/proc/PID/stat`, as proc(5) numbers them.
const STARTED: usize = 22;

/// The start of a process, in ticks since the machine's; `None` if it does not run.
pub(super) fn start_of(pid: u32) -> Option<u64> {
    let line = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // A process that has ended and was not waited for owns no journal any more.
    ThreadStat::parse(&line).filter(|stat| !stat.has_ended())?.number(STARTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_ended_once_it_owns_nothing_even_if_nobody_waited_for_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process { pid: child.id(), start: start_of(child.id()).unwrap() };
        assert!(!process.has_ended());
        child.kill().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while !process.has_ended() {
            assert!(Instant::now() < deadline);
            std::thread::sleep(WAIT_FOR_END);
        }
        child.wait().unwrap();
        assert!(process.has_ended());
    }
}
