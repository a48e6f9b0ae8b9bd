//! The right to change the machine: one session's, in each network namespace one process's.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::directory::lock;
use crate::error::{Error, LockHolder};

// Root's journals have one place in all network namespaces, so there is one right for the machine.
// Both ends of a session may have that place: each locks a file named by session and network
// namespace. Whoever locks such a file, or looks at others', holds the lock of `lock` meanwhile; an
// undo for all sessions holds it until it ends.
#[derive(Debug)]
pub(super) struct Claim {
    _file: File,
    /// The locked file of a session's end; `None` for an undo of all sessions.
    own: Option<PathBuf>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let Some(own) = &self.own else { return };
        // Nobody locks the file meanwhile; if it cannot be removed, it goes with the next claim.
        if let Ok(Ok(_look)) = lock(&own.with_file_name("lock")) {
            let _ = std::fs::remove_file(own);
        }
    }
}

// The length of a session's number and the hyphen behind it in the name of a lock file.
const SESSION: usize = 17;

/// The name of the lock file of a session's end, with the digits of `net:[4026531840]`.
pub(super) fn session_end(session: u64, network: &str) -> String {
    let network: String = network.chars().filter(char::is_ascii_digit).collect();
    format!("{session:016x}-{network}.claim")
}

/// The longest wait for a process that has removed its journal and exits.
pub(super) const EXIT: Duration = Duration::from_secs(1);

impl Claim {
    pub(super) fn await_free(
        directory: &Path,
        end: &str,
        patience: Duration,
    ) -> Result<Result<Self, LockHolder>, Error> {
        let begun = Instant::now();
        loop {
            let taken = Self::take(directory, Some(end))?;
            if taken.is_ok() || begun.elapsed() >= patience {
                return Ok(taken);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Takes the right for a session's end, or for all; or names the process that has it.
    pub(super) fn take(directory: &Path, end: Option<&str>) -> Result<Result<Self, LockHolder>, Error> {
        let look = match lock(&directory.join("lock"))? {
            Ok(look) => look,
            Err(holder) => return Ok(Err(holder)),
        };
        let own = end.map(|end| directory.join(end));
        let is_of_session = |claimed: &Path| {
            let name = claimed.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            end.is_some_and(|end| name.starts_with(&end[..SESSION]))
        };
        let mut is_alone = true;
        for claimed in paths(directory, "claim").filter(|path| Some(path) != own.as_ref()) {
            match lock(&claimed)? {
                // Its process is gone. A file that cannot be removed is in nobody's way.
                Ok(_file) => drop(std::fs::remove_file(&claimed)),
                Err(_) if is_of_session(&claimed) => is_alone = false,
                Err(holder) => return Ok(Err(holder)),
            }
        }
        let Some(own) = own else {
            forget_unfinished(directory);
            return Ok(Ok(Self { _file: look, own: None }));
        };
        let taken = lock(&own)?;
        if taken.is_ok() && is_alone {
            forget_unfinished(directory);
        }
        // Other processes may look only now.
        drop(look);
        Ok(taken.map(|file| Self { _file: file, own: Some(own) }))
    }
}

fn paths(directory: &Path, extension: &'static str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(move |path| path.extension() == Some(extension.as_ref()))
}

/// Removes journals that have no name yet.
fn forget_unfinished(directory: &Path) {
    // Only holders of a claim make any, so none is being made now: their makers were killed.
    // A file that cannot be removed is in nobody's way.
    paths(directory, "new").for_each(|path| drop(std::fs::remove_file(path)));
}
