//! Whether an end was kept off its CPUs: by a quota, other processes, or the run's own guests.

use std::collections::BTreeSet;

use record::{Evidence, Label, RunAccount, SideAccount, Wait, WaitedFor};
use study::Side;

use crate::foreign::Foreign;
use crate::waiting::Waited;

// From this share of the window on, the CPU time that an end lost limits the run.
const LOST: f64 = 0.1;

#[derive(Clone)]
pub(super) struct Contention {
    /// As a share of the window: waits for a CPU of its threads or a virtual CPU, or stolen time.
    pub(super) lost: f64,
    pub(super) label: Label,
    pub(super) evidence: Evidence,
}

impl Contention {
    pub(super) fn find(account: &RunAccount, side: Side, own: &SideAccount) -> Option<Self> {
        let waited = Waited::from_account(account, side);
        // A quota comes before others, and these before the run's own guests.
        Self::to_quota(account, side, own)
            .or_else(|| Self::to_others(account, side, own, waited))
            .or_else(|| Self::to_guests(account, side, &waited.filter(|waited| waited.share >= LOST)?))
    }

    fn to_quota(account: &RunAccount, side: Side, own: &SideAccount) -> Option<Self> {
        // A quota stops all threads of an end, or of its guest, for the rest of a period.
        let by = account.host_of_guest(side).map_or(own.window.throttled, |host| host.throttled)?;
        let lost = by.throttled as f64 / by.periods.max(1) as f64;
        let evidence = Evidence::Throttled { side, by };
        (lost >= LOST).then_some(Self { lost, label: Label::Contended, evidence })
    }

    fn to_others(account: &RunAccount, side: Side, own: &SideAccount, guest: Option<Waited>) -> Option<Self> {
        let foreign = Foreign::from_account(account, side);
        let (waiting, waited) = match guest {
            Some(guest) => (guest.share, guest.behind_others(&foreign)),
            None => {
                let waiting =
                    mean_share(&own.window.threads, own.window.elapsed_ns, |thread| thread.waiting_ns);
                // The run's threads wait for each other too, so a wait counts only up to the
                // others' CPU time.
                (waiting, waiting.min(foreign.taken.share))
            }
        };
        // A virtual machine's CPUs are those of its host.
        let stolen = match account.host_of_guest(side) {
            Some(host) => mean_share(&host.cpu_each, host.elapsed_ns, |cpu| cpu.steal),
            None => mean_share(&own.window.cpu_each, own.window.elapsed_ns, |cpu| cpu.steal),
        };
        let lost = (waited + stolen).min(1.0);
        if lost < LOST {
            return None;
        }
        let behind = if foreign.taken.share >= LOST / 2.0 {
            WaitedFor::Others(foreign.taken)
        } else {
            WaitedFor::Unexplained { explained: waiting - waited }
        };
        let evidence = Evidence::Contended {
            side,
            waited: (waited >= LOST / 2.0).then_some(Wait { share: waiting, behind }),
            stolen: (stolen >= LOST / 2.0).then_some(stolen),
        };
        Some(Self { lost, label: Label::Contended, evidence })
    }

    fn to_guests(account: &RunAccount, side: Side, waited: &Waited) -> Option<Self> {
        let hosts = account.hosts_beside(side);
        let cpus: BTreeSet<u32> = hosts.iter().flat_map(|host| host.cpus.iter().copied()).collect();
        let vcpus: usize = hosts.iter().map(|host| host.vcpu_each.len()).sum();
        (!hosts.is_empty()).then_some(Self {
            lost: waited.share,
            label: Label::HostCpu,
            evidence: Evidence::BehindGuests { side, share: waited.share, vcpus, cpus: cpus.len() },
        })
    }
}

pub(super) fn mean_share<T>(all: &[T], elapsed_ns: u64, time: fn(&T) -> u64) -> f64 {
    let sum: f64 = all.iter().map(|one| time(one) as f64).sum();
    (sum / (elapsed_ns as f64 * all.len() as f64).max(1.0)).min(1.0)
}
