//! The vocabulary of metrics: every key under which a run's results are kept, with unit and
//! meaning.

use serde::Serialize;

use crate::kind::Kind;
use crate::scenario::Scenario;
use crate::side::Side;
use crate::suggest;

/// A metric of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Metric {
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
    pub(crate) source: Source,
    /// The testbed that a run needs to yield it.
    #[serde(skip)]
    pub needs: MetricNeeds,
}

/// The subject of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl Metric {
    /// Whether only traffic that flows both ways yields it.
    pub fn is_both_ways(&self) -> bool {
        self.source == Source::BothWays
    }

    /// Whether bulk streams yield it, and nothing else.
    pub fn is_of_streams(&self) -> bool {
        matches!(self.source, Source::Streams | Source::BothWays)
    }

    /// Whether only request-and-response traffic yields it.
    pub fn is_of_transactions(&self) -> bool {
        self.source == Source::Rr
    }

    /// Whether only a search for a rate yields it.
    pub fn is_of_search(&self) -> bool {
        self.source == Source::Search
    }

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// All of them.
    Every,
    /// Bulk streams.
    Streams,
    /// Request and response.
    Rr,
    /// All over TCP.
    Tcp,
    /// UDP with a receiver: without one, loss is unknown.
    Udp,
    /// Streams that flow both ways.
    BothWays,
    /// Searches for the highest rate without loss.
    Search,
    /// Whatever is counted in packets: bulk UDP, received or not.
    Packets,
}

impl Source {
    pub(crate) fn covers(self, kind: Kind) -> bool {
        match self {
            Self::Every => true,
            Self::Streams | Self::BothWays => kind.is_stream(),
            Self::Rr => kind.is_rr(),
            Self::Tcp => kind.is_tcp(),
            Self::Udp => kind.is_udp() && kind.is_received(),
            Self::Search => kind == Kind::UdpStream,
            Self::Packets => matches!(kind, Kind::UdpStream | Kind::Pps),
        }
    }
}

/// Writes the list once for the run as a whole and once for each side.
macro_rules! metrics {
    (
        run { $($group:ident $(($begin:literal))? $part:literal, $unit:literal, $better:ident, $source:ident, $meaning:literal;)* }
        exact { $($exact_key:literal, $exact_source:ident, $exact_meaning:literal;)* }
        side { $($side_group:ident $(($side_begin:literal))? $side_part:literal, $side_unit:literal, $side_better:ident, $side_source:ident, $needs:ident, $side_meaning:literal;)* }
    ) => {
        /// Every metric, in the order in which tables show them.
        pub const METRICS: &[Metric] = &[
            $(Metric {
                key: concat!($($begin,)? $part), unit: $unit, better: Better::$better, meaning: $meaning,
                side: None, own: concat!($($begin,)? $part), group: MetricGroup::$group, part: $part, quantity: $meaning, source: Source::$source, needs: MetricNeeds::Nothing,
            },)*
            $(Metric {
                key: $exact_key, unit: "1", better: Better::Lower, meaning: $exact_meaning,
                side: None, own: $exact_key, group: MetricGroup::Instructions, part: $exact_key, quantity: $exact_meaning, source: Source::$exact_source, needs: MetricNeeds::Exact,
            },)*
            $(Metric {
                key: concat!("transmitter.", $($side_begin,)? $side_part), unit: $side_unit, better: Better::$side_better,
                meaning: concat!($side_meaning, ", at the transmitter"),
                side: Some(Side::Transmitter), own: concat!($($side_begin,)? $side_part), group: MetricGroup::$side_group, part: $side_part, quantity: $side_meaning, source: Source::$side_source, needs: MetricNeeds::$needs,
            },)*
            $(Metric {
                key: concat!("receiver.", $($side_begin,)? $side_part), unit: $side_unit, better: Better::$side_better,
                meaning: concat!($side_meaning, ", at the receiver"),
                side: Some(Side::Receiver), own: concat!($($side_begin,)? $side_part), group: MetricGroup::$side_group, part: $side_part, quantity: $side_meaning, source: Source::$side_source, needs: MetricNeeds::$needs,
            },)*
        ];
    };
}

