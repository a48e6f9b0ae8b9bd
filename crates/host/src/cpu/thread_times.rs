//! What single threads and this process did with the CPUs.

use serde::{Deserialize, Serialize};

use crate::cpu::times::tick;
use crate::error::Error;

/// CPU time of one thread, in nanoseconds since it began, or between two readings.
///
/// `/proc/PID/task/TID/schedstat` tells the time on a CPU and the time waiting for one by the
/// scheduler's own clock. What of it was user and what kernel space comes from
/// `/proc/PID/task/TID/stat`, in units of 10 ms (`USER_HZ`), and most kernels find it by looking at
/// each timer tick, so the split of a short window is coarse where the sum is not. Of a thread that
/// is on a CPU right now the time up to the last tick (1 to 10 ms) is told; of one that waits for a
/// CPU right now, nothing of this wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadTimes {
    /// On a CPU. On kernels that do not count interrupts apart (`CONFIG_IRQ_TIME_ACCOUNTING`), with
    /// the interrupts and software interrupts that broke in.
    pub running_ns: u64,
    /// Of it, in user mode; coarse.
    pub user_ns: u64,
    /// Of it, in the kernel; coarse.
    pub system_ns: u64,
    /// Ready to run, but waiting for a CPU; 0 where the kernel does not tell.
    pub waiting_ns: u64,
}

impl ThreadTimes {
    /// Reads those of a thread of this process, by the number that the kernel knows it by.
    ///
    /// # Errors
    /// [`Error::Read`] if there is no such thread (any more); or the kernel writes them in another
    /// form.
    pub fn read(thread: u32) -> Result<Self, Error> {
        Self::read_from(&format!("/proc/self/task/{thread}"))
    }

    /// Reads those of the thread whose directory in `/proc` this is.
    pub(crate) fn read_from(directory: &str) -> Result<Self, Error> {
        let path = format!("{directory}/stat");
        let stat = std::fs::read(&path).map_err(|errno| Error::Read { path: path.into(), errno })?;
        // Not every kernel has it.
        let schedstat = std::fs::read_to_string(format!("{directory}/schedstat")).unwrap_or_default();
        Self::parse(&stat, &schedstat, tick()?).ok_or_else(|| {
            format!("cannot parse {directory}/stat: it has no user and system time where it should").into()
        })
    }

    /// Reads the texts of `stat`, whose unit is `tick` nanoseconds, and of `schedstat`. `None` if
    /// the first is not what the kernel writes; the second may be missing or anything.
    #[must_use]
    pub fn parse(stat: &[u8], schedstat: &str, tick: u64) -> Option<Self> {
        // pid (name) state ppid …: the name may hold anything, so the fields are counted from its
        // end. The 14th and 15th of them all are utime and stime.
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<u64>().ok().map(|ticks| ticks.saturating_mul(tick));
        let (user_ns, system_ns) = (next()?, next()?);
        let mut numbers = schedstat.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let running_ns = next().unwrap_or_else(|| user_ns.saturating_add(system_ns));
        Some(Self { running_ns, user_ns, system_ns, waiting_ns: next().unwrap_or(0) })
    }

    /// What passed since `earlier`; a part that went backwards counts as nothing (the kernel's
    /// split of user and system may).
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            running_ns: self.running_ns.saturating_sub(earlier.running_ns),
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            waiting_ns: self.waiting_ns.saturating_sub(earlier.waiting_ns),
        }
    }

    /// Of two threads together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            running_ns: self.running_ns.saturating_add(other.running_ns),
            user_ns: self.user_ns.saturating_add(other.user_ns),
            system_ns: self.system_ns.saturating_add(other.system_ns),
            waiting_ns: self.waiting_ns.saturating_add(other.waiting_ns),
        }
    }

    /// Of several threads together.
    #[must_use]
    pub fn sum(each: &[Self]) -> Self {
        each.iter().fold(Self::default(), |sum, times| sum.plus(times))
    }

    /// Time in which the thread wanted a CPU, whether it had one or not.
    #[must_use]
    pub fn wanted_ns(&self) -> u64 {
        self.running_ns.saturating_add(self.waiting_ns)
    }
}

