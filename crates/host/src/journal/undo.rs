//! Changes undone, the last first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::line::Record;
use super::{Change, JournalError};
use crate::machine::{Machine, MachineError, Target, Value};

/// How to restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Change nothing, only tell what would be done.
    pub dry_run: bool,
    /// Also restore what another program has changed since.
    pub force: bool,
    /// Set journals aside of which something is left: they are kept, but nobody follows them any
    /// more.
    pub forget: bool,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The value before is back; in a dry run, it would be.
    Undone,
    /// It was back, or never left: somebody undid it, or the change was not made any more.
    AlreadySo,
    /// Somebody else changed it meanwhile, so that it is left.
    ChangedMeanwhile {
        /// What it is now.
        now: Value,
    },
    /// The kernel refused.
    Failed {
        /// Why.
        why: String,
    },
}

impl Outcome {
    /// Whether nothing is left to be done.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Undone | Self::AlreadySo)
    }
}

/// A change, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undoing {
    /// The change.
    pub change: Change,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Undoing {
    /// In a sentence, with the way on. In a dry run it says what would become of it.
    pub fn sentence(&self, dry_run: bool) -> String {
        let Change { target, before, after, .. } = &self.change;
        // While it was being changed, anything could be there.
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

/// Undoes changes, the last first; each step is told to `note` (nothing in a dry run). What cannot
/// be noted is undone all the same, and told as failed.
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
) -> Result<Outcome, MachineError> {
    let now = hands.read(&change.target)?;
    if now == change.before {
        return Ok(Outcome::AlreadySo);
    }
    if change.after.as_ref().is_some_and(|after| *after != now) && !force {
        return Ok(Outcome::ChangedMeanwhile { now });
    }
    // For the case that this is killed inside of a long value. That it cannot be noted is no reason
    // to leave the setting.
    let _ = note(&Record::Undoing(change.number));
    hands.write(&change.target, &change.before)?;
    Ok(Outcome::Undone)
}

/// What touches the machine, or only pretends to.
struct Hands<'m> {
    machine: &'m Machine,
    dry_run: bool,
    /// Without this a dry run would take the second change of a setting for somebody else's.
    pretended: BTreeMap<Target, Value>,
}

impl Hands<'_> {
    fn read(&self, target: &Target) -> Result<Value, MachineError> {
        self.pretended.get(target).cloned().map_or_else(|| self.machine.read(target), Ok)
    }

    fn write(&mut self, target: &Target, value: &Value) -> Result<(), MachineError> {
        if self.dry_run {
            self.pretended.insert(target.clone(), value.clone());
            return Ok(());
        }
        self.machine.write(target, value)
    }
}
