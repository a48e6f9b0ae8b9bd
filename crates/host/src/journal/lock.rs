//! A file that one process at a time has locked.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

use super::{JournalError, place};

/// The longest name of a holder that is read, in bytes.
const LONGEST_NAME: u64 = 1000;

/// The longest part of its command line that is written, in characters.
const LONGEST_COMMAND: usize = 300;

/// Takes the lock of a file, and makes the file if it is not there; or names the process that has
/// the lock. Only the lock counts: the file's text is for that message.
pub(crate) fn take(path: &Path) -> Result<Result<File, String>, JournalError> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(path)
        .map_err(JournalError::file("open the lock of", path))?;
    let about = file.metadata().map_err(JournalError::file("look at", path))?;
    place::ours(path, &about)?;
    if !about.is_file() {
        return Err(JournalError::foreign(path, "it is no regular file"));
    }
    match file.try_lock() {
        Ok(()) => {
            // Without it the message to others is less clear, and nothing else.
            let _ = sign(&mut file);
            Ok(Ok(file))
        }
        Err(TryLockError::WouldBlock) => Ok(Err(holder(&file))),
        Err(TryLockError::Error(errno)) => Err(JournalError::file("lock", path)(errno)),
    }
}

fn sign(file: &mut File) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    let mut name = format!("{}, user {}", process(std::process::id()), user());
    // The client of the ssh session that the process belongs to: its address, and two ports.
    let client = std::env::var("SSH_CONNECTION").unwrap_or_default();
    if let Some(address) = client.split(' ').next().filter(|address| !address.is_empty()) {
        name += ", by ssh from ";
        name += address;
    }
    file.write_all(name.as_bytes())
}

fn holder(mut file: &File) -> String {
    let mut bytes = Vec::new();
    let _ = Read::by_ref(&mut file).take(LONGEST_NAME).read_to_end(&mut bytes);
    let name = words::shortened_reason(&String::from_utf8_lossy(&bytes));
    if name.is_empty() { "its process is unknown".to_owned() } else { name }
}

/// A process with its command line, without the program's directory; `/proc` may hide it.
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

/// The user's name, or number where that has none.
fn user() -> String {
    let id = geteuid().to_string();
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    // passwd(5): name, password, number, …
    let name_of_user = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    };
    known.lines().find_map(name_of_user).unwrap_or(id)
}