/// CPU time of this process, all of its threads (those that ended too), in nanoseconds since it
/// began or between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessTimes {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl ProcessTimes {
    /// Reads those of this process; the sum of the two is exact, their split coarse (see
    /// [`ThreadTimes`]).
    #[must_use]
    pub fn read() -> Self {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike;
        let nanoseconds = |time: nix::sys::time::TimeVal| {
            u64::try_from(time.num_microseconds()).unwrap_or(0).saturating_mul(1000)
        };
        getrusage(UsageWho::RUSAGE_SELF)
            .map(|usage| Self {
                user_ns: nanoseconds(usage.user_time()),
                system_ns: nanoseconds(usage.system_time()),
            })
            .unwrap_or_default()
    }

    /// What passed since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }

    /// Both together.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    const TICK: u64 = 10_000_000;

    #[test]
    fn the_times_are_found_behind_any_name() {
        let stat = b"4711 (a) R 3 (b) S 1 2 3 0 -1 4194368 97 0 0 0 30 12 0 0 20 0 1 0 5 6 7\n";
        let times = ThreadTimes::parse(stat, "424000000 77 12\n", TICK).unwrap();
        let expected =
            ThreadTimes { running_ns: 424_000_000, user_ns: 30 * TICK, system_ns: 12 * TICK, waiting_ns: 77 };
        assert_eq!(times, expected);
        assert_eq!(times.wanted_ns(), 424_000_077);
        // Without the scheduler's word the ticks stand for it.
        let coarse = ThreadTimes::parse(stat, "", TICK).unwrap();
        assert_eq!((coarse.running_ns, coarse.waiting_ns), (42 * TICK, 0));
        assert_eq!(ThreadTimes::parse(b"1 (x) S 1 2", "", TICK), None);
        assert_eq!(ThreadTimes::parse(b"", "", TICK), None);
    }

    #[test]
    fn a_thread_that_works_is_seen_to() {
        let thread = u32::try_from(nix::unistd::gettid().as_raw()).unwrap();
        let (before, process) = (ThreadTimes::read(thread).unwrap(), ProcessTimes::read());
        let begin = Instant::now();
        // Until the scheduler says so, not for a time: another process may have the CPU.
        let passed = loop {
            let passed = ThreadTimes::read(thread).unwrap().since(&before);
            if passed.running_ns >= 50_000_000 && passed.user_ns + passed.system_ns > 0 {
                break passed;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{passed:?}");
        };
        let wall = u64::try_from(begin.elapsed().as_nanos()).unwrap() + TICK;
        assert!(passed.wanted_ns() <= wall + TICK, "{passed:?} in {wall} ns");
        assert!(ProcessTimes::read().since(&process).total_ns() > 40_000_000);
        assert!(matches!(ThreadTimes::read(u32::MAX), Err(Error::Read { .. })));
    }

    proptest! {
        #[test]
        fn any_name_and_numbers_are_read(name in ".{0,20}", numbers in prop::collection::vec("-?[0-9]{1,22}", 0..20)) {
            let stat = format!("1 ({name}) S {}", numbers.join(" "));
            let parsed = ThreadTimes::parse(stat.as_bytes(), "", TICK);
            let good = |index: usize| numbers.get(index).is_some_and(|word| word.parse::<u64>().is_ok());
            prop_assert_eq!(parsed.is_some(), good(10) && good(11));
        }

        #[test]
        fn what_passed_is_never_negative(earlier in any::<[u64; 4]>(), later in any::<[u64; 4]>()) {
            let times = |[running_ns, user_ns, system_ns, waiting_ns]: [u64; 4]| {
                ThreadTimes { running_ns, user_ns, system_ns, waiting_ns }
            };
            let passed = times(later).since(&times(earlier));
            prop_assert!(passed.running_ns <= later[0] && passed.wanted_ns() >= passed.waiting_ns);
        }
    }
}
