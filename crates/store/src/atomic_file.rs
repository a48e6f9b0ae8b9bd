//! A file that is written beside its place and moved there when it is whole.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

use crate::campaign_lock::CampaignLock;
use crate::error::StoreError;

/// The right to make one file, and the place where it is written until then. What is there is
/// removed at the end.
pub(crate) struct AtomicFile {
    pub(crate) path: PathBuf,
    /// Held to the end: no other process writes there.
    _right: CampaignLock,
}

impl AtomicFile {
    /// Begins a file that must not exist. A rest that a killed process left is removed.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`], [`StoreError::CampaignRunning`]; otherwise errors of creation.
    pub(crate) fn begin(file: &Path) -> Result<AtomicFile, StoreError> {
        if fs::symlink_metadata(file).is_ok() {
            return Err(StoreError::AlreadyThere { path: file.to_owned() });
        }
        let name = file.file_name().ok_or_else(|| {
            StoreError::from_creation(
                file,
                io::Error::new(ErrorKind::InvalidInput, "it is no name of a file"),
            )
        })?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        let right = CampaignLock::begin(&file.with_file_name(&hidden))?;
        hidden.push(".part");
        let aside = AtomicFile { path: file.with_file_name(hidden), _right: right };
        aside.clear().map_err(|error| StoreError::from_creation(&aside.path, error))?;
        Ok(aside)
    }

    /// Moves the file to its place.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`] if another process made a file there; else errors of creation.
    pub(crate) fn publish(self, file: &Path) -> Result<(), StoreError> {
        let moved = match renameat2(AT_FDCWD, &self.path, AT_FDCWD, file, RenameFlags::RENAME_NOREPLACE) {
            // A file system that cannot promise not to replace: the check at the beginning must do.
            Err(Errno::EINVAL | Errno::ENOSYS) => fs::rename(&self.path, file),
            moved => moved.map_err(io::Error::from),
        };
        moved.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => StoreError::AlreadyThere { path: file.to_owned() },
            _ => StoreError::from_creation(file, error),
        })
    }

    /// Removes the file, its journal and the lock of who wrote it.
    fn clear(&self) -> io::Result<()> {
        for ending in ["", "-journal", "-lock"] {
            let mut name = OsString::from(&self.path);
            name.push(ending);
            match fs::remove_file(PathBuf::from(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // A file that cannot be removed now is removed by the next packing.
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_in_its_place_or_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.db");
        let there = || fs::read_dir(directory.path()).unwrap().flatten().count();
        let aside = AtomicFile::begin(&file).unwrap();
        fs::write(&aside.path, "half").unwrap();
        assert!(matches!(AtomicFile::begin(&file), Err(StoreError::CampaignRunning { .. })));
        drop(aside);
        assert_eq!(there(), 0, "what was not published stays");
        // As a killed process leaves it.
        for name in [".a.db.part", ".a.db.part-journal", ".a.db.part-lock"] {
            fs::write(directory.path().join(name), "1").unwrap();
        }
        let aside = AtomicFile::begin(&file).unwrap();
        fs::write(&aside.path, "whole").unwrap();
        aside.publish(&file).unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), there()), ("whole", 1));
        assert!(matches!(AtomicFile::begin(&file), Err(StoreError::AlreadyThere { .. })));
    }

    #[test]
    fn a_file_that_another_process_made_meanwhile_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.db");
        let aside = AtomicFile::begin(&file).unwrap();
        fs::write(&aside.path, "mine").unwrap();
        fs::write(&file, "theirs").unwrap();
        assert!(matches!(aside.publish(&file), Err(StoreError::AlreadyThere { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
