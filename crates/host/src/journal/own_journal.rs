//! The journal of this process.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::claim::{Claim, EXIT, session_end};
use super::directory;
use super::file::JournalFile;
use super::line::{Change, Header, Record};
use super::restore::check_left;
use super::undo::{RestoreOptions, Undoing, undo};
use crate::error::{Error, LockHolder};
use crate::link::ipv6::Ipv6State;
use crate::machine::{Machine, SettingValue, Target};

/// A setting that differs from the value read back after its change: a sentence, no full stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadBackDifference {
    #[serde(deserialize_with = "Target::read")]
    pub target: Target,
    pub after: SettingValue,
    pub now: PresentValue,
}

/// The present value of a setting, or the reason why it is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PresentValue {
    Reads(SettingValue),
    Unreadable(String),
}

impl fmt::Display for ReadBackDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, after, .. } = self;
        write!(f, "{target} was set to {} for the study and ", target.show(after))?;
        match &self.now {
            PresentValue::Reads(now) => write!(f, "is {}: something changed it", target.show(now)),
            PresentValue::Unreadable(why) => write!(f, "cannot be read now: {why}"),
        }
    }
}

/// The journal of this process. Dropping it undoes the rest.
#[derive(Debug)]
pub struct Journal {
    machine: Machine,
    file: Option<JournalFile>,
    directory: PathBuf,
    /// Both ends of a session may change one machine, each in its own network namespace.
    pub session: u64,
    changes: Vec<Change>,
    /// Changes with nothing to undo now: made again, they keep their numbers.
    closed: BTreeSet<u32>,
    /// Settings that other code than [`Journal::change`] changed last, and reads back itself.
    covered: BTreeSet<Target>,
    /// Whether settings that a user had applied to stay ([`Journal::keep`]) may be changed.
    pub may_change_applied: bool,
    // Declared after `file`, so that the journal is closed first.
    claim: Option<Claim>,
}

impl Journal {
    /// A journal in `directory` (see [`super::directory`]). The first change makes the file.
    pub fn new(directory: &Path, machine: Machine) -> Self {
        Self {
            machine,
            file: None,
            directory: directory.to_owned(),
            session: 0,
            changes: Vec::new(),
            closed: BTreeSet::new(),
            covered: BTreeSet::new(),
            may_change_applied: false,
            claim: None,
        }
    }

    /// Lets the changes stay after the end of this process, until a user restores the machine or it
    /// boots. `why`: their purpose, for everybody who meets the journal.
    ///
    /// # Errors
    /// [`Error`] if this cannot be noted: then the changes are undone.
    pub fn keep(mut self, why: &str) -> Result<Vec<Change>, Error> {
        let kept: Vec<Change> = self.changes().cloned().collect();
        if kept.is_empty() {
            self.undo_now()?;
        } else if let Some(file) = &mut self.file {
            file.add(&[Record::Applied(why.to_owned())])?;
            // Without its file the journal undoes nothing when it is dropped.
            self.file = None;
        }
        Ok(kept)
    }

    /// Takes the right to change the machine before the first change, or names the process of
    /// another session that has it. The first change tells of any other obstacle.
    ///
    /// # Errors
    /// The process that has the right.
    pub fn claim_early(&mut self) -> Result<(), LockHolder> {
        if self.claim.is_none()
            && let Ok(taken) = self.take_claim(Duration::ZERO)
        {
            self.claim = Some(taken?);
        }
        Ok(())
    }

    /// Gives the right to change the machine back, unless changes were announced.
    pub fn leave(&mut self) {
        if self.file.is_none() {
            self.claim = None;
        }
    }

    /// Refuses a machine that another process changes, or where a dead one left unapplied changes.
    pub fn check_free(&self) -> Result<(), Error> {
        // Without the directory no change was made, and the directory is not made for a look.
        if self.file.is_some() || !self.directory.exists() {
            return Ok(());
        }
        let _claim = if self.claim.is_none() { Some(self.await_claim()?) } else { None };
        check_left(&self.directory, &self.machine, true)
    }

    /// Changes settings. First the undo of all of them is on disk; then all old values are written
    /// back as a proof; then the settings are changed.
    ///
    /// # Errors
    /// [`Error`]: another process changes this machine, or left changes behind, or the journal
    /// cannot be written (then nothing was touched); or an old value cannot be written back, or the
    /// kernel rejects a new one. Changes until then stay until they are undone.
    pub fn change(&mut self, settings: &[(Target, String)]) -> Result<(), Error> {
        self.claim()?;
        let mut targets = self.followers(settings)?;
        targets.extend(settings.iter().map(|(target, _)| target.clone()));
        self.covered.retain(|covered| !targets.contains(covered));
        let numbers = self.begin(&targets)?;
        let made = self.prove(settings).and_then(|()| set_each(&self.machine, settings));
        // Also after a failure: some of the settings may be changed by then.
        let ended = self.end(&numbers, settings);
        made.and(ended)
    }

