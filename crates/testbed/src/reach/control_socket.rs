//! The place of a connection's socket.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::{geteuid, mkdtemp};

use crate::error::Error;

#[derive(Debug)]
pub(crate) struct ControlSocket {
    // Sockets have short names (108 bytes), so it is not below a long directory of the user's.
    directory: PathBuf,
    // Locked while it is in use: process numbers mean others in another container.
    _lock: File,
}

const PREFIX: &str = "netassay-ssh-";

impl ControlSocket {
    pub(crate) fn for_host(host: &str) -> Result<Self, Error> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let runtime = runtime.filter(|path| path.is_absolute() && path.is_dir());
        let place = runtime.unwrap_or_else(std::env::temp_dir);
        Self::make(&place).map_err(|error| {
            let place = place.display();
            Error::Failed(format!("cannot make a directory for the connection to {host} in {place}: {error}"))
        })
    }

    /// Also removes the directories of killed processes.
    pub(crate) fn make(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        loop {
            // With a random name, so that nobody could have taken it before.
            let directory = mkdtemp(&parent.join(format!("{PREFIX}XXXXXX")))?;
            // Somebody else may sweep it away before it has its lock.
            let locked = File::open(&directory).and_then(|lock| lock.lock().map(|()| lock));
            match locked {
                Ok(lock) if directory.is_dir() => return Ok(Self { directory, _lock: lock }),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("s")
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        // Not through a link.
        let is_ours = |about: fs::Metadata| about.is_dir() && about.uid() == geteuid().as_raw();
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_named || !entry.metadata().is_ok_and(is_ours) {
            continue;
        }
        // Held until it is gone.
        let lock = File::open(entry.path()).ok().filter(|lock| lock.try_lock().is_ok());
        if lock.is_some() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directories_of_the_dead_are_removed_and_nobody_elses() {
        let parent = tempfile::tempdir().unwrap();
        let alive = ControlSocket::make(parent.path()).unwrap();
        let dead = parent.path().join(format!("{PREFIX}0"));
        let other = parent.path().join("other");
        [&dead, &other].into_iter().for_each(|path| fs::create_dir(path).unwrap());
        fs::write(dead.join("s"), "").unwrap();
        let control = ControlSocket::make(parent.path()).unwrap();
        assert!(!dead.exists() && other.exists());
        assert!(alive.directory.is_dir() && control.socket().parent().unwrap().is_dir());
        let directory = control.directory.clone();
        drop(control);
        assert!(!directory.exists());
    }

    #[test]
    fn many_at_once_each_keep_their_own() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let control = ControlSocket::make(parent.path()).unwrap();
                        std::thread::yield_now();
                        assert!(control.directory.is_dir());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
