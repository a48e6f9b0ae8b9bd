//! The journal of this process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::claim::Claim;
use super::file::JournalFile;
use super::line::{Announced, Change, Header, Record};
use super::restore::{Fate, follow_all, start_of};
use super::undo::{Manner, Undoing, undo};
use super::{JournalError, place};
use crate::machine::{Machine, MachineError, Target, Value};

/// The journal of this process. Dropping it undoes what is still to be undone; [`Journal::undo`]
/// says what came of it.
#[derive(Debug)]
pub struct Journal {
    machine: Machine,
    /// Made with the first change.
    file: Option<JournalFile>,
    directory: PathBuf,
    changes: Vec<Change>,
    /// Nobody else changes the machine as long as this does. After `file`, so that the journal is
    /// let go first.
    claim: Option<Claim>,
}

impl Journal {
    /// A journal in `directory` (see [`super::directory`]) of changes to `machine`. Nothing is
    /// written yet.
    pub fn new(directory: &Path, machine: Machine) -> Self {
        Self { machine, file: None, directory: directory.to_owned(), changes: Vec::new(), claim: None }
    }

    /// Changes settings. Before any of them is touched it is on disk how to undo all of them;
    /// before any of them is changed it is proven that the value before can be written back.
    ///
    /// # Errors
    /// [`JournalError`]: another process changes this machine, or one that is gone left changes
    /// behind, or the journal cannot be written (then nothing was touched); or a value cannot be
    /// written back, or the kernel does not take one. What was changed before stays so until it is
    /// undone.
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
            self.machine.write(target, before).map_err(|error| MachineError::NoWayBack {
                target: target.clone(),
                why: error.to_string(),
            })?;
        }
        for (index, (target, value)) in (first..).zip(settings) {
            let set = self.machine.set(target, value);
            // Also what was refused may have changed something.
            let after = self.machine.read(target)?;
            let number = self.changes[index].number;
            self.file()?.add(&Record::Made(number, after.clone()))?;
            self.changes[index].after = Some(after.clone());
            set?;
            self.machine.check(target, value, &after)?;
        }
        Ok(())
    }

    /// How settings differ from what was read back when they were changed, in sentences; nothing if
    /// nobody has touched them.
    pub fn differences(&self) -> Vec<String> {
        // Of several changes of one setting the last counts.
        let last: BTreeMap<&Target, &Value> =
            self.changes.iter().filter_map(|change| Some((&change.target, change.after.as_ref()?))).collect();
        let differs = |(target, after): (&Target, &Value)| match self.machine.read(target) {
            Ok(now) if now == *after => None,
            Ok(now) => {
                Some(format!("{target} was set to {after} for the study and is {now}: something changed it"))
            }
            Err(error) => Some(format!("{target} was set to {after} for the study, and now: {error}")),
        };
        last.into_iter().filter_map(differs).collect()
    }

    /// What was changed, or tried to, and is not undone.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Undoes everything, the last first, and removes the journal if nothing is left to be done.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be written: what could not be noted as undone is
    /// looked at again by the next restoring.
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

    /// Takes the right to change the machine, and looks that nobody who had it before left anything
    /// to be undone.
    fn claim(&mut self) -> Result<(), JournalError> {
        if self.claim.is_some() {
            return Ok(());
        }
        place::make(&self.directory)?;
        let claim =
            Claim::take(&self.directory)?.ok_or_else(|| JournalError::Claimed(self.directory.clone()))?;
        let look = Manner { dry_run: true, ..Manner::default() };
        let left = follow_all(&self.directory, &self.machine, look)?;
        if let Some(left) = left.into_iter().find(|left| !matches!(left.fate, Fate::NotFollowed { .. })) {
            return Err(JournalError::Left(left.journal));
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
            // In the order of time: what was changed last is to be undone first, over all journals.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let path = self.directory.join(format!("{now:020}-{pid}.journal"));
            self.file = Some(JournalFile::make(&path, &first)?);
        }
        // It was made just above.
        self.file.as_mut().ok_or(JournalError::NoPlace)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Nobody is left to be told; the file stays if anything is left to be done.
        let _ = self.undo_now();
    }
}
