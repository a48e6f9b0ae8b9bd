use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::machine::MachineError;

/// Why the undo journal cannot be kept or followed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// No place for it.
    #[error(
        "cannot store the undo journal: neither XDG_STATE_HOME nor HOME is set to an absolute path; set one"
    )]
    NoPlace,
    /// A file or directory cannot be made, read, written or synced.
    #[error("cannot {action} the undo journal {}: {errno}", path.display())]
    File {
        /// What was being done.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// Somebody else may write it, so what it says cannot be trusted.
    #[error(
        "the undo journal {} is rejected, because other users can change it ({why}): inspect it, then remove it or make it yours \
         (chown, chmod go-w)",
        path.display()
    )]
    Foreign {
        /// The file or directory.
        path: PathBuf,
        /// How that shows.
        why: String,
    },
    /// One process at a time changes the machine; the journals are in this directory.
    #[error(
        "another session changes this machine, and two would undo each other's changes: try again when it has ended \
         (`netassay restore --dry-run` names its journal in {})",
        .0.display()
    )]
    Claimed(PathBuf),
    /// What a process that is gone changed is still so, says its journal.
    #[error(
        "changes of another session to this machine are not undone: {}; `netassay restore` undoes them, or says why not",
        .0.display()
    )]
    Left(PathBuf),
    /// The setting cannot be changed.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

impl JournalError {
    /// Is the place of another user, who keeps this one out? Whatever is there, this user has not
    /// written it.
    #[must_use]
    pub fn is_out_of_reach(&self) -> bool {
        matches!(self, Self::File { errno, .. } if errno.kind() == io::ErrorKind::PermissionDenied)
    }

    pub(super) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |errno| Self::File { action, path, errno }
    }
}
