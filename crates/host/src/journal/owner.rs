//! The journal of this process.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::claim::Claim;
use super::file::JournalFile;
use super::line::{Announced, Change, Header, Record};
use super::restore::{Fate, follow_all, start_of};
use super::undo::{Manner, Undoing, undo};
use super::{JournalError, place};
use crate::machine::{Machine, Target, Value};

/// A setting that is not as it was read back when it was changed. It prints as a sentence without a
/// full stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The setting.
    pub target: Target,
    /// What it was set to.
    pub after: Value,
    /// What became of it.
    pub now: Now,
}

/// What became of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Now {
    /// It reads so.
    Reads(Value),
    /// It cannot be read: why.
    Unreadable(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was set to {} for the study and ", self.target, self.after)?;
        match &self.now {
            Now::Reads(now) => write!(f, "is {now}: something changed it"),
            Now::Unreadable(why) => write!(f, "cannot be read now: {why}"),
        }
    }
}

/// The journal of this process. Dropping it undoes the rest; [`Journal::undo`] also reports the
/// result.
#[derive(Debug)]
pub struct Journal {
    machine: Machine,
    /// Made with the first change.
    file: Option<JournalFile>,
    directory: PathBuf,
    changes: Vec<Change>,
    /// The right to change the machine. Declared after `file`, so that the journal is closed first.
    claim: Option<Claim>,
}

impl Journal {
    /// A journal in `directory` (see [`super::directory`]) of changes to `machine`. It writes
    /// nothing yet.
    pub fn new(directory: &Path, machine: Machine) -> Self {
        Self { machine, file: None, directory: directory.to_owned(), changes: Vec::new(), claim: None }
    }

    /// Changes settings. First the undo of all of them is on disk; then all old values are written
    /// back as a proof; then the settings are changed.
    ///
    /// # Errors
    /// [`JournalError`]: another process changes this machine, or left changes behind, or the
    /// journal cannot be written (then nothing was touched); or an old value cannot be written
    /// back, or the kernel rejects a new one. Changes until then stay until they are undone.
    pub fn change(&mut self, settings: &[(Target, String)]) -> Result<(), JournalError> {
        self.claim()?;
        let first = self.changes.len();
        for (target, _) in settings {
            let before = self.machine.read(target)?;
            self.machine.check_whole(target, &before)?;
            let number = u32::try_from(self.changes.len() + 1).unwrap_or(u32::MAX);
            let announced = Announced { number, target: target.clone(), before: before.clone() };
            self.file()?.add(&Record::Change(announced))?;
            self.changes.push(Change { number, target: target.clone(), before, after: None });
        }
        for Change { target, before, .. } in &self.changes[first..] {
            self.machine.write(target, before).map_err(|error| {
                format!(
                    "{target} is not changed, because its present value could not be written back: {error}"
                )
            })?;
        }
        for (index, (target, value)) in (first..).zip(settings) {
            let set = self.machine.set(target, value);
            // A refused write may have changed something too.
            let after = self.machine.read(target)?;
            let number = self.changes[index].number;
            self.file()?.add(&Record::Made(number, after.clone()))?;
            self.changes[index].after = Some(after.clone());
            set?;
            self.machine.check(target, value, &after)?;
        }
        Ok(())
    }

    /// How settings differ from what was read back when they were changed; nothing if nobody has
    /// touched them.
    pub fn differences(&self) -> Vec<Difference> {
        // Of several changes of one setting the last counts.
        let last: BTreeMap<&Target, &Value> =
            self.changes.iter().filter_map(|change| Some((&change.target, change.after.as_ref()?))).collect();
        let differs = |(target, after): (&Target, &Value)| {
            let now = match self.machine.read(target) {
                Ok(now) if now == *after => return None,
                Ok(now) => Now::Reads(now),
                Err(error) => Now::Unreadable(error.to_string()),
            };
            Some(Difference { target: target.clone(), after: after.clone(), now })
        };
        last.into_iter().filter_map(differs).collect()
    }

    /// Changes that were made, or tried, and are not undone.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Undoes everything, the last first, and removes the journal if nothing is left.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be written: the next restore checks changes whose
    /// undo was not noted.
    pub fn undo(mut self) -> Result<Vec<Undoing>, JournalError> {
        self.undo_now()
    }

    fn undo_now(&mut self) -> Result<Vec<Undoing>, JournalError> {
        let Some(mut file) = self.file.take() else { return Ok(Vec::new()) };
        let changes = std::mem::take(&mut self.changes);
        let done = undo(&self.machine, &changes, Manner::default(), |record| file.add(record));
        if done.iter().all(|one| one.outcome.is_settled()) {
            file.remove()?;
        }
        Ok(done)
    }

    /// Takes the right to change the machine, and checks that no earlier owner left anything to
    /// undo.
    fn claim(&mut self) -> Result<(), JournalError> {
        if self.claim.is_some() {
            return Ok(());
        }
        place::make(&self.directory)?;
        // One process at a time changes the machine.
        let claim = Claim::take(&self.directory)?.ok_or_else(|| {
            format!(
                "another session changes this machine, and two would undo each other's changes: try again when it has ended \
                 (`netassay restore --dry-run` names its journal in {})",
                self.directory.display()
            )
        })?;
        let look = Manner { dry_run: true, ..Manner::default() };
        let left = follow_all(&self.directory, &self.machine, look)?;
        if let Some(left) = left.into_iter().find(|left| !matches!(left.fate, Fate::NotFollowed { .. })) {
            // What a process that is gone changed is still so, says its journal.
            return Err(JournalError::from(format!(
                "changes of another session to this machine are not undone: {}; `netassay restore` undoes them, or says why not",
                left.journal.display()
            )));
        }
        self.claim = Some(claim);
        Ok(())
    }

    fn file(&mut self) -> Result<&mut JournalFile, JournalError> {
        if self.file.is_none() {
            let pid = std::process::id();
            let start = start_of(pid).unwrap_or_default();
            let identity = self.machine.identity()?;
            let first = Record::Begun(Header::new(pid, start, identity.boot, identity.network));
            // Names sort by time: over all journals the last change is undone first.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let path = self.directory.join(format!("{now:020}-{pid}.journal"));
            self.file = Some(JournalFile::make(&path, &first)?);
        }
        Ok(self.file.as_mut().expect("it was made just above"))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Nobody reads the result here; the file stays if anything is left.
        let _ = self.undo_now();
    }
}
