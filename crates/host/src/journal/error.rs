use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The reason why the undo journal cannot be kept or followed.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum JournalError {
    #[error("cannot {action} the undo journal {}: {errno}", path.display())]
    File { action: &'static str, path: PathBuf, errno: io::Error },
    /// Any other error, which no caller handles apart: the fault of the journal or the setting, and
    /// the remedy.
    #[error(transparent)]
    Other(#[from] crate::error::Error),
}

impl JournalError {
    /// Whether the place is closed to this user and another user's, so that no journal in it is
    /// ours.
    #[must_use]
    pub fn is_out_of_reach(&self) -> bool {
        matches!(self, Self::File { errno, .. } if errno.kind() == io::ErrorKind::PermissionDenied)
    }

    pub(super) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |errno| Self::File { action, path, errno }
    }

    /// The error for a file or directory that another user may write, as `why` shows, so that its
    /// content cannot be trusted.
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
