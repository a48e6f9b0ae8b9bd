//! The account of a run over time: both sides', and that of the hosts of virtual machines.

use serde::{Deserialize, Serialize};
use words::{BySide, Side};

use crate::disturbance::Disturbance;
use crate::side::{Finished, Measured};

/// One side's account of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideAccount {
    /// Over the window.
    pub window: Measured,
    /// From the sockets' opening to their closing.
    pub whole: Finished,
}

/// The accounts of a run's sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunAccount {
    /// The transmitter's.
    pub transmitter: SideAccount,
    /// The receiver's; `None` where nobody receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<SideAccount>,
    /// What the two sides' virtual machines cost the host that runs them; `None` where the sides
    /// are no virtual machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<BySide<HostAccount>>,
    /// The same of the one virtual machine that both sides are in, where they are in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<HostAccount>,
    /// What others did with this machine's CPUs from before the ramp until after the window; `None`
    /// where that cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<host::Others>,
    /// What disturbed the window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<Disturbance>,
}

impl RunAccount {
    /// What each virtual machine cost the host that runs it; none where the sides are in none.
    #[must_use]
    pub fn hosts_of_guests(&self) -> Vec<&HostAccount> {
        match &self.hosts {
            Some(BySide { transmitter, receiver }) => vec![transmitter, receiver],
            None => self.around.iter().collect(),
        }
    }

    /// What the virtual machine that a side is in cost the host that runs it: both sides may be in
    /// one.
    #[must_use]
    pub fn host_of_guest(&self, side: Side) -> Option<&HostAccount> {
        self.hosts.as_ref().map(|hosts| &hosts[side]).or(self.around.as_ref())
    }
}

/// What a virtual machine cost the host that runs it, over the window and by that host's clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostAccount {
    /// Length of the window, in ns.
    pub elapsed_ns: u64,
    /// The host's CPUs that are this machine's.
    pub cpus: Vec<u32>,
    /// CPU time of each of them, whatever it was spent on.
    pub cpu_each: Vec<host::CpuTimes>,
    /// Interrupts of these CPUs.
    pub interrupts: host::Interrupts,
    /// CPU time of the threads that are its virtual CPUs.
    pub vcpu: host::ThreadTimes,
    /// The same of each of these threads: one for each virtual CPU, or one for all under
    /// single-threaded emulation.
    pub vcpu_each: Vec<host::ThreadTimes>,
    /// Whether these threads keep to the CPUs that are this machine's. If not, they run where the
    /// scheduler puts them.
    pub pinned: bool,
    /// CPU time of the other threads of its process: input and output, timers.
    pub io: host::ThreadTimes,
    /// The counters of its node's interface under the tunnel, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<host::WireCounters>,
}
