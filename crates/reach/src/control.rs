//! The place of a connection's socket.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::{geteuid, mkdtemp};

use crate::error::Error;

/// A directory for the socket that sessions with one host share; it goes when this is dropped.
/// Sockets have short names (108 bytes), so it is not below a long directory of the user's.
#[derive(Debug)]
pub(crate) struct Control {
    directory: PathBuf,
}

const PREFIX: &str = "netassay-ssh-";

impl Control {
    /// One for the connection to a host, in the usual place.
    pub(crate) fn of(host: &str) -> Result<Self, Error> {
        let place = Self::parent();
        Self::make(&place).map_err(|source| Error::Control { host: host.to_owned(), place, source })
    }

    /// Makes the directory, for this user alone and under a name that nobody could have taken
    /// before, and removes those of processes that were killed.
    pub(crate) fn make(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let directory = mkdtemp(&parent.join(format!("{PREFIX}{}-XXXXXX", std::process::id())))?;
        Ok(Self { directory })
    }

    /// Where such directories are made.
    fn parent() -> PathBuf {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        runtime.filter(|path| path.is_absolute() && path.is_dir()).unwrap_or_else(std::env::temp_dir)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("s")
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        let is_over = process.is_some_and(|process| {
            process.bytes().all(|byte| byte.is_ascii_digit()) && !Path::new("/proc").join(process).exists()
        });
        // Not through a link.
        let is_ours = |about: fs::Metadata| about.is_dir() && about.uid() == geteuid().as_raw();
        if is_over && entry.metadata().is_ok_and(is_ours) {
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
        let at = |name: &str| parent.path().join(name);
        let alive = at(&format!("{PREFIX}{}-77", std::process::id()));
        // Process numbers end at 2^22.
        let dead = at(&format!("{PREFIX}4194305-0"));
        let others = [at("netassay-ssh-"), at("netassay-ssh-x-1"), at("other"), alive];
        others.iter().chain([&dead]).for_each(|path| fs::create_dir(path).unwrap());
        fs::write(dead.join("s"), "").unwrap();
        let control = Control::make(parent.path()).unwrap();
        assert!(!dead.exists() && others.iter().all(|path| path.exists()));
        assert!(control.socket().parent().unwrap().is_dir());
        let directory = control.directory.clone();
        drop(control);
        assert!(!directory.exists());
    }
}
