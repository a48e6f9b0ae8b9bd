//! The right to change the machine, or to undo changes of others: one process has it at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;

use super::{JournalError, place};

/// The right to change the machine, until it is dropped or the process ends.
///
/// It is the lock of a file beside the journals. Root's have one place in every network namespace
/// and environment, so there is one such right for the machine. The file names its holder, for the
/// message to others; only the lock counts.
#[derive(Debug)]
pub(super) struct Claim {
    _file: File,
}

/// How long a process that has undone its changes, and removed their journal, may take to exit.
const EXIT: Duration = Duration::from_secs(1);

/// The most of a holder's name that is read.
const LONGEST: u64 = 200;

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
        let path = directory.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(&path)
            .map_err(JournalError::file("open the lock of", &path))?;
        place::ours(&path, &file.metadata().map_err(JournalError::file("look at", &path))?)?;
        match file.try_lock() {
            Ok(()) => {
                // Without it the message to others is less clear, and nothing else.
                let _ = sign(&mut file);
                forget_unfinished(directory);
                Ok(Ok(Self { _file: file }))
            }
            Err(TryLockError::WouldBlock) => Ok(Err(holder(&file))),
            Err(TryLockError::Error(errno)) => Err(JournalError::file("lock", &path)(errno)),
        }
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

fn sign(file: &mut File) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    write!(file, "process {}", std::process::id())?;
    // The client of the ssh session that the process belongs to: its address, and two ports.
    let client = std::env::var("SSH_CONNECTION").unwrap_or_default();
    match client.split(' ').next().filter(|address| !address.is_empty()) {
        Some(address) => write!(file, ", by ssh from {address}"),
        None => Ok(()),
    }
}

fn holder(mut file: &File) -> String {
    let mut bytes = Vec::new();
    let _ = Read::by_ref(&mut file).take(LONGEST).read_to_end(&mut bytes);
    let name = text::reason(&String::from_utf8_lossy(&bytes));
    if name.is_empty() { "its process is unknown".to_owned() } else { name }
}
