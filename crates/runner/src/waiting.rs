//! The time that virtual CPUs were ready to run, but waited for a CPU of their host.
//!
//! The host counts each thread's wait (`/proc/PID/task/TID/schedstat`), but not behind whom. The
//! run's own guests explain at most the time that their other threads, and interrupts, ran on the
//! CPUs that it may use. The rest was for others: processes, visible or not, or a cgroup's quota.

use host::{CpuTimes, ThreadTimes};
use record::{HostAccount, RunAccount};
use study::Side;

use crate::foreign::Foreign;

/// The wait of the guest's virtual CPU that waited longest; all shares are of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Waited {
    /// The share in which it was ready, but had no CPU.
    pub(crate) share: f64,
    pub(crate) unexplained: f64,
}

impl Waited {
    /// `None` if the side is in no guest.
    pub(crate) fn from_account(account: &RunAccount, side: Side) -> Option<Self> {
        let host = account.host_of_guest(side)?;
        let other = account.hosts.as_ref().filter(|_| !account.apart).map(|hosts| &hosts[side.other()]);
        let share = |ns: u64| ns as f64 / host.elapsed_ns.max(1) as f64;
        // The guest's own reading, under KVM, includes waits that the host's kernel does not count.
        let counted = share(host.vcpu_each.iter().map(|vcpu| vcpu.waiting_ns).max().unwrap_or(0));
        let waited = counted.max(stolen_inside(account, side)).min(1.0);
        let unexplained = (waited - share(own_at_most(host, other))).max(0.0);
        Some(Self { share: waited, unexplained })
    }

    pub(crate) fn behind_others(&self, foreign: &Foreign) -> f64 {
        // The run's own guests cannot explain it, or others were seen to have the CPU time.
        self.unexplained.max(self.share.min(foreign.taken.share))
    }
}

/// In ns: the most that this guest and the other, if any, can have caused.
fn own_at_most(host: &HostAccount, other: Option<&HostAccount>) -> u64 {
    let running = |times: &ThreadTimes| times.running_ns;
    // Threads that move packets run on any CPU.
    let moving = [Some(host), other].into_iter().flatten().map(|one| running(&one.io));
    let meets = |other: &&HostAccount| {
        !host.pinned || !other.pinned || host.cpus.iter().any(|cpu| other.cpus.contains(cpu))
    };
    let others = other.filter(meets).map(|other| running(&other.vcpu));
    // With a CPU for each, virtual CPUs do not wait for each other.
    let is_alone = host.pinned && host.vcpu_each.len() <= host.cpus.len();
    let least = host.vcpu_each.iter().map(running).min().unwrap_or(0);
    let fellows = if is_alone { 0 } else { running(&host.vcpu).saturating_sub(least) };
    let CpuTimes { irq, softirq, .. } = CpuTimes::sum(&host.cpu_each);
    moving.chain(others).chain([fellows, irq, softirq]).fold(0, u64::saturating_add)
}

fn stolen_inside(account: &RunAccount, side: Side) -> f64 {
    let of_side = account.sides().find(|(of, _)| *of == side);
    let own = of_side.map_or(&account.transmitter, |(_, own)| own);
    let most = own.window.cpu_each.iter().map(|cpu| cpu.steal).max().unwrap_or(0);
    most as f64 / own.window.elapsed_ns.max(1) as f64
}

#[cfg(test)]
mod tests;
