//! Files that a user names: reading them ends, in bounded memory, and writing reaches no other.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;

// The longest wait for the writer of a pipe.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a regular file, or a pipe (such as a shell's `<(…)`) with a writer. Follows links.
///
/// # Errors
/// The kernel's error; `InvalidInput` for a device or a socket, and `TimedOut` for a pipe without a
/// writer within 10 s.
pub fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.file_type().is_fifo() {
        return open_pipe(path, PATIENCE);
    }
    // If it has become a pipe meanwhile, opening it does not wait.
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_file() => Ok(file),
        kind if kind.is_dir() => Err(Errno::EISDIR.into()),
        _ => Err(io::Error::new(ErrorKind::InvalidInput, "it is neither a regular file nor a pipe")),
    }
}

/// Reads a file or pipe of at most `most` bytes.
///
/// # Errors
/// As [`open`]; `FileTooLarge` for a larger one.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The result of an operation on a file; `None` if there is no such file.
pub fn if_present<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

fn open_pipe(path: &Path, patience: Duration) -> io::Result<File> {
    // Opening a pipe waits for its other end, and only a separate thread can be left waiting.
    let (give, opened) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || give.send(File::open(path)));
    opened.recv_timeout(patience).unwrap_or_else(|_| {
        let why = format!("no data arrived on this pipe for {} s", patience.as_secs());
        Err(io::Error::new(ErrorKind::TimedOut, why))
    })
}

/// The files that a new file may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayReplace {
    /// No file.
    Nothing,
    /// A regular file of this user: for names that others can guess.
    OwnFile,
    /// Any file named by `-o`, also a link, pipe or device; not one that another user planted.
    NamedByUser,
}

/// Writes a file under another name first: a reader finds the old file or the whole new one.
///
/// # Errors
/// The kernel's error; `PermissionDenied` for what may not be written over, `InvalidInput` for a
/// database.
pub fn write(path: &Path, bytes: &[u8], may_replace: MayReplace) -> io::Result<()> {
    let mut place = path.to_owned();
    match may_replace {
        MayReplace::Nothing => return File::create_new(path)?.write_all(bytes),
        MayReplace::OwnFile => check_own(path)?,
        MayReplace::NamedByUser => {
            refuse_planted(path)?;
            match fs::metadata(path) {
                Ok(about) if about.is_dir() => return Err(Errno::EISDIR.into()),
                Ok(about) if !about.is_file() => {
                    return OpenOptions::new().write(true).open(path)?.write_all(bytes);
                }
                Ok(_) => place = path.canonicalize()?,
                Err(_) => {}
            }
        }
    }
    if is_database(&place) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is a database: name another file"));
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let aside = place.with_file_name(format!(".netassay-{}-{}.tmp", process::id(), since.as_nanos()));
    // In the same directory, so that it can be renamed.
    let mut file = File::create_new(&aside)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&aside, &place));
    if written.is_err() {
        let _ = fs::remove_file(&aside);
    }
    written
}

/// Refuses a file that another user, not the directory's owner, put into a directory that others
/// may write. A link there may lead to any file, and a pipe may have no reader.
pub fn refuse_planted(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = fs::metadata(parent.unwrap_or(Path::new(".")));
    let (Ok(about), Ok(directory)) = (fs::symlink_metadata(path), directory) else { return Ok(()) };
    // A group may share regular files.
    let others = if about.is_file() { 0o002 } else { 0o022 };
    if directory.mode() & others == 0 || [geteuid().as_raw(), directory.uid()].contains(&about.uid()) {
        return Ok(());
    }
    Err(refusal(&format!("{}, in a directory that others may write", belongs(&about))))
}

fn check_own(path: &Path) -> io::Result<()> {
    let Some(about) = if_present(fs::symlink_metadata(path))? else { return Ok(()) };
    match about.file_type() {
        kind if kind.is_dir() => Err(Errno::EISDIR.into()),
        kind if kind.is_symlink() => Err(refusal("it is a symbolic link")),
        kind if !kind.is_file() => Err(refusal("it is no regular file")),
        _ if about.uid() != geteuid().as_raw() => Err(refusal(&belongs(&about))),
        _ => Ok(()),
    }
}

fn belongs(about: &fs::Metadata) -> String {
    format!("it belongs to another user (number {})", about.uid())
}

fn refusal(why: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, format!("{why}: name another file, or remove it"))
}

/// SQLite's header (<https://sqlite.org/fileformat.html>, section 1.3).
fn is_database(path: &Path) -> bool {
    let mut begin = [0; 16];
    let read = open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *b"SQLite format 3\0"
}

#[cfg(test)]
mod tests;
