//! The lock by which one process at a time records into a database.
//!
//! The lock is flock(2) on a file beside the database: the kernel releases it when its process
//! ends, `kill -9` included. It is not on the database itself: closing any descriptor of that file
//! would release SQLite's own (POSIX) locks.
//!
//! Other users may be able to write to the directory, so an existing file is locked, read and
//! removed, never written: it may be a link to any file of the user.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{process, thread};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;

use crate::error::{Result, StoreError};
use crate::open::beside;

// A reader holds it for microseconds, a killed process until the kernel has cleaned up.
const PATIENCE: Duration = Duration::from_secs(1);

// The longest process id, in bytes: a lock file has no more.
const LONGEST_PID: usize = 20;

#[derive(Debug)]
pub(crate) struct CampaignLock {
    lock_path: PathBuf,
    /// Held for its lock; closed, and so unlocked, after `drop` removed the name.
    file: File,
}

impl CampaignLock {
    /// `database`: a canonical path, so that all names of the file have the same lock.
    pub(crate) fn begin(database: &Path) -> Result<CampaignLock> {
        let lock_path = lock_path(database);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (mut file, is_new) = match create(&lock_path) {
                Ok(file) => (file, true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match existing(&lock_path, database)? {
                        Some(file) => (file, false),
                        None => continue,
                    }
                }
                Err(error) => return Err(StoreError::from_creation(&lock_path, error)),
            };
            match file.try_lock() {
                // The last holder may have removed the name between our open and our lock.
                Ok(()) if !is_still_named(&file, &lock_path) => {}
                Ok(()) if is_new => {
                    // Only tells other processes who holds the lock: a full disk is no error here.
                    let _ = write!(file, "{}", process::id());
                    return Ok(CampaignLock { lock_path, file });
                }
                // Its holder was killed.
                Ok(()) => fs::remove_file(&lock_path)
                    .map_err(|source| StoreError::CannotOpen { path: lock_path.clone(), source })?,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => {
                    let pid = content(&file).and_then(|text| text.parse().ok());
                    return Err(StoreError::CampaignRunning { path: database.to_owned(), pid });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::CannotOpen { path: lock_path, source });
                }
            }
        }
    }

    pub(crate) fn is_running(database: &Path) -> bool {
        match open(&lock_path(database)) {
            Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            // A lock that cannot be opened exists: believe the status in the database.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

impl Drop for CampaignLock {
    fn drop(&mut self) {
        // A file that stays is unlocked, and the next campaign removes it.
        if is_still_named(&self.file, &self.lock_path) {
            let _ = fs::remove_file(&self.lock_path);
        }
    }
}

fn lock_path(database: &Path) -> PathBuf {
    beside(database, "-lock")
}

fn create(path: &Path) -> io::Result<File> {
    // A link counts as an existing file. Other users cannot open it: then they could lock it.
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Opens an existing file, without following a link and without waiting for the writer of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let attempt = |write: bool| OpenOptions::new().read(true).write(write).custom_flags(flags).open(path);
    // For writing: NFS gives an exclusive lock only to writers.
    match attempt(true) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => attempt(false),
        opened => opened,
    }
}

/// If it is a lock file of this user's or of the database's owner; `None` if it is gone.
fn existing(path: &Path, database: &Path) -> Result<Option<File>> {
    let refused = |what: &str| StoreError::NotALock { path: path.to_owned(), what: what.to_owned() };
    let cannot = |source| StoreError::CannotOpen { path: path.to_owned(), source };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
            return Err(refused("it is a symbolic link"));
        }
        Err(error) => return Err(cannot(error)),
    };
    let about = file.metadata().map_err(cannot)?;
    if !about.is_file() {
        return Err(refused("it is no regular file"));
    }
    let owner_of_database = fs::metadata(database).as_ref().map(Metadata::uid).ok();
    if about.uid() != geteuid().as_raw() && Some(about.uid()) != owner_of_database {
        return Err(refused(&format!("it belongs to another user (number {})", about.uid())));
    }
    if content(&file).is_none_or(|text| text.bytes().any(|byte| !byte.is_ascii_digit())) {
        return Err(refused("it holds more than the number of a process"));
    }
    Ok(Some(file))
}

