//! The threads of a QEMU process.

use std::fs;
use std::io;
use std::time::Duration;

use agent::is_vcpu;

/// The threads of one QEMU process by their function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Threads {
    /// Threads of the virtual CPUs: one for each, or one for all under single-threaded emulation.
    pub vcpus: Vec<u32>,
    /// Other threads: the main loop, which moves packets between tap and guest, and QEMU's helpers.
    pub io: Vec<u32>,
}

impl Threads {
    /// Reads the threads of the process `pid`, a QEMU started with `-name …,debug-threads=on`.
    pub(crate) fn read(pid: u32) -> io::Result<Self> {
        let mut threads = Self::default();
        for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
            let entry = entry?;
            let Some(thread) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // A helper may end meanwhile.
            let Ok(name) = fs::read_to_string(entry.path().join("comm")) else { continue };
            if is_vcpu(&name) { threads.vcpus.push(thread) } else { threads.io.push(thread) }
        }
        threads.vcpus.sort_unstable();
        threads.io.sort_unstable();
        Ok(threads)
    }

    /// The work of the virtual CPUs since their start; `None` without any.
    pub(crate) fn work(&self) -> Option<ThreadWork> {
        work_of(&self.vcpus)
    }

    /// The sum of all threads' waits for a CPU since their start, an upper bound.
    pub(crate) fn waited(&self) -> Duration {
        work_of(&self.vcpus).into_iter().chain(work_of(&self.io)).map(|work| work.waited).sum()
    }

    /// Pins each virtual CPU's thread to one of `cpus`, or to all of them if there are more threads
    /// than CPUs.
    pub(crate) fn pin(&self, cpus: &[u32]) -> io::Result<()> {
        for (index, &thread) in self.vcpus.iter().enumerate() {
            let own = if self.vcpus.len() > cpus.len() || self.vcpus.len() == 1 {
                cpus
            } else {
                &cpus[index..=index]
            };
            host::affinity::pin(i32::try_from(thread).map_err(io::Error::other)?, own)?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadWork {
    /// Time on a CPU, in sum.
    pub(crate) ran: Duration,
    /// Time ready but without a CPU, in sum; zero where the kernel does not report it.
    pub(crate) waited: Duration,
    /// The longest wait of a single thread.
    pub(crate) waited_longest: Duration,
    /// Whether one runs, is ready to run, or waits for the disk.
    pub(crate) wants: bool,
}

fn work_of(threads: &[u32]) -> Option<ThreadWork> {
    let mut all: Option<ThreadWork> = None;
    for thread in threads {
        // The kernel shows a thread's directory under this name too, though it does not list it.
        let read = |file: &str| fs::read_to_string(format!("/proc/{thread}/{file}")).unwrap_or_default();
        let sum = all.get_or_insert_default();
        let (ran, waited) = times(&read("schedstat"));
        sum.ran += ran;
        sum.waited += waited;
        sum.waited_longest = sum.waited_longest.max(waited);
        sum.wants |= wants(&read("stat"));
    }
    all
}

/// The first two numbers of a `schedstat`: nanoseconds on a CPU, and waiting for one.
fn times(schedstat: &str) -> (Duration, Duration) {
    let mut numbers = schedstat.split_ascii_whitespace().map_while(|word| word.parse().ok());
    let mut next = || Duration::from_nanos(numbers.next().unwrap_or(0));
    (next(), next())
}

/// Whether the state in a thread's `stat` (the word after its name, which may hold anything) means
/// work.
fn wants(stat: &str) -> bool {
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('R' | 'D'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_work_is_read() {
        assert_eq!(times("1000 20 3\n"), (Duration::from_nanos(1000), Duration::from_nanos(20)));
        assert_eq!(times(""), (Duration::ZERO, Duration::ZERO));
        assert!(wants("7 (CPU 0/TCG) R 1 7") && wants("7 (a) D 1) D 1") && !wants("7 (R) S 1") && !wants(""));
        let own = Threads { vcpus: vec![std::process::id()], io: Vec::new() };
        assert!(own.work().unwrap().ran > Duration::ZERO);
        assert_eq!(Threads::default().work(), None);
    }

    #[test]
    fn a_process_that_is_no_qemu_has_only_other_threads() {
        let threads = Threads::read(std::process::id()).unwrap();
        assert!(threads.vcpus.is_empty() && threads.io.contains(&std::process::id()));
        assert!(Threads::read(u32::MAX).is_err());
    }
}