    fn prove(&self, settings: &[(Target, String)]) -> Result<(), Error> {
        for (target, _) in settings {
            let now = self.machine.read(target)?;
            self.machine.write(target, &now).map_err(|error| {
                format!(
                    "{target} is not changed, because its present value could not be written back: {error}"
                )
            })?;
        }
        Ok(())
    }

    fn followers(&self, settings: &[(Target, String)]) -> Result<Vec<Target>, Error> {
        let features = settings.iter().filter_map(|(target, _)| match target {
            Target::Feature { interface, .. } => Some(interface),
            _ => None,
        });
        let mut all = Vec::new();
        for interface in features.collect::<BTreeSet<_>>() {
            all.extend(self.machine.affected_by_features(interface)?);
        }
        all.retain(|target| settings.iter().all(|(requested, _)| requested != target));
        Ok(all)
    }

    /// Lets `action` change these settings. Before, their values are on disk; afterwards they are
    /// read back, and those that have not changed are closed.
    ///
    /// # Errors
    /// [`Error`] as with [`Journal::change`]; then `action` was not called. Or its own error.
    pub fn cover<T>(
        &mut self,
        targets: &[Target],
        action: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.claim()?;
        let numbers = self.begin(targets)?;
        self.covered.extend(targets.iter().cloned());
        let done = action();
        self.end(&numbers, &[])?;
        done
    }

    /// Changes settings that every condition changes again, as by [`Journal::cover`].
    pub fn switch(&mut self, settings: &[(Target, String)]) -> Result<(), Error> {
        let targets: Vec<Target> = settings.iter().map(|(target, _)| target.clone()).collect();
        let machine = self.machine.clone();
        self.cover(&targets, || set_each(&machine, settings))
    }

    /// Announces changes, on disk.
    fn begin(&mut self, targets: &[Target]) -> Result<Vec<u32>, Error> {
        let (mut announced, mut again, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = self.changes.last().map_or(0, |one| one.number);
        let mut reader = self.machine.reader();
        for target in targets {
            if announced.iter().any(|one: &Change| one.target == *target) {
                continue;
            }
            // A setting that is changed again keeps its first value before, for the undo.
            if let Some(open) = self.changes().find(|one| one.target == *target) {
                again.push(open.number);
                continue;
            }
            let before = self.at_first(target, reader.read(target)?);
            self.machine.check_whole(target, &before)?;
            let is_it = |one: &&Change| one.target == *target && target.is_same(&before, &one.before);
            if let Some(closed) = self.changes.iter().find(is_it) {
                again.push(closed.number);
                continue;
            }
            last = last.saturating_add(1);
            numbers.push(last);
            announced.push(Change { number: last, target: target.clone(), before, after: None });
        }
        if !again.is_empty() {
            self.file()?.announce(&[Record::Changing(again.clone())])?;
            self.closed.retain(|number| !again.contains(number));
            for change in self.changes.iter_mut().filter(|one| again.contains(&one.number)) {
                change.after = None;
            }
        }
        let records: Vec<Record> = announced.iter().cloned().map(Record::Change).collect();
        self.file()?.announce(&records)?;
        self.changes.extend(announced);
        numbers.extend(again);
        Ok(numbers)
    }

    // An earlier change of the MTU may have raised that of IPv6, and at the end the kernel refuses
    // more than the interface's own: the state before has the MTU of IPv6 before all changes.
    fn at_first(&self, target: &Target, now: SettingValue) -> SettingValue {
        let Target::Ipv6 { interface } = target else { return now };
        let mtu = Target::Ipv6Mtu { interface: interface.clone() };
        let state = |value: &SettingValue| Ipv6State::of_text(value.text());
        let first = self.changes().find(|one| one.target == mtu).and_then(|one| state(&one.before));
        state(&now).zip(first).map_or(now, |(now, first)| now.with_mtu_of(&first).to_text().into())
    }

    /// Notes the values after the changes, and closes those that have not changed.
    fn end(&mut self, numbers: &[u32], requested: &[(Target, String)]) -> Result<(), Error> {
        let (mut records, mut unchanged) = (Vec::new(), Vec::new());
        let mut reader = self.machine.reader();
        for change in self.changes.iter_mut().filter(|one| numbers.contains(&one.number)) {
            // For a setting that cannot be read, no value after is known.
            let Ok(now) = reader.read(&change.target) else { continue };
            let is_requested = requested.iter().any(|(target, _)| *target == change.target);
            // The kernel goes on changing addresses of an interface that was just set up.
            let is_unsettled = matches!(change.target, Target::Ipv6Addresses { .. });
            // A requested setting is watched and undone even if it had the value before.
            if !is_requested && change.target.is_same(&now, &change.before) {
                unchanged.push(change.number);
            } else if !is_unsettled {
                records.push(Record::Made(change.number, now.clone()));
                change.after = Some(now);
            }
        }
        if !unchanged.is_empty() {
            records.push(Record::Unchanged(unchanged.clone()));
        }
        self.file()?.add(&records)?;
        self.closed.extend(unchanged);
        Ok(())
    }

    /// Settings of a study that differ from the value read back, but those of [`Journal::cover`].
    pub fn differences(&self) -> Vec<ReadBackDifference> {
        let watched = self.changes().filter(|change| !self.covered.contains(&change.target));
        let differs = |Change { target, after, .. }: &Change| {
            let after = after.as_ref()?;
            let now = match self.machine.read(target) {
                Ok(now) if target.is_same(&now, after) => return None,
                Ok(now) => PresentValue::Reads(now),
                Err(error) => PresentValue::Unreadable(error.to_string()),
            };
            Some(ReadBackDifference { target: target.clone(), after: after.clone(), now })
        };
        watched.filter_map(differs).collect()
    }

    /// Changes that were made, or tried, and are not undone.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|one| !self.closed.contains(&one.number))
    }

