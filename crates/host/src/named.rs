//! Files that a user names: reading them ends, in bounded memory, whatever they are.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;

/// How long a pipe may be without a writer.
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
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(Errno::EISDIR.into())
    } else {
        Err(io::Error::new(ErrorKind::InvalidInput, "it is neither a regular file nor a pipe"))
    }
}

/// Reads such a file, of at most `most` bytes.
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

/// Opening a pipe waits for its other end; only a separate thread can be left waiting.
fn open_pipe(path: &Path, patience: Duration) -> io::Result<File> {
    let (give, opened) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || give.send(File::open(path)));
    opened.recv_timeout(patience).unwrap_or_else(|_| {
        let why = format!("no data arrived on this pipe for {} s", patience.as_secs());
        Err(io::Error::new(ErrorKind::TimedOut, why))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::FileTooLarge, "it has more than 4 bytes")
        );
        // A file that grows without end, or has a terabyte of zeros.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&path, 1000).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(directory.path(), 5).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(read(&directory.path().join("none"), 5).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_device_is_refused_before_it_is_read() {
        for device in ["/dev/zero", "/dev/urandom", "/dev/null"] {
            let error = open(Path::new(device)).unwrap_err();
            assert_eq!(error.to_string(), "it is neither a regular file nor a pipe");
        }
    }

    #[test]
    fn a_pipe_is_read_if_somebody_writes_and_not_waited_for_without_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        let error = open_pipe(&path, Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);

        thread::scope(|scope| {
            scope.spawn(|| {
                // The thread of the attempt above may still wait, and get this opening too.
                let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
                thread::sleep(Duration::from_millis(300));
                pipe.write_all(b"slow").unwrap();
            });
            assert_eq!(read(&path, 100).unwrap(), b"slow");
        });
    }

    #[test]
    fn a_pipe_without_end_is_cut_off() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
                while pipe.write_all(&[b'x'; 1000]).is_ok() {}
            });
            assert_eq!(read(&path, 100_000).unwrap_err().kind(), ErrorKind::FileTooLarge);
        });
    }
}
