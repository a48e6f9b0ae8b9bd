//! A distribution's kernel for guests, fetched once and kept beside what the tests build.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::fs::{self, File};
use std::io;
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
    if !kept(&home).join(PACKAGE).is_dir() {
        let first = fetch(&home, PACKAGE);
        if !first.status.success() {
            // A fresh machine knows no packages yet.
            let update = Command::new("apt-get").args(["-q", "update"]).output();
            let again = fetch(&home, PACKAGE);
            assert!(again.status.success(), "{}{}{update:?}", said(&first), said(&again));
        }
    }
    home
}

/// Where its kernels are.
fn kept(home: &Path) -> PathBuf {
    home.join("netassay/kernels")
}

/// The directories of [`PACKAGE`], and of another release of it: that of an older package, or of
/// another series. Which ones a distribution has changes with each of its updates.
pub(crate) fn two_directories() -> [PathBuf; 2] {
    let home = data_home();
    let first = kept(&home).join(PACKAGE);
    let own = release(&first);
    let lock = File::create(home.join("lock")).unwrap();
    lock.lock().unwrap();
    let is_another = |name: &str| {
        let release = name.strip_prefix("linux-image-").unwrap_or("").trim_end_matches("-unsigned");
        release.starts_with(|first: char| first.is_ascii_digit())
            && release.ends_with("-cloud-amd64")
            && release != own
    };
    let name_of = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut others: Vec<String> = fs::read_dir(kept(&home)).unwrap().map(name_of).collect();
    others.retain(|name| is_another(name));
    if others.is_empty() {
        let list = || Command::new("apt-cache").args(["pkgnames", "linux-image-"]).output().unwrap().stdout;
        let mut text = list();
        if text.is_empty() {
            assert!(Command::new("apt-get").args(["-q", "update"]).status().unwrap().success());
            text = list();
        }
        others = String::from_utf8(text).unwrap().lines().map(str::to_owned).collect();
        others.retain(|name| is_another(name));
        // Of the same series, and as it is booted on real machines, if there is one.
        let series = own.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
        let of_series = format!("linux-image-{series}.");
        others.sort_by_key(|name| (!name.starts_with(&of_series), name.ends_with("-unsigned")));
        let fetched = fetch(&home, &others[0]);
        assert!(fetched.status.success(), "{}", said(&fetched));
    }
    let second = kept(&home).join(&others[0]);
    [first, second]
}

/// The release of a kernel.
pub(crate) fn release(directory: &Path) -> String {
    let image = fs::read_dir(directory.join("boot")).unwrap().next().unwrap().unwrap().file_name();
    image.to_str().unwrap().strip_prefix("vmlinuz-").unwrap().to_owned()
}

/// The directory of the kernel, as a study can name it too.
pub(crate) fn directory() -> PathBuf {
    kept(&data_home()).join(PACKAGE)
}

/// A copy of [`directory`] there, where any user may read it.
pub(crate) fn copy_to(place: &Path) {
    let copied = Command::new("cp").arg("-r").arg(directory().canonicalize().unwrap()).arg(place).status();
    let copied = copied.unwrap();
    assert!(copied.success(), "cannot copy the kernel: {copied}");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn fetch(home: &Path, package: &str) -> Output {
    // Two directories above the test, also for tests of other packages.
    let netassay = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("netassay");
    let mut command = Command::new(netassay);
    command.args(["kernel", "fetch", package]).env("XDG_DATA_HOME", home).output().unwrap()
}
