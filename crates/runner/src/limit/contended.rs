//! Whether one end lost time on the CPUs to others than the run.

use host::ThreadTimes;
use study::Side;
use testbed::{RunAccount, SideAccount};

use super::words::percent;
use crate::foreign::Foreign;

/// The share of the window that an end lost to others, from which on that held the run back.
const LOST: f64 = 0.1;

/// What one end lost to others.
#[derive(Clone)]
pub(super) struct Contention {
    /// The share of the window in which its threads waited for a CPU that others had, or its CPUs were stolen.
    pub(super) lost: f64,
    /// Who had them, and what to do.
    pub(super) evidence: String,
}

impl Contention {
    /// Of one side, if it lost enough to be held back by it. Threads of the run that share a CPU wait for each other: only as much of a wait
    /// counts as others had of the CPUs.
    pub(super) fn of(account: &RunAccount, side: Side, own: &SideAccount) -> Option<Self> {
        let foreign = Foreign::of(account, side);
        let (waiting, stolen) = waits(account, side, own);
        let waited = waiting.min(foreign.share);
        let lost = (waited + stolen).min(1.0);
        if lost < LOST {
            return None;
        }
        let mut parts = Vec::new();
        if waited >= LOST / 2.0 {
            parts.push(format!(
                "{side} was ready but without a CPU {} of the time while other processes had {}: stop them, or keep them off these CPUs",
                percent(waiting),
                foreign.words()
            ));
        }
        if stolen >= LOST / 2.0 {
            parts.push(format!(
                "the hypervisor gave {} of the time of {side}'s CPUs to others (steal): measure on a dedicated machine",
                percent(stolen)
            ));
        }
        Some(Self { lost, evidence: parts.join("; ") })
    }
}

/// The shares of the window in which a side's threads, on average, waited for a CPU, and in which its CPUs were stolen. Of a virtual machine, as
/// its host tells.
fn waits(account: &RunAccount, side: Side, own: &SideAccount) -> (f64, f64) {
    let hosts = account.hosts_of_guests();
    let of = |waiting: f64, threads: usize, cpus: &[host::CpuTimes], elapsed_ns: u64| {
        let share = |ns: f64, of: usize| ns / (elapsed_ns as f64 * of as f64).max(1.0);
        let stolen: f64 = cpus.iter().map(|cpu| cpu.steal as f64).sum();
        (share(waiting, threads).min(1.0), share(stolen, cpus.len()).min(1.0))
    };
    // Both sides may be in one machine.
    let index = if side == Side::Receiver { hosts.len().saturating_sub(1) } else { 0 };
    if let Some(host) = hosts.get(index) {
        return of(host.vcpu.waiting_ns as f64, host.cpus.len(), &host.cpu_each, host.elapsed_ns);
    }
    let window = &own.window;
    let waiting = window.threads.iter().map(|ThreadTimes { waiting_ns, .. }| *waiting_ns as f64).sum();
    of(waiting, window.threads.len(), &window.cpu_each, window.elapsed_ns)
}