fn is_still_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(named)) => held.dev() == named.dev() && held.ino() == named.ino(),
        _ => false,
    }
}

fn content(file: &File) -> Option<String> {
    let mut bytes = [0; LONGEST_PID + 1];
    let length = file.read_at(&mut bytes, 0).ok().filter(|length| *length <= LONGEST_PID)?;
    String::from_utf8(bytes[..length].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_campaign_at_a_time_and_the_other_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        assert!(!CampaignLock::is_running(&database));
        let first = CampaignLock::begin(&database).unwrap();
        assert!(CampaignLock::is_running(&database));
        match CampaignLock::begin(&database) {
            Err(StoreError::CampaignRunning { pid, .. }) => assert_eq!(pid, Some(process::id())),
            other => panic!("{other:?}"),
        }
        drop(first);
        assert!(!CampaignLock::is_running(&database));
        drop(CampaignLock::begin(&database).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "the lock file stays behind");
    }

    #[test]
    fn a_lock_file_without_its_holder_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        fs::write(lock_path(&database), "12345678").unwrap();
        assert!(!CampaignLock::is_running(&database));
        let campaign = CampaignLock::begin(&database).unwrap();
        assert_eq!(fs::read_to_string(lock_path(&database)).unwrap(), process::id().to_string());
        drop(campaign);
    }

    #[test]
    fn a_link_in_the_lock_files_place_leaves_its_target_alone() {
        let directory = tempfile::tempdir().unwrap();
        let (database, victim) = (directory.path().join("a.db"), directory.path().join("victim"));
        for (content, is_symbolic) in [("1", true), ("precious", true), ("precious", false)] {
            fs::write(&victim, content).unwrap();
            if is_symbolic {
                std::os::unix::fs::symlink(&victim, lock_path(&database)).unwrap();
            } else {
                fs::hard_link(&victim, lock_path(&database)).unwrap();
            }
            let error = CampaignLock::begin(&database).unwrap_err().to_string();
            assert!(error.contains("a.db-lock") && error.ends_with("remove it"), "{error}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), content);
            fs::remove_file(lock_path(&database)).unwrap();
        }
        // A number may be a lock's: the name goes, what it was a second name of stays.
        fs::write(&victim, "1234").unwrap();
        fs::hard_link(&victim, lock_path(&database)).unwrap();
        drop(CampaignLock::begin(&database).unwrap());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "1234");
        assert!(!lock_path(&database).exists());
    }

    #[test]
    fn a_dangling_link_in_the_lock_files_place_makes_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let (database, elsewhere) = (directory.path().join("a.db"), directory.path().join("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, lock_path(&database)).unwrap();
        let error = CampaignLock::begin(&database).unwrap_err().to_string();
        assert!(error.contains("a symbolic link"), "{error}");
        assert!(!elsewhere.exists());
    }

    #[test]
    fn a_pipe_and_a_directory_are_no_lock_files_and_are_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        nix::unistd::mkfifo(&lock_path(&database), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = CampaignLock::begin(&database).unwrap_err().to_string();
        assert!(error.contains("it is no regular file"), "{error}");
        fs::remove_file(lock_path(&database)).unwrap();
        fs::create_dir(lock_path(&database)).unwrap();
        let error = CampaignLock::begin(&database).unwrap_err().to_string();
        assert!(error.contains("a.db-lock"), "{error}");
    }

    #[test]
    fn a_lock_file_of_another_user_is_refused_and_one_of_the_databases_owner_is_not() {
        if !geteuid().is_root() {
            let _ = writeln!(io::stderr(), "SKIPPED: another user's lock file: only root gives files away");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        fs::write(&database, "").unwrap();
        fs::write(lock_path(&database), "1234").unwrap();
        std::os::unix::fs::chown(lock_path(&database), Some(65534), None).unwrap();
        let error = CampaignLock::begin(&database).unwrap_err().to_string();
        assert!(error.contains("it belongs to another user (number 65534)"), "{error}");
        std::os::unix::fs::chown(&database, Some(65534), None).unwrap();
        drop(CampaignLock::begin(&database).unwrap());
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
                        if let Ok(campaign) = CampaignLock::begin(&database) {
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