metrics! {
    run {
        Rate "throughput", "Mbit/s", Higher, Streams, "payload that reached the receiving applications in the window, in both directions";
        Rate "throughput_forward", "Mbit/s", Higher, BothWays, "payload that reached the receiver in the window";
        Rate "throughput_reverse", "Mbit/s", Higher, BothWays, "payload that reached the transmitter in the window";
        Rate "packets", "1/s", Higher, Packets, "datagrams that reached the receiving application in the window; of `pps` packets across the interface, counted there";
        Rate "found_rate", "Mbit/s", Higher, Search, "highest rate of payload that was shown to keep loss within the bound";
        Rate "found_rate_upper", "Mbit/s", Neither, Search, "lowest rate of payload that was shown to exceed the bound; absent if none was";
        Rate "found_packets", "1/s", Higher, Search, "the found rate in datagrams";
        Counter "search_trials", "1", Neither, Search, "trials that the search for the rate made";
        Rate "transactions", "1/s", Higher, Rr, "requests answered in the window";
        Latency("latency_") "mean", "ns", Lower, Rr, "mean time from request to response";
        Latency("latency_") "p50", "ns", Lower, Rr, "time from request to response that half of the transactions stay within";
        Latency("latency_") "p90", "ns", Lower, Rr, "time from request to response that 90 % of the transactions stay within";
        Latency("latency_") "p99", "ns", Lower, Rr, "time from request to response that 99 % of the transactions stay within";
        Latency("latency_") "p99_9", "ns", Lower, Rr, "time from request to response that 99.9 % of the transactions stay within";
        Latency("latency_") "p99_99", "ns", Lower, Rr, "time from request to response that 99.99 % of the transactions stay within";
        Latency("latency_") "max", "ns", Lower, Rr, "longest time from request to response";
        Messages "loss", "%", Lower, Udp, "messages sent that never reached the receiving application";
        Messages "offered", "1", Neither, Udp, "messages the application tried to send in the whole run";
        Messages "sent", "1", Neither, Udp, "messages the kernel accepted from the application in the whole run";
        Messages "received", "1", Neither, Udp, "messages the receiving application received in the whole run";
        Messages "lost", "1", Lower, Udp, "messages sent but not received in the whole run";
        Messages "lost_queue", "1", Lower, Udp, "messages lost in the sender's queue";
        Messages "lost_device", "1", Lower, Udp, "messages lost in a device or on the link";
        Messages "lost_socket", "1", Lower, Udp, "messages lost because the receiving socket was full";
        Messages "lost_unaccounted", "1", Lower, Udp, "messages lost at a place without a counter";
    }
    exact {
        "instructions_byte", Streams, "instructions executed per byte received";
        "instructions_packet", Packets, "instructions executed per datagram received, of `pps` per datagram sent";
        "instructions_transaction", Rr, "instructions executed per transaction";
        "instructions_call", Every, "instructions executed per system call that moves data, at either end";
        "user_instructions_byte", Streams, "instructions executed by programs per byte received";
        "user_instructions_packet", Packets, "instructions executed by programs per datagram received, of `pps` per datagram sent";
        "user_instructions_transaction", Rr, "instructions executed by programs per transaction";
        "user_instructions_call", Every, "instructions executed by programs per system call that moves data, at either end";
        "kernel_instructions_byte", Streams, "instructions executed by the kernel per byte received";
        "kernel_instructions_packet", Packets, "instructions executed by the kernel per datagram received, of `pps` per datagram sent";
        "kernel_instructions_transaction", Rr, "instructions executed by the kernel per transaction";
        "kernel_instructions_call", Every, "instructions executed by the kernel per system call that moves data, at either end";
        "softirq_instructions_byte", Streams, "of the kernel's instructions those in soft interrupts, where packets are received, per byte received";
        "softirq_instructions_packet", Packets, "of the kernel's instructions those in soft interrupts, where packets are received, per datagram received, of `pps` per datagram sent";
        "softirq_instructions_transaction", Rr, "of the kernel's instructions those in soft interrupts, where packets are received, per transaction";
        "softirq_instructions_call", Every, "of the kernel's instructions those in soft interrupts, where packets are received, per system call that moves data, at either end";
    }
    side {
        Cpu("cpu") "", "%", Lower, Every, Nothing, "CPU in use, of all CPUs of the host";
        Cpu("cpu_") "user", "%", Lower, Every, Nothing, "CPU in applications";
        Cpu("cpu_") "system", "%", Lower, Every, Nothing, "CPU in system calls and kernel threads";
        Cpu("cpu_") "irq", "%", Lower, Every, Nothing, "CPU in hardware interrupts";
        Cpu("cpu_") "softirq", "%", Lower, Every, Nothing, "CPU in soft interrupts, where packets are received";
        Cpu("cpu_") "steal", "%", Lower, Every, Nothing, "CPU time that the hypervisor gave to others";
        Cpu("cpu_") "idle", "%", Higher, Every, Nothing, "idle CPU";
        ServiceDemand "service_demand_byte", "ns", Lower, Streams, Nothing, "CPU time per byte received";
        ServiceDemand "service_demand_packet", "ns", Lower, Packets, Nothing, "CPU time per datagram received, of `pps` per packet across the interface";
        ServiceDemand "service_demand_transaction", "ns", Lower, Rr, Nothing, "CPU time per transaction";
        Counter "wire_packets", "1", Neither, Every, Nothing, "packets across the interface in the window, as the interface counts them";
        Counter "bytes_per_wire_packet", "bytes", Neither, Every, Nothing, "mean size of what the interface counts as a packet";
        Counter "segments", "1", Neither, Every, Nothing, "segments or datagrams across the interface in the window, after segmentation";
        Counter "segments_per_wire_packet", "1", Neither, Every, Nothing, "segments carried by one packet: above 1, offloads acted";
        Counter "retransmits", "1", Lower, Tcp, Nothing, "TCP segments retransmitted in the window";
        Counter "retransmits_needless", "1", Lower, Tcp, Nothing, "TCP segments retransmitted although they had arrived, by the other end's duplicate acknowledgments in the window";
        Counter "reorderings", "1", Lower, Tcp, Nothing, "times in the window that TCP detected reordered segments";
        Counter "drops", "1", Lower, Every, Nothing, "packets dropped in the window, by the kernel's counters";
        Counter "underlay_packets", "1", Neither, Every, Tunnel, "packets across the interface under the tunnel in the window, as it counts them";
        Counter "bytes_per_underlay_packet", "bytes", Neither, Every, Tunnel, "mean size of what the interface under the tunnel counts as a packet";
        Counter "segments_per_underlay_packet", "1", Neither, Every, Tunnel, "segments carried by one packet of the underlay: above 1, the underlay's offloads acted";
        Counter "underlay_fragments", "1", Lower, Every, Tunnel, "IP fragments created in the window: packets of the tunnel that exceeded the MTU";
        Counter "host_cpu", "%", Lower, Every, Guests, "CPU that the virtual machine uses of its host, of the host's CPUs of this side";
        Counter "host_cpu_vcpu", "%", Lower, Every, Guests, "CPU of the host that executes the guest, of the host's CPUs of this side";
        Counter "host_cpu_io", "%", Lower, Every, Guests, "CPU of the host that moves the guest's packets, of the host's CPUs of this side";
        Counter "host_vcpu_waiting", "%", Lower, Every, Guests, "time in which a virtual CPU was ready to run but waited for a CPU of its host, the mean of the virtual CPUs";
        ServiceDemand "host_service_demand_byte", "ns", Lower, Streams, Guests, "the host's CPU time per byte received";
        ServiceDemand "host_service_demand_packet", "ns", Lower, Packets, Guests, "the host's CPU time per datagram received";
        ServiceDemand "host_service_demand_transaction", "ns", Lower, Rr, Guests, "the host's CPU time per transaction";
        Counter "context_switches", "1", Lower, Every, Nothing, "context switches of the traffic's threads in the window";
        Counter "timer_interrupts", "1/s", Neither, Every, Nothing, "interrupts of the CPUs' own timers: ticks, and timers between them such as those of TCP's pacing";
        Counter "reschedule_interrupts", "1/s", Neither, Every, Nothing, "interrupts by which a CPU requested another CPU to reschedule";
        Counter "call_interrupts", "1/s", Neither, Every, Nothing, "interrupts by which a CPU requested another CPU to call a function";
        Counter "softirqs_hrtimer", "1/s", Neither, Every, Nothing, "software interrupts for high-resolution timers: the timers of TCP's pacing are among them";
        Counter "softirqs_timer", "1/s", Neither, Every, Nothing, "software interrupts for timers of the tick";
        Counter "softirqs_net_rx", "1/s", Neither, Every, Nothing, "software interrupts for receive work";
        Counter "softirqs_net_tx", "1/s", Neither, Every, Nothing, "software interrupts for send work";
        Counter "softirqs_tasklet", "1/s", Neither, Every, Nothing, "software interrupts for tasklets";
        Counter "softirqs_sched", "1/s", Neither, Every, Nothing, "software interrupts for the scheduler's balancing";
        Counter "host_timer_interrupts", "1/s", Neither, Every, Guests, "interrupts of the CPUs' own timers: ticks, and timers between them such as those of TCP's pacing, on the host's CPUs of this side";
        Counter "host_reschedule_interrupts", "1/s", Neither, Every, Guests, "interrupts by which a CPU requested another CPU to reschedule, on the host's CPUs of this side";
        Counter "host_call_interrupts", "1/s", Neither, Every, Guests, "interrupts by which a CPU requested another CPU to call a function, on the host's CPUs of this side";
        Counter "host_softirqs_hrtimer", "1/s", Neither, Every, Guests, "software interrupts for high-resolution timers: the timers of TCP's pacing are among them, on the host's CPUs of this side";
        Counter "host_softirqs_timer", "1/s", Neither, Every, Guests, "software interrupts for timers of the tick, on the host's CPUs of this side";
        Counter "host_softirqs_net_rx", "1/s", Neither, Every, Guests, "software interrupts for receive work, on the host's CPUs of this side";
        Counter "host_softirqs_net_tx", "1/s", Neither, Every, Guests, "software interrupts for send work, on the host's CPUs of this side";
        Counter "host_softirqs_tasklet", "1/s", Neither, Every, Guests, "software interrupts for tasklets, on the host's CPUs of this side";
        Counter "host_softirqs_sched", "1/s", Neither, Every, Guests, "software interrupts for the scheduler's balancing, on the host's CPUs of this side";
    }
}

/// The metric of a key. A bare key of a side (`cpu`) means the transmitter's.
pub fn find(key: &str) -> Option<&'static Metric> {
    let exact = METRICS.iter().find(|metric| metric.key == key);
    exact.or_else(|| METRICS.iter().find(|metric| metric.own == key))
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
            assert!(seen.insert(metric.key), "{}", metric.key);
            assert_eq!(find(metric.key).unwrap().key, metric.key);
        }
        assert_eq!(METRICS.len(), 25 + 16 + 2 * 48);
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
        let transactions = find("transactions").unwrap();
        assert!(!Kind::TcpStream.produces(transactions));
        assert!(Kind::UdpRr.produces(transactions));
        assert!(!Kind::TcpRr.produces(find("throughput").unwrap()));
        assert!(!Kind::UdpStream.produces(find("retransmits").unwrap()));
        assert!(Kind::UdpStream.produces(find("loss").unwrap()));
        assert!(Kind::TcpCrr.produces(find("latency_p99_99").unwrap()));
    }

    #[test]
    fn what_nobody_receives_is_counted_at_the_transmitter_only() {
        let yields: Vec<&str> =
            METRICS.iter().filter(|metric| Kind::Pps.produces(metric)).map(|metric| metric.key).collect();
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
