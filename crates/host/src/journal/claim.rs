//! The right to change the machine, or to undo changes of others: one process has it at a time.

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::{JournalError, lock};

/// The right to change the machine, until it is dropped or the process ends.
///
/// It is the lock of a file beside the journals. Root's have one place in every network namespace
/// and environment, so there is one such right for the machine.
#[derive(Debug)]
pub(super) struct Claim {
    _file: File,
}

/// How long a process that has undone its changes, and removed their journal, may take to exit.
const EXIT: Duration = Duration::from_secs(1);

impl Claim {
    /// Takes the right, after waiting up to [`EXIT`] for a holder that is about to exit; or the
    /// name of the process that keeps it.
    pub(super) fn await_free(directory: &Path) -> Result<Result<Self, String>, JournalError> {
        let begun = Instant::now();
        loop {
            let taken = Self::take(directory)?;
            if taken.is_ok() || begun.elapsed() > EXIT {
                return Ok(taken);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Takes it; or the name of the process that has it.
    pub(super) fn take(directory: &Path) -> Result<Result<Self, String>, JournalError> {
        let taken = lock::take(&directory.join("lock"))?;
        Ok(taken.map(|file| {
            forget_unfinished(directory);
            Self { _file: file }
        }))
    }
}

/// Removes journals whose makers were killed before they had a name: nothing was changed under
/// them. Only the holder of the claim makes any.
fn forget_unfinished(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let unfinished =
        entries.map(|entry| entry.path()).filter(|path| path.extension() == Some("new".as_ref()));
    // What cannot be removed is in nobody's way.
    unfinished.for_each(|path| drop(std::fs::remove_file(path)));
}
