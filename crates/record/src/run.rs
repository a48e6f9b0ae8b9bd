//! The account of a run over time: both sides', and that of the hosts of virtual machines.

use host::perf::Profile;
use serde::{Deserialize, Serialize};
use words::{BySide, Closure, KernelPath, Side, Waiting};

use crate::disturbance::Disturbance;
use crate::side::{Finished, Measured, Turns};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideAccount {
    pub window: Measured,
    /// The account from opening to closing the sockets.
    pub whole: Finished,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunAccount {
    pub transmitter: SideAccount,
    /// `None` where nobody receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<SideAccount>,
    /// The host's cost of the two sides' virtual machines; `None` if the sides are not in any. If
    /// conditions take turns it is the cost of the whole flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<BySide<HostAccount>>,
    /// The host's cost of the one virtual machine that both sides are in, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<HostAccount>,
    /// CPU time of others on this machine, from before the ramp until after the window; `None` if
    /// it cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<host::OtherProcesses>,
    /// Whether each side is a machine of its own: equal numbers of CPUs are different CPUs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<RateSearch>,
    /// The turns of a shared flow that make up the window; `None` for a flow of its own. Values of
    /// the whole run are then values of the whole flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<Disturbance>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<PathTrace>,
}

impl RunAccount {
    pub fn sides(&self) -> impl Iterator<Item = (Side, &SideAccount)> {
        let receiver = self.receiver.as_ref().map(|own| (Side::Receiver, own));
        std::iter::once((Side::Transmitter, &self.transmitter)).chain(receiver)
    }

    pub fn hosts_of_guests(&self) -> Vec<&HostAccount> {
        match &self.hosts {
            Some(BySide { transmitter, receiver }) => vec![transmitter, receiver],
            None => self.around.iter().collect(),
        }
    }

    /// The host's cost of the virtual machines that share a machine with the one that a side is in:
    /// of all, unless the sides are on two machines.
    pub fn hosts_beside(&self, side: Side) -> Vec<&HostAccount> {
        match &self.hosts {
            Some(hosts) if self.apart => vec![&hosts[side]],
            _ => self.hosts_of_guests(),
        }
    }

    /// The host's cost of the virtual machine that a side is in; both sides may be in one.
    pub fn host_of_guest(&self, side: Side) -> Option<&HostAccount> {
        self.hosts.as_ref().map(|hosts| &hosts[side]).or(self.around.as_ref())
    }
}

/// The host's cost of a virtual machine over the window, by the host's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostAccount {
    pub elapsed_ns: u64,
    pub cpus: Vec<u32>,
    /// CPU time of each of them, for any purpose.
    pub cpu_each: Vec<host::CpuTimes>,
    pub interrupts: host::Interrupts,
    /// CPU time of the threads that are its virtual CPUs.
    pub vcpu: host::ThreadTimes,
    /// The times of each of these threads: one for each virtual CPU, or one for all under
    /// single-threaded emulation.
    pub vcpu_each: Vec<host::ThreadTimes>,
    /// Whether these threads are bound to this machine's CPUs. If not, the scheduler chooses.
    pub pinned: bool,
    /// CPU time of the other threads of its process: input and output, timers.
    pub io: host::ThreadTimes,
    /// The counters of its node's interface under the tunnel, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<host::WireCounters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<host::Throttled>,
}

/// A search for the highest rate that keeps loss within a bound. Rates are of payload, all flows
/// and directions together, in bits/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSearch {
    /// The share of datagrams that may be lost.
    pub bound: f64,
    /// The confidence of the interval: 0.95.
    pub confidence: f64,
    /// The rate that was shown to keep loss within the bound: the least that its trials sustained,
    /// which may be less than was asked for. `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The rate that was shown to exceed it; `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    pub complete: bool,
    pub trials: Vec<RateTrial>,
    /// Why trials failed that were made again: on a busy machine an agent is sometimes too late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateTrial {
    /// The rate that was asked for; `None`: as much as the sender can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<f64>,
    pub offered: f64,
    pub forwarded: f64,
    /// The share of the datagrams of the whole trial that was lost.
    pub loss: f64,
    pub exceeded: bool,
    /// Whether something disturbed it; then another trial was made in its place.
    pub disturbed: bool,
}

/// The cost of packets along a path, for the way that most of them took. Times are in ns for a
/// packet, or in instructions where a guest counts them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathTrace {
    pub path: KernelPath,
    /// The readers' wait for a packet: asleep or polling.
    pub reader: Waiting,
    /// The places that they passed, in order; none if no packet was followed.
    pub places: Vec<PassedPlace>,
    /// The steps from each place to the next: one less than there are places.
    pub steps: Vec<PathStep>,
    /// The cost from the first place to the last with the fewest probes, less the probes' own cost,
    /// without the wait for a reader; `None` if no packet was followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<f64>,
    pub packets: u64,
    /// The functions that took the CPU without probes, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassedPlace {
    /// The stage that begins there, as its path calls it.
    pub label: String,
    /// Whether the function is left there, not entered.
    pub returns: bool,
    /// The function or tracepoint by which it was seen.
    pub seen_at: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathStep {
    /// The mean of a packet, less the probes' own cost.
    pub cost: f64,
    /// Interruptions in it, which are not in its cost.
    pub outside: f64,
    /// The packet waits for its reader: no work, so it is in no sum.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

impl PathTrace {
    /// The sum of its stages as a share of the whole; `None` if no packet was followed.
    pub fn closure(&self) -> Option<Closure> {
        let work = self.steps.iter().filter(|step| !step.waits);
        Closure::from_sum(work.map(|step| step.cost).sum(), self.whole)
    }

    /// Whether its parts fit each other: each step lies between two places, and each figure is a
    /// number.
    pub fn is_sound(&self) -> bool {
        let figures = self.steps.iter().flat_map(|step| [step.cost, step.outside]).chain(self.whole);
        self.profile.as_ref().is_none_or(Profile::is_sound)
            && self.steps.len() == self.places.len().saturating_sub(1)
            && { figures }.all(f64::is_finite)
    }
}
