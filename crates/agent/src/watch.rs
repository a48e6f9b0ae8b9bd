//! The cost of guests on their host, over the same window as in the guests.

use std::thread;
use std::time::{Duration, Instant};

use host::{CpuTimes, Interrupts, Links, ProcessThreads, QuotaGroup, Throttled, WireCounters};

use crate::error::{Refusal, Reply};
use crate::frame::Deadline;
use crate::message::Answer;
use crate::workload_side::{TOO_LONG, each_since, ns};
use record::{Late, Watched};

pub(crate) fn watch(
    links: &mut Links,
    (processes, cpus): (&[u32], &[u32]),
    underlay: Option<&str>,
    quotas: &[QuotaGroup],
    [ramp, window]: [Duration; 2],
    deadline: Deadline,
) -> Reply {
    let opens = Instant::now().checked_add(ramp).ok_or(TOO_LONG)?;
    let closes = opens.checked_add(window).ok_or(TOO_LONG)?;
    deadline.allows(closes)?;
    let mut read = || -> Result<HostReading, Refusal> {
        let at = Instant::now();
        let threads = processes.iter().map(|process| ProcessThreads::read(*process));
        let threads = threads.collect::<Result<_, _>>()?;
        let times = CpuTimes::read_each(cpus)?;
        let interrupts = Interrupts::read_each(cpus);
        let underlay = underlay.map(|name| WireCounters::read(links, name)).transpose()?;
        // The processes are in the agent's cgroup, whose quotas may throttle them.
        let throttled = quotas.iter().map(QuotaGroup::counters).collect();
        Ok(HostReading { at, threads, cpus: times, interrupts, underlay, throttled })
    };
    thread::sleep(opens.saturating_duration_since(Instant::now()));
    let opened_ns = ns(opens.elapsed());
    let first = read()?;
    thread::sleep(closes.saturating_duration_since(Instant::now()));
    let closed_ns = ns(closes.elapsed());
    let last = read()?;
    let guests = last.threads.iter().zip(&first.threads).map(|(last, first)| {
        let passed = last.since(first);
        (passed.times_of(is_vcpu), passed.sum(|name| !is_vcpu(name)))
    });
    Ok(Answer::Watched(Box::new(Watched {
        elapsed_ns: ns(last.at.duration_since(first.at)),
        late: Late { opened_ns, closed_ns },
        guests: guests.collect(),
        cpu_each: each_since(&last.cpus, &first.cpus, CpuTimes::since),
        interrupts_each: each_since(&last.interrupts, &first.interrupts, Interrupts::since),
        underlay: last.underlay.zip(first.underlay).map(|(last, first)| last.since(&first)),
        throttled: Throttled::most_throttled(&last.throttled, &first.throttled),
    })))
}

struct HostReading {
    at: Instant,
    threads: Vec<ProcessThreads>,
    cpus: Vec<CpuTimes>,
    interrupts: Vec<Interrupts>,
    underlay: Option<WireCounters>,
    throttled: Vec<Throttled>,
}

/// Whether a thread of QEMU (with `-name debug-threads=on`) runs a guest's instructions:
/// `CPU 0/TCG`, `CPU 1/KVM`, or for all virtual CPUs `ALL CPUs/TCG`.
pub fn is_vcpu(name: &str) -> bool {
    name.starts_with("CPU ") || name.starts_with("ALL CPUs/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_cpus_are_told_from_the_rest() {
        for name in ["CPU 0/TCG", "CPU 11/KVM", "ALL CPUs/TCG\n"] {
            assert!(is_vcpu(name), "{name}");
        }
        for name in ["qemu-system-x86", "call_rcu\n", "worker", "IO mon_iothread", "CPUs"] {
            assert!(!is_vcpu(name), "{name}");
        }
    }
}
