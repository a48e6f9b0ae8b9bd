//! The vocabulary of metrics: each has its constant here, with key, unit and meaning. A metric is
//! looked up by its key only where a file, a database or a command line is read.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use crate::kind::Kind;
use crate::scenario::Scenario;
use crate::side::{BySide, Side};
use crate::suggest;

/// A metric of a run. Metrics are equal and ordered as their keys, and serialised as these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric(&'static MetricDefinition);

/// The definition of a metric, which its key distinguishes from all others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// Anything.
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

    /// Whether it is said in the plural: "retransmits are", "throughput is". Counts are, but for
    /// those of messages, which say what became of them: "lost is".
    pub fn is_plural(&self) -> bool {
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
    /// All.
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

macro_rules! metric {
    ($side:expr, [$($of_side:literal)?] [$($at_side:literal)?], $group:ident [$($own:literal)+] $part:literal, $unit:literal, $better:ident, $source:ident, $needs:ident, [$($meaning:literal)+]) => {
        Metric(&MetricDefinition {
            key: concat!($($of_side,)? $($own),+),
            unit: $unit,
            better: Better::$better,
            meaning: concat!($($meaning,)+ $($at_side)?),
            quantity: concat!($($meaning),+),
            side: $side,
            own: concat!($($own),+),
            group: MetricGroup::$group,
            part: $part,
            source: Source::$source,
            needs: MetricNeeds::$needs,
        })
    };
}

macro_rules! metric_by_side {
    ($($definition:tt)+) => {
        BySide {
            transmitter: metric!(Some(Side::Transmitter), ["transmitter."] [", at the transmitter"], $($definition)+),
            receiver: metric!(Some(Side::Receiver), ["receiver."] [", at the receiver"], $($definition)+),
        }
    };
}

macro_rules! metrics {
    (
        run { $($run:ident: $group:ident $(($begin:literal))? $part:literal, $unit:literal, $better:ident, $source:ident, $meaning:literal;)* }
        instructions { $($instructions:ident: $work:literal, $counted:ident, $per:literal;)* }
        side { $($side:ident: $side_group:ident $(($side_begin:literal))? $side_part:literal, $side_unit:literal, $side_better:ident, $side_source:ident, $needs:ident, $side_meaning:literal;)* }
        interrupts { $($interrupt:ident: $rate:literal, $interrupts:literal;)* }
        units { $($unit_of_work:ident: $word:literal, $demand:ident, $host_demand:ident, $counts:ident;)* }
    ) => {
        $(
            #[doc = $meaning]
            pub const $run: Metric = metric!(None, [] [], $group [$($begin)? $part] $part, $unit, $better, $source, Nothing, [$meaning]);
        )*
        $(
            #[doc = concat!("Instructions executed ", $per)]
            pub const $instructions: Instructions = Instructions {
                all: metric!(None, [] [], Instructions ["instructions_" $work] $work, "1", Lower, $counted, Exact, ["instructions executed " $per]),
                user: metric!(None, [] [], Instructions ["user_instructions_" $work] $work, "1", Lower, $counted, Exact, ["instructions executed by programs " $per]),
                kernel: metric!(None, [] [], Instructions ["kernel_instructions_" $work] $work, "1", Lower, $counted, Exact, ["instructions executed by the kernel " $per]),
                softirq: metric!(None, [] [], Instructions ["softirq_instructions_" $work] $work, "1", Lower, $counted, Exact, [
                    "of the kernel's instructions those in soft interrupts, where packets are received, " $per
                ]),
            };
        )*
        $(
            #[doc = $side_meaning]
            pub const $side: BySide<Metric> =
                metric_by_side!($side_group [$($side_begin)? $side_part] $side_part, $side_unit, $side_better, $side_source, $needs, [$side_meaning]);
        )*
        $(
            #[doc = $interrupts]
            pub const $interrupt: InterruptRates = InterruptRates {
                own: metric_by_side!(Counter [$rate] $rate, "1/s", Neither, Every, Nothing, [$interrupts]),
                on_host: metric_by_side!(Counter ["host_" $rate] $rate, "1/s", Neither, Every, Guests, [
                    $interrupts ", on the host's CPUs of this side"
                ]),
            };
        )*
        $(
            #[doc = concat!("A ", $word, " as a unit of work.")]
            pub const $unit_of_work: UnitOfWork = UnitOfWork {
                word: $word,
                service_demand: $demand,
                host_service_demand: $host_demand,
                instructions: $counts,
            };
        )*

        /// Every metric, in the order in which tables show them.
        pub const METRICS: &[Metric] = &[
            $($run,)*
            $($instructions.all,)*
            $($instructions.user,)*
            $($instructions.kernel,)*
            $($instructions.softirq,)*
            $($side.transmitter,)*
            $($interrupt.own.transmitter,)*
            $($interrupt.on_host.transmitter,)*
            $($side.receiver,)*
            $($interrupt.own.receiver,)*
            $($interrupt.on_host.receiver,)*
        ];
    };
}

metrics! {
    run {
        THROUGHPUT: Rate "throughput", "Mbit/s", Higher, Streams, "payload that reached the receiving applications in the window, in both directions";
        THROUGHPUT_FORWARD: Rate "throughput_forward", "Mbit/s", Higher, BothWays, "payload that reached the receiver in the window";
        THROUGHPUT_REVERSE: Rate "throughput_reverse", "Mbit/s", Higher, BothWays, "payload that reached the transmitter in the window";
        PACKETS: Rate "packets", "1/s", Higher, Packets, "datagrams that reached the receiving application in the window; of `pps` packets across the interface, counted there";
        FOUND_RATE: Rate "found_rate", "Mbit/s", Higher, Search, "highest rate of payload that was shown to keep loss within the bound";
        FOUND_RATE_UPPER: Rate "found_rate_upper", "Mbit/s", Neither, Search, "lowest rate of payload that was shown to exceed the bound; absent if none was";
        FOUND_PACKETS: Rate "found_packets", "1/s", Higher, Search, "the found rate in datagrams";
        SEARCH_TRIALS: Counter "search_trials", "1", Neither, Search, "trials that the search for the rate made";
        TRANSACTIONS: Rate "transactions", "1/s", Higher, Rr, "requests answered in the window";
        LATENCY_MEAN: Latency("latency_") "mean", "ns", Lower, Rr, "mean time from request to response";
        LATENCY_P50: Latency("latency_") "p50", "ns", Lower, Rr, "time from request to response that half of the transactions stay within";
        LATENCY_P90: Latency("latency_") "p90", "ns", Lower, Rr, "time from request to response that 90 % of the transactions stay within";
        LATENCY_P99: Latency("latency_") "p99", "ns", Lower, Rr, "time from request to response that 99 % of the transactions stay within";
        LATENCY_P99_9: Latency("latency_") "p99_9", "ns", Lower, Rr, "time from request to response that 99.9 % of the transactions stay within";
        LATENCY_P99_99: Latency("latency_") "p99_99", "ns", Lower, Rr, "time from request to response that 99.99 % of the transactions stay within";
        LATENCY_MAX: Latency("latency_") "max", "ns", Lower, Rr, "longest time from request to response";
        LOSS: Messages "loss", "%", Lower, Udp, "messages sent that never reached the receiving application";
        OFFERED: Messages "offered", "1", Neither, Udp, "messages the application tried to send in the whole run";
        SENT: Messages "sent", "1", Neither, Udp, "messages the kernel accepted from the application in the whole run";
        RECEIVED: Messages "received", "1", Neither, Udp, "messages the receiving application received in the whole run";
        LOST: Messages "lost", "1", Lower, Udp, "messages sent but not received in the whole run";
        LOST_QUEUE: Messages "lost_queue", "1", Lower, Udp, "messages lost in the sender's queue";
        LOST_DEVICE: Messages "lost_device", "1", Lower, Udp, "messages lost in a device or on the link";
        LOST_SOCKET: Messages "lost_socket", "1", Lower, Udp, "messages lost because the receiving socket was full";
        LOST_UNACCOUNTED: Messages "lost_unaccounted", "1", Lower, Udp, "messages lost at a place without a counter";
    }
    instructions {
        INSTRUCTIONS_BYTE: "byte", Streams, "per byte received";
        INSTRUCTIONS_PACKET: "packet", Packets, "per datagram received, of `pps` per datagram sent";
        INSTRUCTIONS_TRANSACTION: "transaction", Rr, "per transaction";
        INSTRUCTIONS_CALL: "call", Every, "per system call that moves data, at either end";
    }
    side {
        CPU: Cpu("cpu") "", "%", Lower, Every, Nothing, "CPU in use, of all CPUs of the host";
        CPU_USER: Cpu("cpu_") "user", "%", Lower, Every, Nothing, "CPU in applications";
        CPU_SYSTEM: Cpu("cpu_") "system", "%", Lower, Every, Nothing, "CPU in system calls and kernel threads";
        CPU_IRQ: Cpu("cpu_") "irq", "%", Lower, Every, Nothing, "CPU in hardware interrupts";
        CPU_SOFTIRQ: Cpu("cpu_") "softirq", "%", Lower, Every, Nothing, "CPU in soft interrupts, where packets are received";
        CPU_STEAL: Cpu("cpu_") "steal", "%", Lower, Every, Nothing, "CPU time that the hypervisor gave to others";
        CPU_IDLE: Cpu("cpu_") "idle", "%", Higher, Every, Nothing, "idle CPU";
        SERVICE_DEMAND_BYTE: ServiceDemand "service_demand_byte", "ns", Lower, Streams, Nothing, "CPU time per byte received";
        SERVICE_DEMAND_PACKET: ServiceDemand "service_demand_packet", "ns", Lower, Packets, Nothing, "CPU time per datagram received, of `pps` per packet across the interface";
        SERVICE_DEMAND_TRANSACTION: ServiceDemand "service_demand_transaction", "ns", Lower, Rr, Nothing, "CPU time per transaction";
        WIRE_PACKETS: Counter "wire_packets", "1", Neither, Every, Nothing, "packets across the interface in the window, as the interface counts them";
        BYTES_PER_WIRE_PACKET: Counter "bytes_per_wire_packet", "bytes", Neither, Every, Nothing, "mean size of what the interface counts as a packet";
        SEGMENTS: Counter "segments", "1", Neither, Every, Nothing, "segments or datagrams across the interface in the window, after segmentation";
        SEGMENTS_PER_WIRE_PACKET: Counter "segments_per_wire_packet", "1", Neither, Every, Nothing, "segments carried by one packet: above 1, offloads acted";
        RETRANSMITS: Counter "retransmits", "1", Lower, Tcp, Nothing, "TCP segments retransmitted in the window";
        RETRANSMITS_NEEDLESS: Counter "retransmits_needless", "1", Lower, Tcp, Nothing, "TCP segments retransmitted although they had arrived, by the other end's duplicate acknowledgments in the window";
        REORDERINGS: Counter "reorderings", "1", Lower, Tcp, Nothing, "times in the window that TCP detected reordered segments";
        TCP_RTT: Counter "tcp_rtt", "ns", Lower, Connection, Nothing, "smoothed round-trip time of the TCP connections, by the kernel's estimate (`TCP_INFO`), the mean over readings in the window";
        DROPS: Counter "drops", "1", Lower, Every, Nothing, "packets dropped in the window, by the kernel's counters";
        UNDERLAY_PACKETS: Counter "underlay_packets", "1", Neither, Every, Tunnel, "packets across the interface under the tunnel in the window, as it counts them";
        BYTES_PER_UNDERLAY_PACKET: Counter "bytes_per_underlay_packet", "bytes", Neither, Every, Tunnel, "mean size of what the interface under the tunnel counts as a packet";
        SEGMENTS_PER_UNDERLAY_PACKET: Counter "segments_per_underlay_packet", "1", Neither, Every, Tunnel, "segments carried by one packet of the underlay: above 1, the underlay's offloads acted";
        UNDERLAY_FRAGMENTS: Counter "underlay_fragments", "1", Lower, Every, Tunnel, "IP fragments created in the window: packets of the tunnel that exceeded the MTU";
        HOST_CPU: Counter "host_cpu", "%", Lower, Every, Guests, "CPU that the virtual machine uses of its host, of the host's CPUs of this side";
        HOST_CPU_VCPU: Counter "host_cpu_vcpu", "%", Lower, Every, Guests, "CPU of the host that executes the guest, of the host's CPUs of this side";
        HOST_CPU_IO: Counter "host_cpu_io", "%", Lower, Every, Guests, "CPU of the host that moves the guest's packets, of the host's CPUs of this side";
        HOST_VCPU_WAITING: Counter "host_vcpu_waiting", "%", Lower, Every, Guests, "time in which a virtual CPU was ready to run but waited for a CPU of its host, the mean of the virtual CPUs";
        HOST_SERVICE_DEMAND_BYTE: ServiceDemand "host_service_demand_byte", "ns", Lower, Streams, Guests, "the host's CPU time per byte received";
        HOST_SERVICE_DEMAND_PACKET: ServiceDemand "host_service_demand_packet", "ns", Lower, Packets, Guests, "the host's CPU time per datagram received";
        HOST_SERVICE_DEMAND_TRANSACTION: ServiceDemand "host_service_demand_transaction", "ns", Lower, Rr, Guests, "the host's CPU time per transaction";
        CONTEXT_SWITCHES: Counter "context_switches", "1", Lower, Every, Nothing, "context switches of the traffic's threads in the window";
    }
    interrupts {
        TIMER_INTERRUPTS: "timer_interrupts", "interrupts of the CPUs' own timers: ticks, and timers between them such as those of TCP's pacing";
        RESCHEDULE_INTERRUPTS: "reschedule_interrupts", "interrupts by which a CPU requested another CPU to reschedule";
        CALL_INTERRUPTS: "call_interrupts", "interrupts by which a CPU requested another CPU to call a function";
        SOFTIRQS_HRTIMER: "softirqs_hrtimer", "software interrupts for high-resolution timers: the timers of TCP's pacing are among them";
        SOFTIRQS_TIMER: "softirqs_timer", "software interrupts for timers of the tick";
        SOFTIRQS_NET_RX: "softirqs_net_rx", "software interrupts for receive work";
        SOFTIRQS_NET_TX: "softirqs_net_tx", "software interrupts for send work";
        SOFTIRQS_TASKLET: "softirqs_tasklet", "software interrupts for tasklets";
        SOFTIRQS_SCHED: "softirqs_sched", "software interrupts for the scheduler's balancing";
    }
    units {
        BYTE: "byte", SERVICE_DEMAND_BYTE, HOST_SERVICE_DEMAND_BYTE, INSTRUCTIONS_BYTE;
        PACKET: "packet", SERVICE_DEMAND_PACKET, HOST_SERVICE_DEMAND_PACKET, INSTRUCTIONS_PACKET;
        TRANSACTION: "transaction", SERVICE_DEMAND_TRANSACTION, HOST_SERVICE_DEMAND_TRANSACTION, INSTRUCTIONS_TRANSACTION;
    }
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
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_unique_and_found() {
        let mut seen = HashSet::new();
        for metric in METRICS {
            assert!(seen.insert(metric.key), "{metric}");
            assert_eq!(find(metric.key), Some(*metric));
        }
        assert_eq!(METRICS.len(), 25 + 16 + 2 * 49);
        assert_eq!(find("speed"), None);
    }

    #[test]
    fn a_bare_side_metric_is_the_transmitters() {
        assert_eq!(find("cpu").unwrap().key, "transmitter.cpu");
        assert_eq!(find("service_demand_byte").unwrap().side, Some(Side::Transmitter));
        assert_eq!(find("receiver.drops").unwrap().side, Some(Side::Receiver));
        assert_eq!(find("throughput").unwrap().side, None);
    }

    #[test]
    fn counts_are_written_in_the_plural() {
        for key in ["transactions", "packets", "receiver.retransmits", "instructions_byte", "call_interrupts"]
        {
            assert!(find(key).unwrap().is_plural(), "{key}");
        }
        for key in ["throughput", "latency_p99", "loss", "lost", "cpu", "service_demand_byte"] {
            assert!(!find(key).unwrap().is_plural(), "{key}");
        }
    }

    #[test]
    fn streams_have_no_transactions_and_rr_no_throughput() {
        assert!(!Kind::TcpStream.produces(TRANSACTIONS));
        assert!(Kind::UdpRr.produces(TRANSACTIONS));
        assert!(!Kind::TcpRr.produces(THROUGHPUT));
        assert!(!Kind::UdpStream.produces(RETRANSMITS.transmitter));
        assert!(Kind::UdpStream.produces(LOSS));
        assert!(Kind::TcpCrr.produces(LATENCY_P99_99));
    }

    #[test]
    fn what_nobody_receives_is_counted_at_the_transmitter_only() {
        let yields: Vec<&str> =
            METRICS.iter().filter(|metric| Kind::Pps.produces(**metric)).map(|metric| metric.key).collect();
        assert_eq!(yields[0], "packets");
        let of_run = |key: &&&str| !key.starts_with("transmitter.");
        assert!(
            yields[1..]
                .iter()
                .filter(of_run)
                .all(|key| key.ends_with("instructions_packet") || key.ends_with("instructions_call")),
            "{yields:?}"
        );
        assert!(yields.contains(&"transmitter.service_demand_packet"));
        assert!(!yields.contains(&"transmitter.service_demand_byte"));
    }

    #[test]
    fn the_kernels_part_is_without_programs() {
        for (key, includes) in [
            ("instructions_packet", true),
            ("user_instructions_byte", true),
            ("kernel_instructions_packet", false),
            ("softirq_instructions_call", false),
            ("receiver.cpu", true),
            ("cpu_user", true),
            ("cpu_softirq", false),
            ("service_demand_byte", true),
            ("latency_p99", false),
        ] {
            assert_eq!(find(key).unwrap().includes_programs(), includes, "{key}");
        }
    }

    #[test]
    fn values_have_the_range_of_what_they_count() {
        for (key, range) in [
            ("throughput", (0.0, None)),
            ("loss", (0.0, Some(100.0))),
            ("receiver.cpu_idle", (0.0, Some(100.0))),
            ("transmitter.segments_per_underlay_packet", (1.0, None)),
            ("transmitter.segments", (0.0, None)),
        ] {
            assert_eq!(find(key).unwrap().range(), range, "{key}");
        }
    }

    #[test]
    fn a_misspelt_key_is_understood() {
        assert_eq!(nearest("troughput"), Some("throughput"));
        assert_eq!(nearest("service_demand_bytes"), Some("service_demand_byte"));
        assert_eq!(nearest("transmiter.cpu"), Some("transmitter.cpu"));
    }
}
