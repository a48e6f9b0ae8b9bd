//! Undoing of changes, the last first.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::Change;
use super::line::Record;
use crate::error::Error;
use crate::machine::{Machine, SettingValue, Target};

/// The options of a restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Only report.
    pub dry_run: bool,
    /// Also restore settings that another program has changed since.
    pub force: bool,
    /// Set aside journals with remaining changes: they are kept, but ignored from then on.
    pub forget: bool,
    /// Also undo changes that a user had applied to stay.
    pub applied: bool,
}

/// The result for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum UndoOutcome {
    /// The old value is restored; in a dry run, it would be.
    Undone,
    /// The setting has its old value: it was undone before, or never changed.
    AlreadySo,
    /// Another program changed it, so it is left.
    ChangedMeanwhile { now: SettingValue },
    /// The interface, its queue or the interrupt was removed, or moved to another network
    /// namespace.
    Gone,
    /// It cannot be read or written, so it is left.
    Failed { why: String },
}

impl UndoOutcome {
    /// Whether nothing is left to undo.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Undone | Self::AlreadySo | Self::Gone)
    }
}

/// A change, and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undoing {
    pub change: Change,
    #[serde(flatten)]
    pub outcome: UndoOutcome,
}

impl Undoing {
    /// A sentence with the next step. In a dry run it says what would happen.
    pub fn sentence(&self, dry_run: bool) -> String {
        let Change { target, before, after, .. } = &self.change;
        // Half-way through a change the setting may have any value.
        let after = after.as_ref().map_or("half changed".to_owned(), |after| target.show(after));
        let before = target.show(before);
        match &self.outcome {
            UndoOutcome::Undone if dry_run => format!("{target}: {after} -> {before}"),
            UndoOutcome::Undone => format!("{target}: {after} -> {before}, undone"),
            UndoOutcome::AlreadySo => format!("{target}: is {before} already"),
            UndoOutcome::Gone => format!(
                "{target}: it does not exist here any more (it was removed, or moved to another network namespace), so nothing \
                 is set back; the value before was {before}"
            ),
            UndoOutcome::ChangedMeanwhile { now } => format!(
                "{target}: is {}, not the {after} that netassay set: another program changed it, so it is left; `netassay undo --force` \
                 sets it to {before}, --forget leaves it for good",
                target.show(now)
            ),
            UndoOutcome::Failed { why } => format!("{target}: cannot be set back to {before}: {why}"),
        }
    }
}

/// Undoes the last change first, but a cause before its effects ([`Target::rank`]).
pub(super) fn undo(
    machine: &Machine,
    changes: &[Change],
    manner: RestoreOptions,
    mut note: impl FnMut(&[Record]) -> Result<(), Error>,
) -> Vec<Undoing> {
    // All outcomes are decided before the first undo, because one undo changes other settings: with
    // the MTU, IPv6 comes back.
    let mut done = plan(machine, changes, manner.force);
    if manner.dry_run {
        return done;
    }
    let planned: Vec<u32> =
        done.iter().filter(|one| one.outcome == UndoOutcome::Undone).map(|one| one.change.number).collect();
    if !planned.is_empty() {
        // For a kill in the middle. The undo continues even if this record fails.
        let _ = note(&[Record::Changing(planned)]);
    }
    // The earlier IPv6 state includes addresses that are removed by then: it is read again first.
    let rest = done.partition_point(|one| one.change.target.rank() <= Target::RANK_OF_IPV6);
    let (first, rest) = done.split_at_mut(rest);
    for part in [first, rest] {
        for one in part.iter_mut().filter(|one| one.outcome == UndoOutcome::Undone) {
            write_back(machine, one);
        }
        // Read again, since each undo may have changed settings that were written back before.
        check(machine, part);
        // IPv6 that has come back is not at rest: the kernel still adds addresses and routes.
        let has_failed = |one: &Undoing| matches!(one.outcome, UndoOutcome::Failed { .. });
        let is_unsettled = |one: &Undoing| has_failed(one) && one.change.target.scope().is_some();
        let deadline = Instant::now() + AT_REST;
        while Instant::now() < deadline && part.iter().any(is_unsettled) {
            std::thread::sleep(LOOK_AGAIN);
            check(machine, part);
        }
    }
    let settled = done.iter().filter(|one| one.outcome.is_settled());
    let settled: Vec<Record> = settled.map(|one| Record::Undone(one.change.number)).collect();
    // If this record fails, the next restore finds the values as before.
    let _ = note(&settled);
    done
}