    /// Undoes all changes, the last first, and removes the journal if no change is left.
    ///
    /// # Errors
    /// [`Error`] if the journal cannot be written: the next restore checks such changes.
    pub fn undo(mut self) -> Result<Vec<Undoing>, Error> {
        self.undo_now()
    }

    /// Undoes the changes of some settings, the last first, and goes on with the others.
    ///
    /// # Errors
    /// [`Error`] if one of them cannot be undone, with the reason: it stays open.
    pub fn undo_matching(&mut self, chosen: impl Fn(&Target) -> bool) -> Result<(), Error> {
        let changes: Vec<Change> = self.changes().filter(|one| chosen(&one.target)).cloned().collect();
        let Some(file) = &mut self.file else { return Ok(()) };
        let done = undo(&self.machine, &changes, RestoreOptions::default(), |records| file.add(records));
        self.closed.extend(done.iter().filter(|one| one.outcome.is_settled()).map(|one| one.change.number));
        done.iter()
            .find(|one| !one.outcome.is_settled())
            .map_or(Ok(()), |left| Err(left.sentence(false).into()))
    }

    fn undo_now(&mut self) -> Result<Vec<Undoing>, Error> {
        let Some(mut file) = self.file.take() else { return Ok(Vec::new()) };
        let changes: Vec<Change> = self.changes().cloned().collect();
        self.changes.clear();
        let done = undo(&self.machine, &changes, RestoreOptions::default(), |records| file.add(records));
        // Otherwise the file stays for a restore, which a user may force.
        if done.iter().all(|one| one.outcome.is_settled()) {
            file.remove()?;
        }
        Ok(done)
    }

    /// Takes the right to change the machine, if no earlier owner left changes to undo.
    fn claim(&mut self) -> Result<(), Error> {
        if self.file.is_none() {
            let claim = self.claim.take().map_or_else(|| self.await_claim(), Ok)?;
            check_left(&self.directory, &self.machine, self.may_change_applied)?;
            self.claim = Some(claim);
        }
        Ok(())
    }

    fn await_claim(&self) -> Result<Claim, Error> {
        Ok(self.take_claim(EXIT)?.map_err(|holder| {
            format!(
                "another session changes this machine ({holder}), and two would undo each other's changes: try again when it has ended \
                 (`netassay undo --dry-run` names its journal in {})",
                self.directory.display()
            )
        })?)
    }

    fn take_claim(&self, patience: Duration) -> Result<Result<Claim, LockHolder>, Error> {
        directory::make(&self.directory, 0o700)?;
        let end = session_end(self.session, &self.machine.network()?);
        Claim::await_free(&self.directory, &end, patience)
    }

    fn file(&mut self) -> Result<&mut JournalFile, Error> {
        if self.file.is_none() {
            let header = Header::for_machine(&self.machine)?;
            // Names sort by time: over all journals the last change is undone first.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let path = self.directory.join(format!("{now:020}-{}.journal", header.pid));
            self.file = Some(JournalFile::make(&path, &Record::Begun(header))?);
        }
        Ok(self.file.as_mut().expect("it was made just above"))
    }
}

fn set_each(machine: &Machine, settings: &[(Target, String)]) -> Result<(), Error> {
    settings.iter().try_for_each(|(target, value)| machine.set(target, value))
}

impl Drop for Journal {
    fn drop(&mut self) {
        // No caller can read the result here; the file stays if a change is left.
        let _ = self.undo_now();
    }
}
