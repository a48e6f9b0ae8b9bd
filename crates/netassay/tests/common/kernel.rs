//! A distribution's kernel for guests, fetched once and kept beside what the tests build.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A kernel for virtual machines: small, quick to boot, with all that the scenarios need as
/// modules.
pub(crate) const PACKAGE: &str = "linux-image-cloud-amd64";

/// What `XDG_DATA_HOME` must be for netassay to find the kernel as [`PACKAGE`]. It is fetched if it
/// is not there.
pub(crate) fn data_home() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("data");
    fs::create_dir_all(&home).unwrap();
    // Tests are processes, and the first one fetches for all.
    let lock = File::create(home.join("lock")).unwrap();
    lock.lock().unwrap();
    if !home.join("netassay/kernels").join(PACKAGE).is_dir() {
        let first = fetch(&home);
        if !first.status.success() {
            // A fresh machine knows no packages yet.
            let update = Command::new("apt-get").args(["-q", "update"]).output();
            let again = fetch(&home);
            let why = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(again.status.success(), "{}{}{update:?}", why(&first), why(&again));
        }
    }
    home
}

/// The directory of the kernel, as a study can name it too.
pub(crate) fn directory() -> PathBuf {
    data_home().join("netassay/kernels").join(PACKAGE)
}

fn fetch(home: &Path) -> Output {
    // Two directories above the test, also for tests of other packages.
    let netassay = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("netassay");
    let mut command = Command::new(netassay);
    command.args(["kernel", "fetch", PACKAGE]).env("XDG_DATA_HOME", home).output().unwrap()
}
