//! The undo journal: changes outside of our namespaces and guests, on disk before they are made.
//!
//! A journal is one file of one process, in [`directory`]. Each line is a record with a checksum,
//! on disk (file and directory synced) before its action: a change is announced with the value
//! before, and the value after is noted as read back. At its end the process undoes its changes in
//! reverse order and removes the file. After a kill, [`restore`] sees by process number and start
//! time that the owner is gone, and undoes it:
//!
//! - A value that is neither the one before nor the one after is another program's, and is left
//!   with a message. If the value after is unknown, any value is set back.
//! - Settings of another network namespace are left for a session in that namespace.
//! - A damaged line is reported, and the file is kept; without the first line nothing is undone.
//! - Changes that a user wants to stay ([`Journal::keep`]) are undone on request only
//!   ([`RestoreOptions::applied`]), and no other session changes the machine until then.
//!
//! Changes may affect other settings: an MTU below 1280 bytes removes IPv6. [`Journal::cover`]
//! announces the effects (`Machine::affected_by_*`) before the causes, since an undo goes
//! backwards. Undoing a change twice is harmless, so a kill during the undo is safe too.

#![expect(missing_docs, reason = "most fields and variants are clear by their names")]

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
pub use own_journal::{Journal, PresentValue, ReadBackDifference};
pub use restore::{JournalFate, JournalReport, Process, restore, restore_of};
pub use undo::{RestoreOptions, UndoOutcome, Undoing};
