//! Changes undone, the last first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Change, JournalError, Manner};
use crate::machine::{Machine, MachineError, Target};

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
        now: String,
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

/// Undoes changes, the last first; `settled` is told the number of each one of which nothing is left.
pub(super) fn undo(
    machine: &Machine,
    changes: &[Change],
    manner: Manner,
    mut settled: impl FnMut(u32) -> Result<(), JournalError>,
) -> Result<Vec<Undoing>, JournalError> {
    let mut hands = Hands { machine, dry_run: manner.dry_run, pretended: BTreeMap::new() };
    let mut done = Vec::new();
    for change in changes.iter().rev() {
        let outcome = one(&mut hands, change, manner.force)
            .unwrap_or_else(|error| Outcome::Failed { why: error.to_string() });
        if outcome.is_settled() && !manner.dry_run {
            settled(change.number)?;
        }
        done.push(Undoing { change: change.clone(), outcome });
    }
    Ok(done)
}

fn one(hands: &mut Hands<'_>, change: &Change, force: bool) -> Result<Outcome, MachineError> {
    let now = hands.read(&change.target)?;
    if now == change.before {
        return Ok(Outcome::AlreadySo);
    }
    if now != change.after && !force {
        return Ok(Outcome::ChangedMeanwhile { now });
    }
    hands.write(&change.target, &change.before)?;
    Ok(Outcome::Undone)
}

/// What touches the machine, or only pretends to.
struct Hands<'m> {
    machine: &'m Machine,
    dry_run: bool,
    /// Without this a dry run would take the second change of a setting for somebody else's.
    pretended: BTreeMap<Target, String>,
}

impl Hands<'_> {
    fn read(&self, target: &Target) -> Result<String, MachineError> {
        self.pretended.get(target).cloned().map_or_else(|| self.machine.read(target), Ok)
    }

    fn write(&mut self, target: &Target, value: &str) -> Result<(), MachineError> {
        if self.dry_run {
            self.pretended.insert(target.clone(), value.to_owned());
            return Ok(());
        }
        self.machine.write(target, value)
    }
}
