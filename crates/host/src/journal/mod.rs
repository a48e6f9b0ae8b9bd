//! The undo journal: what was changed outside of our own namespaces and guests, on disk before it
//! is changed.
//!
//! A journal is one file of one process, in the directory that [`directory`] names. Each line is a
//! record of its own, with a sum over it, and is on disk (file and directory synced) before what it
//! tells is done: each change is announced with the value before, and the value after is noted as
//! it was read back. At its end the process undoes its changes in reverse order and removes the
//! file. A process that is killed leaves its file; [`restore`] finds it, sees by process number and
//! start time that nobody owns it any more, and undoes what it tells:
//!
//! - A value that is neither the one before nor the one after was changed by somebody else
//!   meanwhile. It is left, and said. Where the process was killed before the value after was
//!   known, whatever is there is set back.
//! - A machine that was started anew since has lost every such change, so that nothing is to be
//!   undone.
//! - Settings of another network namespace cannot be seen from here, so the journal is left for a
//!   session in that namespace.
//! - A line that cannot be read is told with its place, and the file is kept; without the first
//!   line nothing is undone.
//! - A file that is no journal of ours is told and left, and the others are followed.
//!
//! Undoing a change twice does no harm, so being killed while undoing loses nothing either. One
//! process at a time changes the machine or restores it.

mod claim;
mod error;
mod file;
mod line;
mod owner;
mod place;
mod restore;
#[cfg(test)]
mod tests;
mod undo;
#[cfg(feature = "fuzz")]
mod written;

pub use error::JournalError;
pub use line::{Change, Damage, Parsed, parse};
pub use owner::Journal;
pub use place::directory;
pub use restore::{Fate, Report, restore};
pub use undo::{Manner, Outcome, Undoing};
#[cfg(feature = "fuzz")]
pub use written::written;
