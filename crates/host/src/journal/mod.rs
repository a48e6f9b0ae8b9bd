//! The undo journal: changes outside of our namespaces and guests, on disk before they are made.
//!
//! A journal is one file of one process, in the directory [`directory`]. Each line is a record with
//! a checksum, and is on disk (file and directory synced) before its action: each change is
//! announced with the value before, and the value after is noted as read back. At its end the
//! process undoes its changes in reverse order and removes the file. A killed process leaves its
//! file; [`restore`] finds it, sees by process number and start time that its owner is gone, and
//! undoes it:
//!
//! - A value that is neither the one before nor the one after was changed by another program, and
//!   is left with a message. If the value after is unknown, because the process was killed early,
//!   any value is set back.
//! - Settings of another network namespace are invisible here: the journal is left for a session in
//!   that namespace.
//! - A damaged line is reported with its place, and the file is kept; without the first line
//!   nothing is undone.
//! - Changes that a user wants to stay ([`Journal::keep`]) are undone by a user's own request only
//!   ([`RestoreOptions::applied`]), and no other session changes the machine until then.
//! - An interface that is gone is reported, and nothing is left to undo.
//!
//! Some changes have effects on other settings: an MTU below 1280 bytes removes IPv6 from an
//! interface. [`Journal::cover`] announces the causes and the effects together
//! (`Machine::affected_by_*` list them), the effects first, since an undo goes backwards.
//!
//! Undoing a change twice is harmless, so a kill during the undo is safe too. One session at a time
//! changes the machine, with one process in each network namespace, or one process restores it.

mod claim;
pub(crate) mod directory;
mod file;
mod line;
mod own_journal;
mod restore;
#[cfg(test)]
mod tests;
mod undo;

pub use directory::directory;
#[cfg(feature = "fuzz")]
pub use line::journal_text;
pub use line::{Change, Damage, Parsed, parse};
pub use own_journal::{Difference, Journal, PresentValue};
pub use restore::{JournalFate, JournalReport, Process, restore, restore_of};
pub use undo::{RestoreOptions, UndoOutcome, Undoing};
