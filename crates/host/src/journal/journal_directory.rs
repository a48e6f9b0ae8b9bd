//! The directory of journals, and its owner.

use std::fs::Metadata;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::{getegid, geteuid};

use super::JournalError;
use crate::privileges::Privileges;

// The owner that a user namespace shows for an unknown one (`fs.overflowuid`, with its default).
const OVERFLOW: u32 = 65534;

const NO_PLACE: &str =
    "cannot store the undo journal: neither XDG_STATE_HOME nor HOME is set to an absolute path; set one";

/// The directory of this user's journals: `/var/lib/netassay/undo` for the machine's root, whatever
/// its environment says, so that every session finds the journals of others; for other users
/// `$XDG_STATE_HOME/netassay/undo`, else `~/.local/state/netassay/undo`. It may not exist yet.
///
/// # Errors
/// Without any of them.
pub fn directory() -> Result<PathBuf, JournalError> {
    // The XDG base directory specification ignores relative paths.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let root = (geteuid().is_root() && !in_user_namespace()).then(|| PathBuf::from("/var/lib"));
    let state = root
        .or_else(|| absolute("XDG_STATE_HOME"))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("netassay/undo")).ok_or_else(|| NO_PLACE.to_owned().into())
}

/// Whether root is an ordinary user of the machine, inside of a user namespace.
pub(crate) fn in_user_namespace() -> bool {
    Privileges::read().in_user_namespace == Some(true)
}

/// Makes the directory, which only this user can write, and syncs its parent.
pub(crate) fn make(directory: &Path, mode: u32) -> Result<(), JournalError> {
    let mut builder = std::fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(mode)
        .create(directory)
        .map_err(JournalError::file("make a place for", directory))?;
    if let Some(parent) = directory.parent() {
        sync(parent)?;
    }
    check(directory)
}

/// Checks that only this user can have written into the directory, and nobody can replace it.
pub(super) fn check(directory: &Path) -> Result<(), JournalError> {
    ours(directory, &look_at(directory)?)?;
    // Of a path with links, both the links and their targets count.
    let real = directory.canonicalize().map_err(JournalError::file("look at", directory))?;
    for parent in directory.ancestors().skip(1).chain(real.ancestors().skip(1)) {
        trusted(parent, &look_at(parent)?)?;
    }
    Ok(())
}

fn look_at(path: &Path) -> Result<Metadata, JournalError> {
    std::fs::symlink_metadata(path).map_err(JournalError::file("look at", path))
}

/// Checks that only this user or root can rename our files in a directory.
fn trusted(path: &Path, metadata: &Metadata) -> Result<(), JournalError> {
    let foreign = |why: String| Err(JournalError::foreign(path, &why));
    let (owner, user) = (metadata.uid(), geteuid().as_raw());
    // In a user namespace the machine's root, like everybody else, has this owner.
    let unmapped = || owner == OVERFLOW && in_user_namespace();
    if owner != 0 && owner != user && !unmapped() {
        return foreign(format!("it belongs to user {owner}, and this is user {user}"));
    }
    // Write access allows renaming, except in a sticky directory such as `/tmp`. Many users have a
    // group of their own, which may write their files.
    let own_group = metadata.gid() == getegid().as_raw();
    let writers = metadata.mode() & if own_group { 0o002 } else { 0o022 };
    if writers != 0 && metadata.mode() & 0o1000 == 0 && !metadata.is_symlink() {
        return foreign(format!("others may write it: mode {:03o}", metadata.mode() & 0o777));
    }
    Ok(())
}

pub(super) fn sync(directory: &Path) -> Result<(), JournalError> {
    let synced = std::fs::File::open(directory).and_then(|file| file.sync_all());
    synced.map_err(JournalError::file("sync the place of", directory))
}

/// Checks that a journal is ours alone: it is undone with our privileges.
pub(crate) fn ours(path: &Path, metadata: &Metadata) -> Result<(), JournalError> {
    let foreign = |why: String| Err(JournalError::foreign(path, &why));
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
