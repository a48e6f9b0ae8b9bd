//! The hosts of a testbed as places for programs. Programs started there are bounded in time, and
//! gone with everything they started.

mod host;
mod inside;
mod prepare;
mod program;
mod remote;

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::observer::monotonic;

pub(crate) use self::host::{Host, Hosts};
pub(crate) use inside::Inside;
pub(crate) use prepare::Prepare;
pub(crate) use program::Program;
pub(crate) use remote::{PORT, Remote, shell};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// This program, for a command that is run on a host: in a guest it has another path.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Lives the life of a guest's first process, if it is one: guests that also need the shell boot
/// this program, which does what netassay does there, with the same crates.
pub(crate) fn serve_if_first_process() {
    if agent::init::is_called() {
        // If it cannot be started, nobody listens at its port, and the bench says so.
        let _ = Command::new("/init").arg("shell").spawn();
        agent::init::run(VERSION);
    }
}

/// `netassay-bench agent`: serves as netassay does in guests that boot this program.
pub(crate) fn agent() -> Result<(), Failure> {
    agent::serve(VERSION).map_err(Failure::environment)
}

/// `netassay-bench put`: writes what it reads to a file that can be executed, and makes its
/// directories.
pub(crate) fn put(path: &Path, mut from: impl Read) -> Result<(), Failure> {
    let mut put = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        io::copy(&mut from, &mut File::create(path)?)?;
        fs::set_permissions(path, Permissions::from_mode(0o755))
    };
    put().map_err(Failure::io(format!("cannot write {}", path.display())))
}

/// Counters of a network namespace as the kernel tells them, and when they were read, by the host's
/// clock (`CLOCK_MONOTONIC`).
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) at: Duration,
    /// One text for each file.
    pub(crate) texts: Vec<String>,
}

impl Reading {
    /// Reads files below `/proc/net`, as they are in the network namespace of this process.
    fn of(process: u32, files: &[impl AsRef<str>]) -> Result<Self, Failure> {
        let text = |file: &_| {
            let path = format!("/proc/{process}/net/{}", AsRef::<str>::as_ref(file));
            fs::read_to_string(&path).map_err(Failure::io(format!("cannot read {path}")))
        };
        Ok(Self { at: monotonic(), texts: files.iter().map(text).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bin/program");
        put(&path, &b"a\nb"[..]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a\nb");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        let failure = put(Path::new("/proc/no/such"), &b"c"[..]).unwrap_err();
        assert!(failure.to_string().contains("cannot write /proc/no/such"), "{failure}");
    }
}
