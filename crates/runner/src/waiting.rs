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
    pub(crate) fn of_side(account: &RunAccount, side: Side) -> Option<Self> {
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
mod tests {
    use super::*;
    use crate::sample_guest::guest;
    use record::sample::account;
    use study::BySide;

    const MS: u64 = 1_000_000;

    /// The transmitter's wait, and the part that its own guests cannot explain, in ms of a second.
    fn waited([transmitter, receiver]: [HostAccount; 2]) -> (f64, f64) {
        let hosts = BySide { transmitter, receiver };
        let account = RunAccount { hosts: Some(hosts), ..account() };
        let waited = Waited::of_side(&account, Side::Transmitter).unwrap();
        ((waited.share * 1e3).round(), (waited.unexplained * 1e3).round())
    }

    #[test]
    fn what_the_guests_own_threads_had_is_no_wait_for_others() {
        // On CPUs 2 and 3, each of which one virtual CPU keeps to; the threads that move packets
        // have 100 ms for each guest.
        let pair = |waiting| [guest(2, &[(700, waiting)]), guest(3, &[(800, 0)])];
        assert_eq!(waited(pair(150)), (150.0, 0.0), "behind threads that had 200 ms together");
        assert_eq!(waited(pair(350)), (350.0, 150.0), "the other virtual CPU is elsewhere");
        let softirqs = pair(350).map(|mut host| {
            host.cpu_each[0].softirq = 100 * MS;
            host
        });
        assert_eq!(waited(softirqs), (350.0, 50.0));
    }

    #[test]
    fn virtual_cpus_that_share_cpus_wait_for_each_other() {
        let unpinned = [guest(2, &[(600, 350)]), guest(3, &[(800, 0)])].map(|mut host| {
            host.pinned = false;
            host
        });
        assert_eq!(waited(unpinned), (350.0, 0.0));
        let one_core = [guest(2, &[(400, 550)]), guest(2, &[(400, 550)])];
        assert_eq!(waited(one_core), (550.0, 0.0));
        // Two virtual CPUs of a guest on the one CPU that it has: 500 ms behind each other, 200 ms
        // behind threads that move packets.
        assert_eq!(waited([guest(2, &[(400, 590), (500, 480)]), guest(3, &[(0, 0)])]), (590.0, 0.0));
        assert_eq!(waited([guest(2, &[(100, 890), (100, 880)]), guest(3, &[(0, 0)])]), (890.0, 590.0));
    }

    #[test]
    fn the_virtual_cpu_that_waited_longest_counts() {
        let mut two = guest(2, &[(900, 20), (300, 600)]);
        (two.cpus, two.cpu_each) = (vec![2, 4], vec![CpuTimes::default(); 2]);
        assert_eq!(waited([two, guest(3, &[(0, 0)])]), (600.0, 400.0));
    }

    #[test]
    fn what_the_guest_was_told_stands_for_what_its_host_does_not_count() {
        let mut account = RunAccount { hosts: None, around: Some(guest(2, &[(600, 0)])), ..account() };
        assert_eq!(Waited::of_side(&account, Side::Receiver).unwrap().share, 0.0);
        // The sample's window is half a second.
        account.receiver.as_mut().unwrap().window.cpu_each[0].steal = 200 * MS;
        let waited = Waited::of_side(&account, Side::Receiver).unwrap();
        assert_eq!(waited.share, 0.4);
        account.around = None;
        assert_eq!(Waited::of_side(&account, Side::Receiver), None);
    }
}
