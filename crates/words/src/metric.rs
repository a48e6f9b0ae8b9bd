//! The vocabulary of metrics. A metric is looked up by its key only where a file, a database or a
//! command line is read; elsewhere it is a constant.

mod table;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::LazyLock;
use std::{fmt, ptr};

use serde::{Serialize, Serializer};

use crate::kind::Kind;
use crate::scenario::Scenario;
use crate::side::{BySide, Side};
use crate::suggest;

pub use table::*;

/// A metric of a run. Metrics are equal and ordered as their keys, and serialised as these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric(&'static MetricDefinition);

/// The definition of a metric, which its key distinguishes from all others.
#[derive(Debug, Serialize)]
pub struct MetricDefinition {
    /// The name in files, tables and the store: `throughput`, `transmitter.cpu`.
    pub key: &'static str,
    /// The unit, empty for a plain number.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Its meaning, as a fragment of a sentence.
    pub meaning: &'static str,
    /// The meaning without its side.
    #[serde(skip)]
    pub quantity: &'static str,
    /// Its side, if it has one.
    #[serde(skip)]
    pub side: Option<Side>,
    /// The key without its side: `cpu`.
    #[serde(skip)]
    pub own: &'static str,
    /// The subject.
    #[serde(skip)]
    pub group: MetricGroup,
    /// The part of the subject: `p99` of latency, `softirq` of CPU, empty for the whole.
    #[serde(skip)]
    pub part: &'static str,
    /// The traffic whose runs yield it.
    #[serde(skip)]
    pub source: Source,
    /// The testbed that a run needs to yield it.
    #[serde(skip)]
    pub needs: MetricNeeds,
}

impl Metric {
    /// The metric with this full key.
    pub fn from_key(key: &str) -> Option<Self> {
        static BY_KEY: LazyLock<HashMap<&str, Metric>> =
            LazyLock::new(|| METRICS.iter().map(|metric| (metric.key, *metric)).collect());
        BY_KEY.get(key).copied()
    }
}

impl PartialEq for MetricDefinition {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for MetricDefinition {}

impl PartialOrd for MetricDefinition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MetricDefinition {
    fn cmp(&self, other: &Self) -> Ordering {
        // The usual case, and faster than to compare two equal texts.
        if ptr::eq(self, other) { Ordering::Equal } else { self.key.cmp(other.key) }
    }
}

impl Deref for Metric {
    type Target = MetricDefinition;

    fn deref(&self) -> &MetricDefinition {
        self.0
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}

/// The subject of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricGroup {
    /// Work done per second, the aim of the traffic.
    Rate,
    /// Times from request to response.
    Latency,
    /// Messages that arrived, were lost or were repeated.
    Messages,
    /// Instructions executed.
    Instructions,
    /// CPU use of a host.
    Cpu,
    /// CPU time per unit of work.
    ServiceDemand,
    /// Anything else that a host counts.
    Counter,
}

/// The kind of testbed that a metric needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricNeeds {
    /// No kind: every testbed has it.
    Nothing,
    /// Two virtual machines: it is counted on their host.
    Guests,
    /// A tunnel: it is counted at the interface under it.
    Tunnel,
    /// Exact mode: it is counted by the emulator.
    Exact,
}

impl MetricNeeds {
    /// Whether a study with this scenario, in exact mode or not, has it.
    pub fn is_met(self, scenario: Scenario, exact: bool) -> bool {
        match self {
            Self::Nothing => true,
            Self::Guests => scenario.has_guests(),
            Self::Tunnel => scenario.has_tunnel(),
            Self::Exact => exact,
        }
    }

    /// The requirement, as a clause.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Nothing => "every testbed has it",
            Self::Guests => "it is counted on the host of virtual machines (`vm`, `vm-vxlan`)",
            Self::Tunnel => "it is counted at the interface under a tunnel (`vxlan`, `vm-vxlan`)",
            Self::Exact => "it is counted in exact mode only (`exact = true`)",
        }
    }
}

impl MetricDefinition {
    /// Whether it is measured for a whole flow only, not for each condition's turns in it.
    /// Latencies and messages are, and so are counts that the host makes of virtual machines.
    pub fn is_of_whole_run(&self, scenario: Scenario) -> bool {
        let is_of_host = match self.needs {
            MetricNeeds::Guests => true,
            MetricNeeds::Tunnel => scenario.has_guests(),
            MetricNeeds::Nothing | MetricNeeds::Exact => false,
        };
        is_of_host || matches!(self.group, MetricGroup::Latency | MetricGroup::Messages)
    }

