//! When to give up waiting for a guest: on a busy machine a healthy guest waits for a CPU.

use std::fs;
use std::io;
use std::time::Duration;

use agent::is_vcpu;

// The virtual CPUs of a booting guest are idle only while init waits for a device (10 s).
const IDLE: Duration = Duration::from_secs(15);
// Longest idle time of the virtual CPUs of a guest at work: it may wait for another guest.
const IDLE_AT_WORK: Duration = Duration::from_secs(60);
const BUSY_AT_WORK: Duration = Duration::from_secs(30 * 60);
// An idle guest may use a CPU for one part in this many: its timers tick.
const TICKS: u32 = 20;

#[derive(Debug)]
pub(crate) struct HangDetector {
    most: Duration,
    idle: Duration,
    begun: Duration,
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

    /// `work`: of the virtual CPUs; `None` while they do not exist.
    pub(crate) fn look(&mut self, now: Duration, work: Option<ThreadWork>) -> Option<String> {
        let wanted = work.map_or(Duration::ZERO, |work| work.ran + work.waited);
        let worked = wanted.saturating_sub(self.wanted) > now.saturating_sub(self.looked) / TICKS;
        if work.is_none_or(|work| work.wants) || worked {
            self.active = now;
        }
        (self.looked, self.wanted) = (now, wanted);
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

/// QEMU must run with `-name …,debug-threads=on`.
pub(crate) fn vcpu_threads(pid: u32) -> io::Result<Vec<u32>> {
    Ok(host::threads_named(&format!("/proc/{pid}/task"), is_vcpu)?.into_iter().collect())
}

pub(crate) fn pin(threads: &[u32], cpus: &[u32]) -> io::Result<()> {
    for (index, &thread) in threads.iter().enumerate() {
        // Single-threaded emulation has one thread for all virtual CPUs.
        let has_one_each = threads.len() > 1 && threads.len() <= cpus.len();
        let own = if has_one_each { &cpus[index..=index] } else { cpus };
        host::affinity::pin(i32::try_from(thread).map_err(io::Error::other)?, own)?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadWork {
    pub(crate) ran: Duration,
    /// Zero where the kernel does not report it.
    pub(crate) waited: Duration,
    pub(crate) waited_longest: Duration,
    pub(crate) wants: bool,
}

pub(crate) fn work_of(threads: &[u32]) -> Option<ThreadWork> {
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

/// Nanoseconds on a CPU, and waiting for one.
fn times(schedstat: &str) -> (Duration, Duration) {
    let mut numbers = schedstat.split_ascii_whitespace().map_while(|word| word.parse().ok());
    let mut next = || Duration::from_nanos(numbers.next().unwrap_or(0));
    (next(), next())
}

fn wants(stat: &str) -> bool {
    // The state is the word after the name, which may hold anything.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('R' | 'D'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(60);

    /// Looks each second at a guest whose virtual CPU runs and waits this many milliseconds in
    /// each; returns the second of the hang, and how it hangs.
    fn hangs(mut detector: HangDetector, [ran, waited]: [u64; 2], wants: bool) -> Option<(u64, String)> {
        (1..5000).find_map(|second| {
            let time = |milliseconds: u64| Duration::from_millis(milliseconds * second);
            let work =
                ThreadWork { ran: time(ran), waited: time(waited), waited_longest: time(waited), wants };
            Some((second, detector.look(Duration::from_secs(second), Some(work))?))
        })
    }

    #[test]
    fn a_guest_is_given_up_when_it_is_idle_or_busy_for_too_long() {
        let [idle, busy] = ["no work for", "could use a CPU for"];
        let (boot, work) = (|| HangDetector::for_boot(MOST), || HangDetector::for_work(Duration::ZERO));
        for (detector, times, wants, expected) in [
            (boot(), [5, 0], false, (15, idle)),
            (boot(), [1000, 0], true, (60, busy)),
            // A tenth of a CPU: ten times as long.
            (boot(), [100, 900], false, (600, busy)),
            // Ready to run but without a CPU for long: it waits, it is not idle.
            (boot(), [0, 0], true, (60, busy)),
            (boot(), [40, 40], false, (63, busy)),
            (work(), [5, 0], false, (60, idle)),
            (work(), [1000, 0], true, (1800, busy)),
        ] {
            let (second, how) = hangs(detector, times, wants).unwrap();
            assert!(second == expected.0 && how.contains(expected.1), "{expected:?}: {second} {how}");
        }
        // With a tenth of a CPU work has ten times as long.
        assert_eq!(hangs(work(), [100, 900], true), None);
    }

    #[test]
    fn before_there_are_virtual_cpus_only_the_clock_tells() {
        let mut detector = HangDetector::for_boot(MOST);
        let mut at = |second| detector.look(Duration::from_secs(second), None);
        assert!((1..60).all(|second| at(second).is_none()) && at(60).is_some());
    }

    #[test]
    fn a_threads_work_is_read() {
        assert_eq!(times("1000 20 3\n"), (Duration::from_nanos(1000), Duration::from_nanos(20)));
        assert_eq!(times(""), (Duration::ZERO, Duration::ZERO));
        assert!(wants("7 (CPU 0/TCG) R 1 7") && wants("7 (a) D 1) D 1") && !wants("7 (R) S 1") && !wants(""));
        assert!(work_of(&[std::process::id()]).unwrap().ran > Duration::ZERO);
        assert_eq!(work_of(&[]), None);
    }

    #[test]
    fn a_process_that_is_no_qemu_has_no_virtual_cpus() {
        assert!(vcpu_threads(std::process::id()).unwrap().is_empty());
        assert!(vcpu_threads(u32::MAX).is_err());
    }
}
