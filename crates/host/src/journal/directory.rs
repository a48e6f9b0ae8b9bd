//! The directory of journals, its owner, and files there that one process at a time has locked.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::{getegid, geteuid};

use crate::error::{Error, LockHolder};
use crate::privileges::Privileges;

// The owner that a user namespace shows for an unknown one (`fs.overflowuid`, with its default).
const OVERFLOW: u32 = 65534;

const NO_PLACE: &str =
    "cannot store the undo journal: neither XDG_STATE_HOME nor HOME is set to an absolute path; set one";

/// The directory of this user's journals: `/var/lib/netassay/undo` for the machine's root,
/// `$XDG_STATE_HOME/netassay/undo`, else `~/.local/state/netassay/undo`, for other users. It may
/// not exist yet.
///
/// # Errors
/// Without any of them.
pub fn directory() -> Result<PathBuf, Error> {
    // The XDG base directory specification ignores relative paths.
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    // Whatever root's environment says, so that every session finds the journals of others.
    let root = (geteuid().is_root() && !in_user_namespace()).then(|| PathBuf::from("/var/lib"));
    let state = root
        .or_else(|| absolute("XDG_STATE_HOME"))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("netassay/undo")).ok_or_else(|| NO_PLACE.into())
}

pub(crate) fn in_user_namespace() -> bool {
    Privileges::read().in_user_namespace == Some(true)
}

pub(crate) fn make(directory: &Path, mode: u32) -> Result<(), Error> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(directory)
        .map_err(Error::journal("make a place for", directory))?;
    // Otherwise a power failure could lose the directory, and with it the journals.
    if let Some(parent) = directory.parent() {
        sync(parent)?;
    }
    check(directory)
}

/// Checks that only this user can have written into the directory, and nobody can replace it.
pub(super) fn check(directory: &Path) -> Result<(), Error> {
    check_ours(directory, &look_at(directory)?)?;
    // Of a path with links, both the links and their targets count.
    let real = directory.canonicalize().map_err(Error::journal("look at", directory))?;
    for parent in directory.ancestors().skip(1).chain(real.ancestors().skip(1)) {
        check_trusted(parent, &look_at(parent)?)?;
    }
    Ok(())
}

fn look_at(path: &Path) -> Result<Metadata, Error> {
    fs::symlink_metadata(path).map_err(Error::journal("look at", path))
}

/// Checks that only this user or root can rename our files in a directory.
fn check_trusted(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    let foreign = |why: String| Err(Error::foreign(path, &why));
    let (owner, user) = (metadata.uid(), geteuid().as_raw());
    // In a user namespace the machine's root, like everybody else, has this owner.
    let unmapped = || owner == OVERFLOW && in_user_namespace();
    if owner != 0 && owner != user && !unmapped() {
        return foreign(format!("it belongs to user {owner}, and this is user {user}"));
    }
    // Write access allows renaming, except in a sticky directory; a user's own group may write.
    let own_group = metadata.gid() == getegid().as_raw();
    let writers = metadata.mode() & if own_group { 0o002 } else { 0o022 };
    if writers != 0 && metadata.mode() & 0o1000 == 0 && !metadata.is_symlink() {
        return foreign(format!("others may write it: mode {:03o}", metadata.mode() & 0o777));
    }
    Ok(())
}

pub(super) fn sync(directory: &Path) -> Result<(), Error> {
    let synced = File::open(directory).and_then(|file| file.sync_all());
    synced.map_err(Error::journal("sync the place of", directory))
}

fn check_ours(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    let foreign = |why: String| Err(Error::foreign(path, &why));
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

// The longest name of a holder that is read, in bytes.
const LONGEST_NAME: u64 = 1000;

// The longest part of its command line that is written, in characters.
const LONGEST_COMMAND: usize = 300;

// More than any study changes: a larger file is not our journal, and none is made.
pub(super) const LARGEST: u64 = 16 << 20;

pub(super) fn open_ours(path: &Path, is_lock: bool) -> Result<File, Error> {
    // A link could lead to any file, and opening a pipe would wait for its other end. The text of a
    // lock is its holder's, so that it stays until the lock is ours.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(is_lock)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(path)
        .map_err(Error::journal(if is_lock { "open the lock of" } else { "open" }, path))?;
    let about = file.metadata().map_err(Error::journal("look at", path))?;
    check_ours(path, &about)?;
    if !about.is_file() || about.len() > LARGEST {
        let why = format!("it is not a regular file of at most {LARGEST} bytes");
        return Err(Error::foreign(path, &why));
    }
    Ok(file)
}

pub(super) fn try_lock(file: &File, path: &Path) -> Result<bool, Error> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(errno)) => Err(Error::journal("lock", path)(errno)),
    }
}

/// Locks a file, made if it is missing; or names the process that has it.
pub(crate) fn lock(path: &Path) -> Result<Result<File, LockHolder>, Error> {
    let mut file = open_ours(path, true)?;
    if !try_lock(&file, path)? {
        // A refused lock does not tell whose it is, so each holder signs the file.
        return Ok(Err(holder(&file)));
    }
    // Without the text the message to others is less clear; the lock is the same.
    let _ = sign(&mut file);
    Ok(Ok(file))
}

fn sign(file: &mut File) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    write!(file, "{}, user {}", process(std::process::id()), geteuid())?;
    // The client of the ssh session that the process belongs to: its address, and two ports.
    let client = std::env::var("SSH_CONNECTION").unwrap_or_default();
    match client.split(' ').next() {
        None | Some("") => Ok(()),
        Some(address) => write!(file, ", by ssh from {address}"),
    }
}

fn holder(mut file: &File) -> LockHolder {
    let mut bytes = Vec::new();
    let _ = Read::by_ref(&mut file).take(LONGEST_NAME).read_to_end(&mut bytes);
    let name = words::shortened_reason(&String::from_utf8_lossy(&bytes));
    LockHolder(if name.is_empty() { "its process is unknown".to_owned() } else { name })
}

pub(crate) fn process(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let mut words = line.split_terminator('\0');
    let program = words.next().and_then(|program| program.rsplit('/').next());
    let Some(program) = program else { return format!("process {pid}") };
    let words: Vec<&str> = std::iter::once(program).chain(words).collect();
    let command: String = words.join(" ").chars().take(LONGEST_COMMAND).collect();
    format!("process {pid} ({})", words::sanitised_line(&command))
}
