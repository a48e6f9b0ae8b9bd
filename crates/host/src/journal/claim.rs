//! The right to change the machine, or to undo changes of others: one process has it at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

use super::{JournalError, place};

/// The right to change the machine, until it is dropped or the process ends.
///
/// It is the lock of a file beside the journals. Root's have one place in every network namespace
/// and environment, so there is one such right for the machine.
#[derive(Debug)]
pub(super) struct Claim {
    _file: File,
}

impl Claim {
    /// Takes it; `None` if another process has it.
    pub(super) fn take(directory: &Path) -> Result<Option<Self>, JournalError> {
        let path = directory.join("lock");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(&path)
            .map_err(JournalError::file("open the lock of", &path))?;
        place::ours(&path, &file.metadata().map_err(JournalError::file("look at", &path))?)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(errno)) => Err(JournalError::file("lock", &path)(errno)),
        }
    }
}
