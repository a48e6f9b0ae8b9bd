//! CPU time of another process's threads.

use std::collections::BTreeMap;
use std::fs;

use crate::cpu::thread_times::ThreadTimes;
use crate::error::Error;
use crate::kernel::files::numbers;

/// The threads of a process with their names and CPU times, at one moment or between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessThreads {
    threads: BTreeMap<u32, (String, ThreadTimes)>,
}

impl ProcessThreads {
    /// Reads the threads of a process on this machine, of any user.
    ///
    /// # Errors
    /// [`Error::Read`] if the process does not exist. Skips a thread that ends meanwhile.
    pub fn read(process: u32) -> Result<Self, Error> {
        let tasks = format!("/proc/{process}/task");
        let found = numbers(&tasks).map_err(|errno| Error::Read { path: tasks.clone().into(), errno })?;
        let mut threads = BTreeMap::new();
        for thread in found {
            let directory = format!("{tasks}/{thread}");
            let (Ok(name), Ok(times)) =
                (fs::read_to_string(format!("{directory}/comm")), ThreadTimes::read_from(&directory))
            else {
                continue;
            };
            threads.insert(thread, (name.trim_end().to_owned(), times));
        }
        Ok(Self { threads })
    }

    /// The difference from `earlier`: all of a new thread, nothing of one that has ended.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let passed = self.threads.iter().map(|(thread, (name, now))| {
            let times = earlier.threads.get(thread).map_or(*now, |(_, then)| now.since(then));
            (*thread, (name.clone(), times))
        });
        Self { threads: passed.collect() }
    }

    /// The times of each thread whose name is `wanted`, by number.
    pub fn times_of(&self, wanted: impl Fn(&str) -> bool) -> Vec<ThreadTimes> {
        let chosen = self.threads.values().filter(|(name, _)| wanted(name));
        chosen.map(|(_, times)| *times).collect()
    }

    /// The sum of the times of all threads whose name is `wanted`.
    pub fn sum(&self, wanted: impl Fn(&str) -> bool) -> ThreadTimes {
        ThreadTimes::sum(&self.times_of(wanted))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_thread_that_works_is_distinguished_from_its_fellows() {
        let me = std::process::id();
        let before = ProcessThreads::read(me).unwrap();
        let busy = std::thread::Builder::new().name("busy one".to_owned());
        let passed = busy
            .spawn(move || {
                let begin = Instant::now();
                loop {
                    let passed = ProcessThreads::read(me).unwrap().since(&before);
                    if passed.sum(|name| name == "busy one").running_ns >= 30_000_000 {
                        return passed;
                    }
                    assert!(begin.elapsed() < Duration::from_secs(60), "{passed:?}");
                }
            })
            .unwrap()
            .join()
            .unwrap();
        let (all, busy) = (passed.sum(|_| true), passed.sum(|name| name == "busy one"));
        assert!(all.running_ns >= busy.running_ns);
        assert_eq!(passed.sum(|name| name == "nobody"), ThreadTimes::default());
        assert!(matches!(ProcessThreads::read(u32::MAX), Err(Error::Read { .. })));
    }
}