    /// Whether it counts work of netassay's own sending and receiving loops beside the kernel's.
    pub fn includes_programs(&self) -> bool {
        match self.group {
            MetricGroup::Instructions => {
                !self.own.starts_with("kernel_") && !self.own.starts_with("softirq_")
            }
            MetricGroup::Cpu => matches!(self.part, "" | "user" | "idle"),
            MetricGroup::ServiceDemand => true,
            _ => false,
        }
    }

    /// The least possible value and the largest, if there is one: a share is at most 100 %, a
    /// packet carries a segment at least, and nothing is negative.
    pub fn range(&self) -> (f64, Option<f64>) {
        let least = if self.own.starts_with("segments_per_") { 1.0 } else { 0.0 };
        (least, (self.unit == "%").then_some(100.0))
    }

    /// Whether its verb is in the plural: "retransmits are", "throughput is".
    pub fn is_plural(&self) -> bool {
        // Counts are, but for those of messages, which say what became of them: "lost is".
        matches!(self.unit, "1" | "1/s" | "bytes") && self.source != Source::Udp
    }
}

/// Which direction of a metric is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It is evidence, neither good nor bad.
    Neither,
}

/// The kinds of traffic that yield a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Every kind.
    Every,
    /// Bulk streams.
    Streams,
    /// Request and response.
    Rr,
    /// All over TCP.
    Tcp,
    /// TCP whose connections last.
    Connection,
    /// UDP with a receiver: without one, loss is unknown.
    Udp,
    /// Streams that flow both ways.
    BothWays,
    /// Searches for the highest rate without loss.
    Search,
    /// Bulk UDP, received or not: it is counted in packets.
    Packets,
}

impl Source {
    pub(crate) fn covers(self, kind: Kind) -> bool {
        match self {
            Self::Every => true,
            Self::Streams | Self::BothWays => kind.is_stream(),
            Self::Rr => kind.is_rr(),
            Self::Tcp => kind.is_tcp(),
            Self::Connection => kind.is_tcp() && kind != Kind::TcpCrr,
            Self::Udp => kind.is_udp() && kind.is_received(),
            Self::Search => kind == Kind::UdpStream,
            Self::Packets => matches!(kind, Kind::UdpStream | Kind::Pps),
        }
    }
}

/// Instructions for a unit of work, by who executed them.
#[derive(Debug, Clone, Copy)]
pub struct Instructions {
    /// All of them.
    pub all: Metric,
    /// Instructions of programs.
    pub user: Metric,
    /// Instructions of the kernel.
    pub kernel: Metric,
    /// The kernel's in soft interrupts.
    pub softirq: Metric,
}

/// The rates of a kind of interrupt.
#[derive(Debug, Clone, Copy)]
pub struct InterruptRates {
    /// On the CPUs of the side.
    pub own: BySide<Metric>,
    /// Of a virtual machine, on its host's CPUs.
    pub on_host: BySide<Metric>,
}

/// A unit of work, with the metrics of its cost.
#[derive(Debug)]
pub struct UnitOfWork {
    /// Its name.
    pub word: &'static str,
    /// CPU time.
    pub service_demand: BySide<Metric>,
    /// CPU time of the host of a virtual machine.
    pub host_service_demand: BySide<Metric>,
    /// Instructions.
    pub instructions: Instructions,
}

/// The metric that a person's word means. A bare key of a side (`cpu`) is the transmitter's.
pub fn find(word: &str) -> Option<Metric> {
    Metric::from_key(word).or_else(|| METRICS.iter().find(|metric| metric.own == word).copied())
}

/// Every key that [`find`] knows: full keys, and bare ones of a side.
pub fn keys() -> impl Iterator<Item = &'static str> {
    let bare = METRICS.iter().filter(|metric| metric.side == Some(Side::Transmitter));
    METRICS.iter().map(|metric| metric.key).chain(bare.map(|metric| metric.own))
}

/// The key nearest to an unknown word.
pub fn nearest(word: &str) -> Option<&'static str> {
    suggest::nearest(word, keys())
}

#[cfg(test)]
mod tests;
