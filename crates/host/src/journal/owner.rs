//! The journal of this process.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::line::{Change, Header, Record};
use super::paper::Paper;
use super::restore::{Manner, start_of};
use super::undo::{Undoing, undo};
use super::{JournalError, place};
use crate::machine::{Machine, Target, canonical};

/// The journal of this process. Dropping it undoes what is still to be undone; [`Journal::undo`] says what came of it.
#[derive(Debug)]
pub struct Journal {
    machine: Machine,
    /// Made with the first change.
    paper: Option<Paper>,
    directory: std::path::PathBuf,
    changes: Vec<Change>,
    next: u32,
}

impl Journal {
    /// A journal in `directory` (see [`super::directory`]) of changes to `machine`. Nothing is written yet.
    pub fn new(directory: &Path, machine: Machine) -> Self {
        Self { machine, paper: None, directory: directory.to_owned(), changes: Vec::new(), next: 1 }
    }

    /// Changes a setting, once it is on disk how to undo that. `None` if it has that value already: then there is nothing to
    /// be undone.
    ///
    /// # Errors
    /// [`JournalError`]: the journal cannot be written (then nothing was changed), or the machine refuses. What was changed
    /// before stays so until it is undone.
    pub fn change(&mut self, target: &Target, value: &str) -> Result<Option<Change>, JournalError> {
        let before = self.machine.read(target)?;
        // As it will read back, or undoing would take it for somebody else's.
        let after = canonical(target, value).unwrap_or_else(|| value.to_owned());
        if before == after {
            return Ok(None);
        }
        let change = Change { number: self.next, target: target.clone(), before, after };
        self.paper()?.add(&Record::Change(change.clone()))?;
        self.next += 1;
        self.changes.push(change.clone());
        self.machine.write(target, value)?;
        Ok(Some(change))
    }

    /// What was changed and is not undone.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Undoes everything, the last first, and removes the journal if nothing is left to be done.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be written: what could not be noted as undone is looked at again by the next
    /// restoring.
    pub fn undo(mut self) -> Result<Vec<Undoing>, JournalError> {
        self.undo_now()
    }

    fn undo_now(&mut self) -> Result<Vec<Undoing>, JournalError> {
        let Some(mut paper) = self.paper.take() else { return Ok(Vec::new()) };
        let changes = std::mem::take(&mut self.changes);
        let done =
            undo(&self.machine, &changes, Manner::default(), |number| paper.add(&Record::Undone(number)))?;
        if done.iter().all(|one| one.outcome.is_settled()) {
            paper.remove()?;
        }
        Ok(done)
    }

    fn paper(&mut self) -> Result<&mut Paper, JournalError> {
        if self.paper.is_none() {
            place::make(&self.directory)?;
            let pid = std::process::id();
            let start = start_of(pid).unwrap_or_default();
            let identity = self.machine.identity();
            let first = Record::Begun(Header::new(pid, start, identity.boot, identity.network));
            // In the order of time: what was changed last is to be undone first, over all journals.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let path = self.directory.join(format!("{now:020}-{pid}.journal"));
            self.paper = Some(Paper::make(&path, &first)?);
        }
        // It was made just above.
        self.paper.as_mut().ok_or(JournalError::NoPlace)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Nobody is left to be told; the file stays if anything is left to be done.
        let _ = self.undo_now();
    }
}
