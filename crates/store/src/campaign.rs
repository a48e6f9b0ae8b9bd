//! Who may record: one process per database at a time.
//!
//! The lock is flock(2) on a file beside the database, which the kernel drops with its holder, `kill -9` included. It is
//! not on the database itself, because closing any descriptor of that file would drop SQLite's own (POSIX) locks.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{process, thread};

use crate::error::StoreError;

/// How long a campaign waits for the lock: a reader holds it for microseconds while it looks, a process that was
/// just killed until the kernel has cleaned up behind it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The right to record into one database. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Campaign {
    lock_path: PathBuf,
    /// Held for its lock; closed, and so unlocked, after `drop` removed the name.
    _file: File,
}

impl Campaign {
    /// Takes the right to record into `database` (a canonical path, so that every way to the file meets the same lock).
    pub(crate) fn begin(database: &Path) -> Result<Campaign, StoreError> {
        let lock_path = lock_path(database);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&lock_path)
                .map_err(|error| StoreError::from_creation(&lock_path, error))?;
            match file.try_lock() {
                // The last holder may have removed the name between our open and our lock.
                Ok(()) if !is_still_named(&file, &lock_path) => continue,
                Ok(()) => {
                    // Only tells the process that meets the lock who holds it. A full disk is no reason to stop here.
                    let _ = file.set_len(0).and_then(|()| write!(file, "{}", process::id()));
                    return Ok(Campaign { lock_path, _file: file });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::CampaignRunning {
                        path: database.to_owned(),
                        pid: holder(&mut file),
                    });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::CannotOpen { path: lock_path, source });
                }
            }
        }
    }

    /// Whether some process records into `database` now.
    pub(crate) fn is_running(database: &Path) -> bool {
        match File::open(lock_path(database)) {
            Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            // A lock we may not even look at was made by somebody, so believe what the database says.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

impl Drop for Campaign {
    fn drop(&mut self) {
        // If it stays behind it is an unlocked file, which the next campaign takes over.
        let _ = fs::remove_file(&self.lock_path);
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = OsString::from(database);
    name.push("-lock");
    PathBuf::from(name)
}

fn is_still_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => held.dev() == named.dev() && held.ino() == named.ino(),
        _ => false,
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_campaign_at_a_time_and_the_other_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        assert!(!Campaign::is_running(&database));
        let first = Campaign::begin(&database).unwrap();
        assert!(Campaign::is_running(&database));
        match Campaign::begin(&database) {
            Err(StoreError::CampaignRunning { pid, .. }) => assert_eq!(pid, Some(process::id())),
            other => panic!("{other:?}"),
        }
        drop(first);
        assert!(!Campaign::is_running(&database));
        drop(Campaign::begin(&database).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "the lock file stays behind");
    }

    #[test]
    fn a_lock_file_without_its_holder_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        fs::write(lock_path(&database), "12345678").unwrap();
        assert!(!Campaign::is_running(&database));
        let campaign = Campaign::begin(&database).unwrap();
        assert_eq!(fs::read_to_string(lock_path(&database)).unwrap(), process::id().to_string());
        drop(campaign);
    }

    #[test]
    fn many_contenders_never_hold_it_together() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        let holders = std::sync::atomic::AtomicU32::new(0);
        let turns = std::sync::atomic::AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        if let Ok(campaign) = Campaign::begin(&database) {
                            use std::sync::atomic::Ordering::SeqCst;
                            assert_eq!(holders.fetch_add(1, SeqCst), 0);
                            turns.fetch_add(1, SeqCst);
                            assert_eq!(holders.fetch_sub(1, SeqCst), 1);
                            drop(campaign);
                        }
                    }
                });
            }
        });
        assert!(turns.into_inner() > 0);
    }
}