// RFC 4862, section 5.4: checking that an address is the only one takes up to two seconds.
const AT_REST: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

fn plan(machine: &Machine, changes: &[Change], force: bool) -> Vec<Undoing> {
    // Values that will be written count as read: otherwise the second change of a setting, or an
    // effect of an undone cause, would look like another program's.
    let mut pretended: BTreeMap<&Target, &SettingValue> = BTreeMap::new();
    let mut planned = Vec::new();
    let mut reader = machine.reader();
    let mut ordered: Vec<&Change> = changes.iter().rev().collect();
    // Stable: changes of the same rank stay in their order.
    ordered.sort_by_key(|change| change.target.rank());
    for change in ordered {
        let Change { target, before, after, .. } = change;
        let follows = pretended.keys().any(|cause| target.follows(cause));
        let now = pretended.get(target).map_or_else(|| reader.read(target), |value| Ok((*value).clone()));
        let is_made = matches!(target, Target::Made { .. });
        let is_other = |now: &SettingValue| after.as_ref().is_some_and(|after| !target.is_same(now, after));
        let outcome = match now {
            // The name of the interface that was made belongs to another program's interface.
            Ok(now) if is_made && is_other(&now) && now != *before => UndoOutcome::Gone,
            _ if follows => UndoOutcome::Undone,
            Err(error) if error.is_gone() => UndoOutcome::Gone,
            Err(error) => UndoOutcome::Failed { why: error.to_string() },
            Ok(now) if target.is_same(&now, before) => UndoOutcome::AlreadySo,
            Ok(now) if !force && is_other(&now) => UndoOutcome::ChangedMeanwhile { now },
            Ok(_) => UndoOutcome::Undone,
        };
        if outcome == UndoOutcome::Undone {
            pretended.insert(target, before);
        }
        planned.push(Undoing { change: change.clone(), outcome });
    }
    planned
}

fn write_back(machine: &Machine, one: &mut Undoing) {
    match machine.write(&one.change.target, &one.change.before) {
        Ok(()) => {}
        Err(error) if error.is_gone() => one.outcome = UndoOutcome::Gone,
        Err(error) => one.outcome = UndoOutcome::Failed { why: error.to_string() },
    }
}

/// Reads the settings of interfaces again, and repeats a write that the undo of another has
/// changed.
fn check(machine: &Machine, done: &mut [Undoing]) {
    let mut reader = machine.reader();
    let mut rest = done;
    while let Some((one, later)) = rest.split_first_mut() {
        rest = later;
        let Change { target, before, .. } = &one.change;
        // Of several changes of one setting the first counts, which is the last here.
        let is_first = rest.iter().all(|other| other.change.target != *target);
        // A queue may be back by now.
        let is_gone = one.outcome == UndoOutcome::Gone && target.queue().is_none();
        let is_left = is_gone || matches!(one.outcome, UndoOutcome::ChangedMeanwhile { .. });
        if target.interface().is_none() || !is_first || is_left {
            continue;
        }
        if reader.read(target).is_ok_and(|now| target.is_same(&now, before)) {
            if matches!(one.outcome, UndoOutcome::Failed { .. } | UndoOutcome::Gone) {
                one.outcome = UndoOutcome::Undone;
            }
            continue;
        }
        one.outcome = UndoOutcome::Undone;
        write_back(machine, one);
        reader = machine.reader();
    }
}
