use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why the undo journal cannot be kept or followed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A file or directory cannot be made, read, written or synced.
    #[error("cannot {action} the undo journal {}: {errno}", path.display())]
    File {
        /// The action that failed.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The kernel's error.
        errno: io::Error,
    },
    /// Anything else, which no caller tells apart: what is wrong with the journal or the setting,
    /// and the way out.
    #[error(transparent)]
    Other(#[from] crate::error::Error),
}

impl JournalError {
    /// Whether the place is another user's and closed to this one, so nothing in it is ours.
    #[must_use]
    pub fn is_out_of_reach(&self) -> bool {
        matches!(self, Self::File { errno, .. } if errno.kind() == io::ErrorKind::PermissionDenied)
    }

    pub(super) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |errno| Self::File { action, path, errno }
    }

    /// Somebody else may write the file or directory, as `why` shows, so what it says cannot be
    /// trusted.
    pub(super) fn foreign(path: &Path, why: &str) -> Self {
        Self::from(format!(
            "{} is rejected, because other users can change it ({why}): inspect it, then remove it or make it yours \
             (chown, chmod go-w)",
            path.display()
        ))
    }
}

impl From<String> for JournalError {
    fn from(what: String) -> Self {
        Self::Other(what.into())
    }
}
