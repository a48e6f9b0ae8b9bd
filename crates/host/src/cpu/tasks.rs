//! CPU time of all processes of this machine, kernel threads included.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::cpu::threads::ThreadStat;
use crate::cpu::times::TICK;
use crate::error::Error;
use crate::kernel::files::numbers;

/// CPU time of all visible threads, at one moment.
#[derive(Clone, Debug)]
pub struct Tasks {
    at: Instant,
    threads: BTreeMap<u32, Task>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    process: u32,
    parent: u32,
    name: String,
    kernel: bool,
    cpu: u32,
    /// In user mode and in the kernel, ns. The sum is exact within its unit of 10 ms.
    ns: u64,
    /// CPU time of ended children that were waited for.
    reaped_ns: u64,
}

/// CPU time of all processes except one and its descendants, between two moments.
///
/// A thread's time counts half for its CPU at each moment. Interrupts and software interrupts count
/// for the thread that they interrupted, unless the kernel separates them
/// (`CONFIG_IRQ_TIME_ACCOUNTING`). `ksoftirqd` is left out: the owner of its packets is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherProcesses {
    /// Between the two moments, ns.
    pub elapsed_ns: u64,
    /// Whether all processes were visible: a container shows only its own.
    pub complete: bool,
    /// Each process on each CPU; the longest time first, without zeros.
    pub spent: Vec<ProcessOnCpu>,
}

/// CPU time of one process, or thread of the kernel, on one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessOnCpu {
    pub pid: u32,
    pub name: String,
    pub kernel: bool,
    pub cpu: u32,
    /// In user mode and in the kernel, ns.
    pub ns: u64,
}

impl Tasks {
    /// Reads the threads of all processes in `/proc`: 15 to 20 µs of CPU time for each thread.
    ///
    /// # Errors
    /// Without `/proc`. Skips a process that ends meanwhile.
    pub fn read() -> Result<Self, Error> {
        let mut threads = BTreeMap::new();
        let processes: Vec<u32> = numbers(PROC).map_err(Error::unreadable(PROC))?;
        for process in processes {
            let tasks = format!("{PROC}/{process}/task");
            for thread in numbers(&tasks).unwrap_or_default() {
                let stat = fs::read(format!("{tasks}/{thread}/stat")).unwrap_or_default();
                if let Some(task) = Task::parse(process, thread, &stat, TICK) {
                    threads.insert(thread, task);
                }
            }
        }
        Ok(Self { at: Instant::now(), threads })
    }

    /// CPU time since `earlier` of all processes but `own` and its descendants.
    pub fn others_since(&self, earlier: &Self, own: u32) -> OtherProcesses {
        let family = self.family(earlier, own);
        let mut spent: BTreeMap<(u32, u32), ProcessOnCpu> = BTreeMap::new();
        for (thread, now) in &self.threads {
            if family.contains(&now.process) || now.serves(&family) {
                continue;
            }
            let then = earlier.threads.get(thread);
            let before = then.map_or(0, |then| then.ns);
            let ns = now.ns.saturating_sub(before).saturating_add(self.reaped(earlier, now, then));
            // The kernel tells a thread's last CPU only: it may have run on others in between.
            for cpu in [then.map_or(now.cpu, |then| then.cpu), now.cpu] {
                let entry = spent.entry((now.process, cpu)).or_insert_with(|| ProcessOnCpu {
                    pid: now.process,
                    name: self.threads.get(&now.process).unwrap_or(now).name.clone(),
                    kernel: now.kernel,
                    cpu,
                    ns: 0,
                });
                entry.ns = entry.ns.saturating_add(ns / 2);
            }
        }
        let mut spent: Vec<ProcessOnCpu> = spent.into_values().filter(|spent| spent.ns > 0).collect();
        spent.sort_by_key(|spent| (std::cmp::Reverse(spent.ns), spent.pid, spent.cpu));
        let elapsed = self.at.saturating_duration_since(earlier.at).as_nanos();
        OtherProcesses {
            elapsed_ns: u64::try_from(elapsed).unwrap_or(u64::MAX),
            complete: self.threads.values().any(|task| task.kernel),
            spent,
        }
    }

    fn family(&self, earlier: &Self, own: u32) -> BTreeSet<u32> {
        // An ended process is in the earlier reading alone, and its children may run on.
        let all = || self.threads.values().chain(earlier.threads.values());
        let mut family = BTreeSet::from([own]);
        loop {
            // A child may stand before its parent: again, until no process joins.
            let before = family.len();
            let children: Vec<u32> =
                all().filter(|task| family.contains(&task.parent)).map(|task| task.process).collect();
            family.extend(children);
            if family.len() == before {
                return family;
            }
        }
    }

    fn reaped(&self, earlier: &Self, now: &Task, then: Option<&Task>) -> u64 {
        let more = now.reaped_ns.saturating_sub(then.map_or(0, |then| then.reaped_ns));
        if more == 0 {
            return 0;
        }
        // Children's time up to the earlier reading is part of it and not of the window.
        let gone = earlier.threads.iter().filter(|(thread, _)| !self.threads.contains_key(thread));
        let gone = gone.filter(|(_, task)| task.parent == now.process);
        gone.fold(more, |left, (_, task)| left.saturating_sub(task.ns).saturating_sub(task.reaped_ns))
    }
}

impl Task {
    pub(crate) fn parse(process: u32, thread: u32, stat: &[u8], tick: u64) -> Option<Self> {
        let stat = ThreadStat::parse(stat)?;
        let ticks = |one: usize, other: usize| {
            Some(stat.number(one)?.saturating_add(stat.number(other)?).saturating_mul(tick))
        };
        Some(Self {
            process,
            parent: u32::try_from(stat.number(4)?).ok()?,
            name: words::sanitised_line(&String::from_utf8_lossy(stat.name)).into_owned(),
            kernel: stat.number(9)? & PF_KTHREAD != 0,
            cpu: u32::try_from(stat.number(39)?).ok()?,
            ns: ticks(14, 15)?,
            // The kernel reports the time of a process's children with each of its threads.
            reaped_ns: if thread == process { ticks(16, 17)? } else { 0 },
        })
    }

    /// Kernel threads of these processes (`vhost-PID`), or for received packets.
    fn serves(&self, family: &BTreeSet<u32>) -> bool {
        let pid_after = |separator| self.name.rsplit_once(separator).and_then(|(_, pid)| pid.parse().ok());
        let owner = pid_after('-').or_else(|| pid_after('/'));
        self.kernel
            && (self.name.starts_with("ksoftirqd/")
                || owner.is_some_and(|pid: u32| pid > 2 && family.contains(&pid)))
    }
}

const PROC: &str = "/proc";

// A thread's flag (linux/sched.h): it belongs to the kernel.
const PF_KTHREAD: u64 = 0x0020_0000;

#[cfg(test)]
mod tests;
