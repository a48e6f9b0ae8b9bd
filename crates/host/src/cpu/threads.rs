//! CPU time of single threads, of this process, and of another process's threads.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::cpu::times::TICK;
use crate::error::Error;
use crate::kernel::counted::counted;
use crate::kernel::files::numbers;

#[derive(Debug)]
pub(crate) struct ThreadStat<'a> {
    pub(crate) name: &'a [u8],
    fields: Vec<&'a str>,
}

impl<'a> ThreadStat<'a> {
    const STATE: usize = 3;

    pub(crate) fn parse(stat: &'a [u8]) -> Option<Self> {
        // The name may hold anything, so the fields are counted from its end.
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        Some(Self { name: stat.get(open + 1..close)?, fields: rest.split_ascii_whitespace().collect() })
    }

    pub(crate) fn has_ended(&self) -> bool {
        // Ended and not waited for yet, or being removed.
        matches!(self.fields.first(), None | Some(&("Z" | "X")))
    }

    pub(crate) fn number(&self, field: usize) -> Option<u64> {
        // By the numbers of proc(5), where the name is the second field.
        self.fields.get(field - Self::STATE)?.parse().ok()
    }
}

counted! {
    /// CPU time of one thread, in ns, up to the last tick (1 to 10 ms). User and system time are
    /// mostly sampled, in units of 10 ms: coarse in a short window, unlike their sum.
    pub struct ThreadTimes {
        /// On a CPU, interrupts included without `CONFIG_IRQ_TIME_ACCOUNTING`.
        running_ns,
        /// The part of it in user mode; coarse.
        user_ns,
        /// The part of it in the kernel; coarse.
        system_ns,
        /// Ready but without a CPU; 0 where the kernel does not report it.
        waiting_ns,
    }
}

impl ThreadTimes {
    /// Reads the times of a thread of this process, by its kernel number.
    ///
    /// # Errors
    /// The thread does not exist; or the file has another form.
    pub fn read(thread: u32) -> Result<Self, Error> {
        Self::read_from(&format!("/proc/self/task/{thread}"))
    }

    pub(crate) fn read_from(directory: &str) -> Result<Self, Error> {
        let path = format!("{directory}/stat");
        let stat = std::fs::read(&path).map_err(Error::unreadable(&path))?;
        // Some kernels lack it.
        let schedstat = std::fs::read_to_string(format!("{directory}/schedstat")).unwrap_or_default();
        Self::parse(&stat, &schedstat, TICK).ok_or_else(|| {
            format!("cannot parse {directory}/stat: it has no user and system time where it should").into()
        })
    }

    /// Reads `stat`, whose unit is `tick` ns, and `schedstat`, which may be missing.
    pub fn parse(stat: &[u8], schedstat: &str, tick: u64) -> Option<Self> {
        let stat = ThreadStat::parse(stat)?;
        // utime and stime.
        let [user_ns, system_ns] =
            [stat.number(14)?, stat.number(15)?].map(|ticks| ticks.saturating_mul(tick));
        let mut numbers = schedstat.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        // The scheduler's own clock counts to the nanosecond; ticks are of 10 ms.
        let running_ns = next().unwrap_or_else(|| user_ns.saturating_add(system_ns));
        Some(Self { running_ns, user_ns, system_ns, waiting_ns: next().unwrap_or(0) })
    }
}

counted! {
    /// CPU time of this process, ended threads included, in ns. The sum is exact, the split coarse.
    pub struct ProcessTimes {
        user_ns,
        system_ns,
    }
}

impl ProcessTimes {
    /// Reads the times of this process.
    pub fn read() -> Self {
        let nanoseconds = |time: TimeVal| time.num_microseconds().unsigned_abs().saturating_mul(1000);
        let read = |usage: Usage| Self {
            user_ns: nanoseconds(usage.user_time()),
            system_ns: nanoseconds(usage.system_time()),
        };
        getrusage(UsageWho::RUSAGE_SELF).map(read).unwrap_or_default()
    }

    /// User and system time together.
    pub fn total_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

/// The threads of a process with their names and CPU times, at one moment or between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessThreads(BTreeMap<u32, (String, ThreadTimes)>);

impl ProcessThreads {
    /// Reads the threads of a process on this machine, of any user.
    ///
    /// # Errors
    /// The process does not exist. Skips a thread that ends meanwhile.
    pub fn read(process: u32) -> Result<Self, Error> {
        let tasks = format!("/proc/{process}/task");
        let found = numbers(&tasks).map_err(Error::unreadable(&tasks))?;
        let read = |thread: u32| {
            let directory = format!("{tasks}/{thread}");
            let name = fs::read_to_string(format!("{directory}/comm")).ok()?;
            Some((thread, (name.trim_end().to_owned(), ThreadTimes::read_from(&directory).ok()?)))
        };
        Ok(Self(found.into_iter().filter_map(read).collect()))
    }

    /// The difference from `earlier`: all of a new thread, nothing of one that has ended.
    pub fn since(&self, earlier: &Self) -> Self {
        let passed = self.0.iter().map(|(thread, (name, now))| {
            let times = earlier.0.get(thread).map_or(*now, |(_, then)| now.since(then));
            (*thread, (name.clone(), times))
        });
        Self(passed.collect())
    }

    /// The times of each thread whose name is `wanted`, by number.
    pub fn times_of(&self, wanted: impl Fn(&str) -> bool) -> Vec<ThreadTimes> {
        let chosen = self.0.values().filter(|(name, _)| wanted(name));
        chosen.map(|(_, times)| *times).collect()
    }

    /// The sum of the times of all threads whose name is `wanted`.
    pub fn sum(&self, wanted: impl Fn(&str) -> bool) -> ThreadTimes {
        ThreadTimes::sum(&self.times_of(wanted))
    }
}

#[cfg(test)]
mod tests;
