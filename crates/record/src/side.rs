//! An agent's account of its side of a run.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Length of the window on this host's own clock, in ns.
    pub elapsed_ns: u64,
    /// Work of the workload's threads in the window, for all flows.
    pub load: load::Sample,
    pub cpu: host::CpuTimes,
    pub cpus: Vec<u32>,
    /// CPU time of each of `cpus`.
    pub cpu_each: Vec<host::CpuTimes>,
    /// CPU time of this agent's process: the workload's threads and the one that samples them.
    pub own: host::ProcessTimes,
    /// CPU time of each of the workload's threads, in the order of [`load::EndOutcome::threads`].
    pub threads: Vec<host::ThreadTimes>,
    pub counters: host::Counters,
    pub interrupts: host::Interrupts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<host::WireCounters>,
    /// Changes in the counters of the interface's driver, or of the interface under the tunnel;
    /// `None` if none changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<host::DeviceCounters>,
    /// Time in idle states, frequencies and temperatures, which earlier versions recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<serde_json::Value>,
    /// The throttling of the host's processes by a quota of CPU time; `None` without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<host::Throttled>,
    /// The length of the window on each of the host's clocks.
    pub clock: host::ClockCheck,
    pub late: Late,
    pub link: host::LinkLimit,
    pub series: Series,
}

/// The lateness of a window's edges, in ns after they were due: the agent's main thread wakes then,
/// and shares its CPUs with the workload's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    pub opened_ns: u64,
    pub closed_ns: u64,
}

/// Counters at many times of a window, each counted from its opening. All columns have one length;
/// the last row is at the window's end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The intended step between two rows, in ns. On a busy machine rows are missing, not late.
    pub step_ns: u64,
    /// The time of each row, in ns after the opening.
    pub at_ns: Vec<u64>,
    pub bytes_sent: Vec<u64>,
    pub bytes_received: Vec<u64>,
    pub messages_sent: Vec<u64>,
    pub messages_received: Vec<u64>,
    pub transactions: Vec<u64>,
    /// Datagrams that this host's sockets dropped.
    pub socket_drops: Vec<u64>,
    /// Packets that the interface's queueing disciplines dropped.
    pub queue_drops: Vec<u64>,
    /// Busy time of the host's CPUs, in ns; the kernel counts it in steps of 10 ms.
    pub cpu_busy_ns: Vec<u64>,
    /// The readings of this host's TCP connections, up to each row; empty without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<load::TcpReadings>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column<'a> {
    pub name: &'static str,
    pub counts: CountedEvents,
    pub values: &'a [u64],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedEvents {
    Bytes,
    /// The workload's work: messages, transactions.
    Work,
    Drops,
    /// CPU time, in ns.
    CpuTime,
}

impl Series {
    pub fn columns(&self) -> [Column<'_>; 8] {
        let column = |name, counts, values| Column { name, counts, values };
        [
            column("bytes_sent", CountedEvents::Bytes, &self.bytes_sent),
            column("bytes_received", CountedEvents::Bytes, &self.bytes_received),
            column("messages_sent", CountedEvents::Work, &self.messages_sent),
            column("messages_received", CountedEvents::Work, &self.messages_received),
            column("transactions", CountedEvents::Work, &self.transactions),
            column("socket_drops", CountedEvents::Drops, &self.socket_drops),
            column("queue_drops", CountedEvents::Drops, &self.queue_drops),
            column("cpu_busy_ns", CountedEvents::CpuTime, &self.cpu_busy_ns),
        ]
    }

    pub fn misshapen(&self) -> Option<String> {
        let rows = self.at_ns.len();
        let columns = self.columns().map(|column| (column.name, column.values.len()));
        let optional = Some(("tcp", self.tcp.len())).filter(|(_, length)| *length > 0);
        let (name, length) = columns.into_iter().chain(optional).find(|(_, length)| *length != rows)?;
        Some(format!("{name} has {length} values for {rows} moments"))
    }

    /// Reads one as it is stored.
    ///
    /// # Errors
    /// A field that is missing, unknown or of another type, with its place in the text; columns
    /// that differ in length.
    pub fn read(json: &str) -> serde_json::Result<Self> {
        let series: Self = serde_json::from_str(json)?;
        if let Some(why) = series.misshapen() { Err(serde_json::Error::custom(why)) } else { Ok(series) }
    }
}

/// The host's cost of guests in one window, by the host's account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    pub elapsed_ns: u64,
    pub late: Late,
    /// CPU time of each guest's process, in the order of the request: of each thread that is a
    /// virtual CPU (one thread for all under single-threaded emulation), and of its other threads:
    /// input and output, timers.
    pub guests: Vec<(Vec<host::ThreadTimes>, host::ThreadTimes)>,
    pub cpu_each: Vec<host::CpuTimes>,
    pub interrupts_each: Vec<host::Interrupts>,
    pub underlay: Option<host::WireCounters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<host::Throttled>,
}

/// One side's account of a whole run, from opening its sockets to closing them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    pub outcome: load::EndOutcome,
    pub counters: host::Counters,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InTurns {
    /// The sum of the counted parts of its turns. Their clocks are over the whole flow, and their
    /// lateness is the worst of all turns.
    pub sum: Measured,
    pub turns: Vec<CountedTurn>,
    pub response: Response,
    /// The bytes that the end had sent when each turn began.
    pub sent: Vec<u64>,
    /// The bytes that it had received when the counted part of each turn began.
    pub received: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedTurn {
    /// Its number in the flow, from 0.
    pub number: u32,
    /// The condition of the turn before, as an index into the flow's conditions.
    pub after: u8,
    /// The length of its counted part, in ns.
    pub ns: u64,
    /// The work in it: bytes received, transactions done, or packets sent where nobody receives.
    pub work: u64,
}

/// The work in each tenth of a condition's turns, the part included that is not counted: how it
/// answers to a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Turns after one of the same condition, in which nothing was switched.
    pub after_itself: [Slice; TENTHS],
    /// Turns after one of another condition.
    pub after_another: [Slice; TENTHS],
}

/// The parts of a turn.
pub const TENTHS: usize = 10;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    pub ns: u64,
    pub work: u64,
}

/// The turns in which a run shared a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    pub turn_ns: u64,
    /// Its first part, which is not counted, in ns.
    pub settle_ns: u64,
    /// The condition's index among the flow's conditions.
    pub own: u8,
    /// The counted turns, by the side that the traffic reaches.
    pub turns: Vec<CountedTurn>,
    pub response: Response,
    /// The bytes of a TCP stream that arrived in counted parts after turns of other conditions, and
    /// had been sent in these; not recorded by earlier builds.
    #[serde(default)]
    pub from_others: u64,
}

#[cfg(test)]
mod tests;
