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
use crate::open::sibling;

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
    sibling(database, "-lock")
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
mod tests;
