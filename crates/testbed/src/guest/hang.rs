//! When to give up waiting for a guest. A clock alone does not decide: on a busy machine a healthy
//! guest waits for a CPU. A guest that makes progress has time.

use std::fs;
use std::io;
use std::time::Duration;

use agent::is_vcpu;

/// Longest idle time of a booting guest's virtual CPUs. They are idle only while init waits for a
/// device (10 s).
const IDLE: Duration = Duration::from_secs(15);
/// Longest idle time of the virtual CPUs of a guest at work: it may wait for another guest.
const IDLE_AT_WORK: Duration = Duration::from_secs(60);
/// Longest work until its next report, not counting waits of the virtual CPUs for a CPU.
const BUSY_AT_WORK: Duration = Duration::from_secs(30 * 60);
/// An idle guest may use a CPU for one part in this many: its timers tick.
const TICKS: u32 = 20;
/// CPU time until the kernel must have printed something: an emulated kernel unpacks itself in 1 to
/// 3 s.
const SILENT: Duration = Duration::from_secs(20);

/// The record of a guest by which it is waited for, or given up.
#[derive(Debug)]
pub(crate) struct HangDetector {
    /// Longest time, not counting waits of the virtual CPUs for a CPU.
    most: Duration,
    idle: Duration,
    begun: Duration,
    /// Time since the start at which the virtual CPUs were last busy.
    active: Duration,
    looked: Duration,
    wanted: Duration,
}

impl HangDetector {
    pub(crate) fn for_boot(most: Duration) -> Self {
        Self { most, idle: IDLE, ..Self::for_work(Duration::ZERO) }
    }

    pub(crate) fn for_work(now: Duration) -> Self {
        let (most, idle) = (BUSY_AT_WORK, IDLE_AT_WORK);
        Self { most, idle, begun: now, active: now, looked: now, wanted: Duration::ZERO }
    }

    /// How the guest hangs; `None`: it may go on. `work`: of the virtual CPUs; `None`: they do not
    /// exist yet. `said`: the bytes that it has printed.
    pub(crate) fn look(&mut self, now: Duration, work: Option<ThreadWork>, said: u64) -> Option<String> {
        let wanted = work.map_or(Duration::ZERO, |work| work.ran + work.waited);
        let worked = wanted.saturating_sub(self.wanted) > now.saturating_sub(self.looked) / TICKS;
        if work.is_none_or(|work| work.wants) || worked {
            self.active = now;
        }
        (self.looked, self.wanted) = (now, wanted);
        let ran = work.map_or(Duration::ZERO, |work| work.ran);
        if said == 0 && ran >= SILENT {
            return Some(format!("its kernel printed nothing in {} s of CPU time", ran.as_secs()));
        }
        let idle = now.saturating_sub(self.active);
        if idle >= self.idle {
            return Some(format!("its virtual CPUs have had no work for {} s", idle.as_secs()));
        }
        let own = now - self.begun.min(now);
        let own = own.saturating_sub(work.map_or(Duration::ZERO, |work| work.waited_longest));
        (own >= self.most).then(|| {
            format!(
                "it could use a CPU for {} s, not counting the time in which it waited for one",
                own.as_secs()
            )
        })
    }
}

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
    pub(crate) ran: Duration,
    /// Time ready but without a CPU, in sum; zero where the kernel does not report it.
    pub(crate) waited: Duration,
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

    const MOST: Duration = Duration::from_secs(60);

    /// Looks each second at a guest whose virtual CPU runs and waits this many milliseconds in
    /// each, and that has printed so many bytes; returns the second of the hang, and how it hangs.
    fn hangs(
        mut detector: HangDetector,
        [ran, waited]: [u64; 2],
        wants: bool,
        said: u64,
    ) -> Option<(u64, String)> {
        (1..5000).find_map(|second| {
            let time = |milliseconds: u64| Duration::from_millis(milliseconds * second);
            let work =
                ThreadWork { ran: time(ran), waited: time(waited), waited_longest: time(waited), wants };
            Some((second, detector.look(Duration::from_secs(second), Some(work), said)?))
        })
    }

    #[test]
    fn a_guest_is_given_up_when_it_is_idle_silent_or_busy_for_too_long() {
        let [idle, silent, busy] = ["no work for", "printed nothing in", "could use a CPU for"];
        let (boot, work) = (|| HangDetector::for_boot(MOST), || HangDetector::for_work(Duration::ZERO));
        for (detector, times, wants, said, expected) in [
            (boot(), [5, 0], false, 9, (15, idle)),
            (boot(), [1000, 0], true, 9, (60, busy)),
            // A tenth of a CPU: ten times as long.
            (boot(), [100, 900], false, 9, (600, busy)),
            // Ready to run but without a CPU for long: it waits, it is not idle.
            (boot(), [0, 0], true, 9, (60, busy)),
            (boot(), [40, 40], false, 9, (63, busy)),
            (boot(), [1000, 0], true, 0, (20, silent)),
            // Seconds without a CPU are none of its time.
            (boot(), [100, 900], true, 0, (200, silent)),
            (work(), [5, 0], false, 9, (60, idle)),
            (work(), [1000, 0], true, 9, (1800, busy)),
        ] {
            let (second, how) = hangs(detector, times, wants, said).unwrap();
            assert!(second == expected.0 && how.contains(expected.1), "{expected:?}: {second} {how}");
        }
        // With a tenth of a CPU work has ten times as long.
        assert_eq!(hangs(work(), [100, 900], true, 9), None);
    }

    #[test]
    fn before_there_are_virtual_cpus_only_the_clock_tells() {
        let mut detector = HangDetector::for_boot(MOST);
        let mut at = |second| detector.look(Duration::from_secs(second), None, 0);
        assert!((1..60).all(|second| at(second).is_none()) && at(60).is_some());
    }

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
