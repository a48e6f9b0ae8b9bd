//! Changes undone, the last first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::line::Record;
use super::{Change, JournalError};
use crate::error::Error;
use crate::machine::{Machine, Target, Value};

/// How to restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Change nothing, only report.
    pub dry_run: bool,
    /// Also restore settings that another program has changed since.
    pub force: bool,
    /// Set aside journals with remaining changes: they are kept, but ignored from then on.
    pub forget: bool,
}

/// The result for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The old value is restored; in a dry run, it would be.
    Undone,
    /// The setting has its old value: it was undone before, or never changed.
    AlreadySo,
    /// Another program changed it, so it is left.
    ChangedMeanwhile {
        /// Its value now.
        now: Value,
    },
    /// The kernel refused.
    Failed {
        /// Why.
        why: String,
    },
}

impl Outcome {
    /// Whether nothing is left to undo.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Undone | Self::AlreadySo)
    }
}

/// A change, and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undoing {
    /// The change.
    pub change: Change,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Undoing {
    /// A sentence, with the next step. In a dry run it says what would happen.
    pub fn sentence(&self, dry_run: bool) -> String {
        let Change { target, before, after, .. } = &self.change;
        // Half-way through a change it may have any value.
        let after = after.as_ref().map_or("half changed".to_owned(), ToString::to_string);
        match &self.outcome {
            Outcome::Undone if dry_run => format!("{target}: {after} -> {before}"),
            Outcome::Undone => format!("{target}: {after} -> {before}, undone"),
            Outcome::AlreadySo => format!("{target}: is {before} already"),
            Outcome::ChangedMeanwhile { now } => format!(
                "{target}: is {now}, not the {after} that netassay set: another program changed it, so it is left; `netassay restore --force` \
                 sets it to {before}, --forget leaves it for good"
            ),
            Outcome::Failed { why } => format!("{target}: cannot be set back to {before}: {why}"),
        }
    }
}

/// Undoes changes, the last first, and passes each step to `note` (not in a dry run). A step that
/// cannot be noted is undone all the same, and reported as failed.
pub(super) fn undo(
    machine: &Machine,
    changes: &[Change],
    manner: Manner,
    mut note: impl FnMut(&Record) -> Result<(), JournalError>,
) -> Vec<Undoing> {
    let mut hands = Hands { machine, dry_run: manner.dry_run, pretended: BTreeMap::new() };
    let mut note = |record: &Record| if manner.dry_run { Ok(()) } else { note(record) };
    let mut done = Vec::new();
    for change in changes.iter().rev() {
        let mut outcome = one(&mut hands, change, manner.force, &mut note)
            .unwrap_or_else(|error| Outcome::Failed { why: error.to_string() });
        if outcome.is_settled()
            && let Err(error) = note(&Record::Undone(change.number))
        {
            outcome = Outcome::Failed {
                why: format!("it has its value before, but that cannot be noted: {error}"),
            };
        }
        done.push(Undoing { change: change.clone(), outcome });
    }
    done
}

fn one(
    hands: &mut Hands<'_>,
    change: &Change,
    force: bool,
    note: &mut impl FnMut(&Record) -> Result<(), JournalError>,
) -> Result<Outcome, Error> {
    let now = hands.read(&change.target)?;
    if now == change.before {
        return Ok(Outcome::AlreadySo);
    }
    if change.after.as_ref().is_some_and(|after| *after != now) && !force {
        return Ok(Outcome::ChangedMeanwhile { now });
    }
    // For a kill inside of a long value. The undo continues even if this cannot be noted.
    let _ = note(&Record::Undoing(change.number));
    hands.write(&change.target, &change.before)?;
    Ok(Outcome::Undone)
}

/// Changes the machine, or simulates that.
struct Hands<'m> {
    machine: &'m Machine,
    dry_run: bool,
    /// Otherwise a dry run would take the second change of a setting for another program's.
    pretended: BTreeMap<Target, Value>,
}

impl Hands<'_> {
    fn read(&self, target: &Target) -> Result<Value, Error> {
        self.pretended.get(target).cloned().map_or_else(|| self.machine.read(target), Ok)
    }

    fn write(&mut self, target: &Target, value: &Value) -> Result<(), Error> {
        if self.dry_run {
            self.pretended.insert(target.clone(), value.clone());
            return Ok(());
        }
        self.machine.write(target, value)
    }
}
