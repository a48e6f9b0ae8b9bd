//! A group of processes that give way to all others, for tests that no clock decides.

use std::fs;
use std::path::{Path, PathBuf};

/// What names it to `tests/behind`, which puts a test into it.
pub(crate) const VARIABLE: &str = "NETASSAY_TESTS_BEHIND";
const NAME: &str = "netassay-tests-behind";

/// The group: where others want the CPUs, its processes together get half of what one session gets.
/// Not less: a guest that does not answer for a minute is taken for lost.
///
/// A nice value would not do: an agent begins a session, and the kernel shares the CPUs out to
/// sessions first ("autogroup" in sched(7)).
pub(crate) struct Behind {
    directory: PathBuf,
}

impl Behind {
    /// `None` where this machine lets us make none: then nobody gives way.
    pub(crate) fn make() -> Option<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let first = ["cpu", "cpu,cpuacct"].map(|one| root.join(one));
        let legacy = first.into_iter().find(|one| one.join("cpu.shares").exists());
        // The weight of others by default: 1024 and 100.
        let (parent, file, weight) = match legacy {
            Some(parent) => (parent, "cpu.shares", "512"),
            None => (root.to_path_buf(), "cpu.weight", "50"),
        };
        let directory = parent.join(NAME);
        if !directory.exists() {
            fs::create_dir(&directory).ok()?;
        }
        let behind = Self { directory };
        fs::write(behind.directory.join(file), weight).ok()?;
        Some(behind)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // A process of a test that just ended may still be in it; then the next run finds it.
        let _ = fs::remove_dir(&self.directory);
    }
}
