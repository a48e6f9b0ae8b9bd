//! What an agent tells of its side of a run.

use serde::{Deserialize, Serialize};

/// One side's account of one window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Length of the window on this host's own clock, in ns.
    pub elapsed_ns: u64,
    /// What the workload's threads did in the window, all flows together.
    pub load: load::Sample,
    /// CPU time of the host's CPUs in the window.
    pub cpu: host::CpuTimes,
    /// The CPUs that were counted.
    pub cpus: Vec<u32>,
    /// CPU time of each of them, in their order.
    pub cpu_each: Vec<host::CpuTimes>,
    /// CPU time of this agent's process: the workload's threads and the one that watches them.
    pub own: host::ProcessTimes,
    /// CPU time of each of the workload's threads, in the order of [`load::Outcome::threads`].
    pub threads: Vec<host::ThreadTimes>,
    /// The kernel's counters over the window.
    pub counters: host::Counters,
    /// Interrupts of the host's CPUs in the window.
    pub interrupts: host::Interrupts,
    /// Of a tunnel: the counters of the interface under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<host::WireCounters>,
    /// How long the window was by each of the host's clocks.
    pub clock: host::ClockCheck,
    /// How late its edges were.
    pub late: Late,
    /// The most that the interface lets through, where that is known.
    pub link: host::LinkLimit,
    /// The counters on their way through the window.
    pub series: Series,
}

/// How late the edges of a window were, in ns after they were due: the agent's main thread sleeps
/// until then, and shares its CPUs with the workload's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    /// The opening.
    pub opened_ns: u64,
    /// The closing.
    pub closed_ns: u64,
}

/// Counters at many instants of a window, each counted from the window's opening. All columns have
/// one length; the last row is of the window's closing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The step between two rows that was aimed at, in ns. A row that the machine had no time for
    /// is missing, not late.
    pub step_ns: u64,
    /// When, in ns after the opening.
    pub at_ns: Vec<u64>,
    /// Payload bytes sent by this host.
    pub bytes_sent: Vec<u64>,
    /// Payload bytes received.
    pub bytes_received: Vec<u64>,
    /// Messages sent.
    pub messages_sent: Vec<u64>,
    /// Messages received.
    pub messages_received: Vec<u64>,
    /// Transactions done.
    pub transactions: Vec<u64>,
    /// Datagrams that this host's sockets dropped.
    pub socket_drops: Vec<u64>,
    /// Packets that the interface's queueing disciplines dropped.
    pub queue_drops: Vec<u64>,
    /// Time, in ns, in which the host's CPUs worked; the kernel tells it in steps of 10 ms.
    pub cpu_busy_ns: Vec<u64>,
}

impl Series {
    /// The counters by name; `at_ns` is not among them.
    #[must_use]
    pub fn columns(&self) -> [(&'static str, &[u64]); 8] {
        [
            ("bytes_sent", &self.bytes_sent),
            ("bytes_received", &self.bytes_received),
            ("messages_sent", &self.messages_sent),
            ("messages_received", &self.messages_received),
            ("transactions", &self.transactions),
            ("socket_drops", &self.socket_drops),
            ("queue_drops", &self.queue_drops),
            ("cpu_busy_ns", &self.cpu_busy_ns),
        ]
    }
}

/// What guests cost the host that runs them in one window, by that host's own account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    /// Length of the window on this host's clock, in ns.
    pub elapsed_ns: u64,
    /// How late its edges were.
    pub late: Late,
    /// Of each guest, in the order in which they were asked for.
    pub guests: Vec<GuestTimes>,
    /// CPU time of each of the CPUs that were asked for, in their order.
    pub cpu_each: Vec<host::CpuTimes>,
    /// Interrupts of each of them.
    pub interrupts_each: Vec<host::Interrupts>,
    /// The counters of the interface under the tunnel between the guests, if there is one.
    pub underlay: Option<host::WireCounters>,
}

/// CPU time of one guest's process on the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestTimes {
    /// Of each thread that is a virtual CPU of the guest; of one for all of them under
    /// single-threaded emulation.
    pub vcpu_each: Vec<host::ThreadTimes>,
    /// Of its other threads: input and output, timers.
    pub io: host::ThreadTimes,
}

/// One side's account of a whole run, from opening its sockets to closing them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// What the threads did.
    pub outcome: load::Outcome,
    /// The kernel's counters over the whole run.
    pub counters: host::Counters,
}
