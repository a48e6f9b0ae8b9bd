//! Where journals are, and whose.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use super::JournalError;

/// The directory of this user's journals: `$XDG_STATE_HOME/netassay/undo`, else `/var/lib/netassay/undo` for root, else
/// `~/.local/state/netassay/undo`. It may not be there yet.
///
/// # Errors
/// [`JournalError::NoPlace`] without any of them.
pub fn directory() -> Result<PathBuf, JournalError> {
    // A relative path is to be ignored, says the XDG base directory specification.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| geteuid().is_root().then(|| PathBuf::from("/var/lib")))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("netassay/undo")).ok_or(JournalError::NoPlace)
}

/// Makes the directory, for us alone, and syncs the one that it is in.
pub(super) fn make(directory: &Path) -> Result<(), JournalError> {
    let mut builder = std::fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(JournalError::file("make a place for", directory))?;
    if let Some(parent) = directory.parent() {
        sync(parent)?;
    }
    ours(directory, &std::fs::symlink_metadata(directory).map_err(JournalError::file("look at", directory))?)
}

/// Brings what a directory lists onto the disk.
pub(super) fn sync(directory: &Path) -> Result<(), JournalError> {
    let synced = std::fs::File::open(directory).and_then(|file| file.sync_all());
    synced.map_err(JournalError::file("sync the place of", directory))
}

/// A journal is followed with our privileges, so nobody else may have had a hand in it.
pub(super) fn ours(path: &Path, metadata: &std::fs::Metadata) -> Result<(), JournalError> {
    let foreign = |why: String| Err(JournalError::Foreign { path: path.to_owned(), why });
    let user = geteuid().as_raw();
    if metadata.is_symlink() {
        return foreign("it is a symbolic link".to_owned());
    }
    if metadata.uid() != user {
        return foreign(format!("it belongs to user {}, and this is user {user}", metadata.uid()));
    }
    if metadata.mode() & 0o022 != 0 {
        return foreign(format!("others may write it: mode {:03o}", metadata.mode() & 0o777));
    }
    Ok(())
}
