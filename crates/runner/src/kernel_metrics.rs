//! Metrics from the kernel's counters: the evidence that an offload acted, and the cost of a
//! virtual machine.

use host::TcpCounters;
use load::{Kind, TcpInfo};
use record::{HostAccount, SideAccount};
use study::Side;

/// The evidence that an offload acted. The transmitter counts what left it, the receiver what
/// reached it.
pub(crate) fn proof(metrics: &mut MetricValues, kind: Kind, side: Side, own: &SideAccount) {
    let counters = &own.window.counters;
    let segments = segments(kind, side, own);
    let (packets, bytes) = match side {
        Side::Transmitter => (counters.link.tx_packets, counters.link.tx_bytes),
        Side::Receiver => (counters.link.rx_packets, counters.link.rx_bytes),
    };
    metrics.put(&format!("{side}.wire_packets"), packets as f64);
    metrics.ratio(&format!("{side}.bytes_per_wire_packet"), bytes as f64, packets as f64);
    metrics.put(&format!("{side}.segments"), segments as f64);
    metrics.ratio(&format!("{side}.segments_per_wire_packet"), segments as f64, packets as f64);
    if kind.is_tcp() {
        let retransmits = Retransmits::counted(&counters.tcp);
        metrics.put(&format!("{side}.retransmits"), retransmits.all as f64);
        metrics.put(&format!("{side}.retransmits_needless"), retransmits.needless as f64);
        metrics.put(&format!("{side}.reorderings"), retransmits.reorderings as f64);
    }
    let drops = total([
        counters.link.rx_dropped,
        counters.link.tx_dropped,
        counters.queue.drops,
        counters.udp.rcvbuf_errors,
        counters.tcp.backlog_drops,
        counters.tcp.receive_queue_drops,
    ]);
    metrics.put(&format!("{side}.drops"), drops);
    let switches = total([counters.context_switches.voluntary, counters.context_switches.involuntary]);
    metrics.put(&format!("{side}.context_switches"), switches);
    interrupts(metrics, &format!("{side}."), &own.window.interrupts, own.window.elapsed_ns);
}

/// The rate of each kind of interrupt, in 1/s.
fn interrupts(metrics: &mut MetricValues, prefix: &str, counted: &host::Interrupts, elapsed_ns: u64) {
    for (interrupt, &count) in &counted.0 {
        metrics.ratio(&format!("{prefix}{}", interrupt.key()), count as f64, elapsed_ns as f64 / 1e9);
    }
}

/// The segments or datagrams that a side sent or received. TCP counts segments. UDP counts a buffer
/// that GSO or GRO keeps whole as one datagram, so the datagrams of a stream are counted by its
/// end.
pub(crate) fn segments(kind: Kind, side: Side, own: &SideAccount) -> u64 {
    let host::Counters { tcp, udp, .. } = &own.window.counters;
    if kind == Kind::UdpStream {
        return match side {
            Side::Transmitter => own.window.load.sent.messages,
            Side::Receiver => own.window.load.received.messages,
        };
    }
    match (kind.is_tcp(), side) {
        (true, Side::Transmitter) => tcp.out_segs.saturating_add(tcp.retrans_segs),
        (true, Side::Receiver) => tcp.in_segs,
        (false, Side::Transmitter) => udp.out_datagrams,
        (false, Side::Receiver) => udp.in_datagrams,
    }
}

/// The evidence from the interface under a tunnel.
pub(crate) fn below(metrics: &mut MetricValues, side: Side, underlay: &host::WireCounters, segments: u64) {
    let (packets, bytes) = match side {
        Side::Transmitter => (underlay.link.tx_packets, underlay.link.tx_bytes),
        Side::Receiver => (underlay.link.rx_packets, underlay.link.rx_bytes),
    };
    metrics.put(&format!("{side}.underlay_packets"), packets as f64);
    metrics.ratio(&format!("{side}.bytes_per_underlay_packet"), bytes as f64, packets as f64);
    metrics.ratio(&format!("{side}.segments_per_underlay_packet"), segments as f64, packets as f64);
    metrics.put(&format!("{side}.underlay_fragments"), underlay.ip.frag_creates as f64);
}

/// The host's cost of a virtual machine. Threads that move packets are not bound to the side's
/// CPUs, so more than 100 % is possible.
pub(crate) fn on_host(metrics: &mut MetricValues, side: Side, host: &HostAccount, work: &[(&str, f64)]) {
    let all = host.elapsed_ns as f64 * host.cpus.len() as f64;
    let (vcpu, io) = (host.vcpu.running_ns as f64, host.io.running_ns as f64);
    for (part, spent) in [("", vcpu + io), ("_vcpu", vcpu), ("_io", io)] {
        metrics.ratio(&format!("{side}.host_cpu{part}"), spent * 100.0, all);
    }
    let vcpus = host.elapsed_ns as f64 * host.vcpu_each.len() as f64;
    metrics.ratio(&format!("{side}.host_vcpu_waiting"), host.vcpu.waiting_ns as f64 * 100.0, vcpus);
    for (of, work) in work {
        metrics.ratio(&format!("{side}.host_service_demand_{of}"), vcpu + io, *work);
    }
    interrupts(metrics, &format!("{side}.host_"), &host.interrupts, host.elapsed_ns);
}

/// Segments that one end retransmitted. The other end acknowledges a segment that arrives twice as
/// a duplicate (RFC 2883): its retransmission was needless. Reordering causes this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Retransmits {
    /// All of them.
    pub(crate) all: u64,
    /// Segments whose first copy had arrived.
    pub(crate) needless: u64,
    /// Times that TCP saw reordering.
    pub(crate) reorderings: u64,
}

impl Retransmits {
    /// The retransmits of a network namespace in a window. A duplicate counts in the window in
    /// which it is acknowledged.
    pub(crate) fn counted(tcp: &TcpCounters) -> Self {
        // Older kernels count acknowledgments, each for one segment or more, not segments.
        let duplicates = tcp.dsack_segs.max(tcp.dsacks.saturating_add(tcp.dsacks_ofo));
        let reorderings =
            [tcp.reno_reorders, tcp.ts_reorders].into_iter().fold(tcp.sack_reorders, u64::saturating_add);
        Self::new(tcp.retrans_segs, duplicates, reorderings)
    }

    /// The retransmits of connections over their whole lives.
    pub(crate) fn from_connections(connections: &[&TcpInfo]) -> Self {
        let sum =
            |of: fn(&TcpInfo) -> u64| connections.iter().map(|info| of(info)).fold(0, u64::saturating_add);
        Self::new(sum(|info| info.retransmits), sum(|info| info.duplicates), sum(|info| info.reorderings))
    }

    /// A duplicate that was sent once (the network may copy) was not retransmitted.
    fn new(all: u64, duplicates: u64, reorderings: u64) -> Self {
        Self { all, needless: duplicates.min(all), reorderings }
    }

    /// Segments whose first copy was lost, as far as the other end reported.
    pub(crate) fn lost(&self) -> u64 {
        self.all - self.needless
    }
}

/// Figures by key.
#[derive(Default)]
pub(crate) struct MetricValues {
    pub(crate) entries: Vec<(String, f64)>,
}

impl MetricValues {
    pub(crate) fn put(&mut self, key: &str, value: f64) {
        if value.is_finite() {
            self.entries.push((key.to_owned(), value));
        }
    }

    pub(crate) fn ratio(&mut self, key: &str, dividend: f64, divisor: f64) {
        if divisor > 0.0 {
            self.put(key, dividend / divisor);
        }
    }
}

/// A sum of counts from another host: it may exceed every integer type.
pub(crate) fn total<const N: usize>(counts: [u64; N]) -> f64 {
    counts.into_iter().map(|count| count as f64).sum()
}

#[cfg(test)]
mod retransmits_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn older_kernels_tell_by_acknowledgments() {
        let counters = TcpCounters { retrans_segs: 100, dsacks: 40, dsacks_ofo: 2, ..TcpCounters::default() };
        assert_eq!(Retransmits::counted(&counters).needless, 42);
        let counters = TcpCounters { dsack_segs: 90, ..counters };
        assert_eq!(Retransmits::counted(&counters).needless, 90);
    }

    proptest! {
        #[test]
        fn lost_and_needless_add_up(counts in prop::array::uniform7(any::<u64>())) {
            let [retrans_segs, dsack_segs, dsacks, dsacks_ofo, sack_reorders, reno_reorders, ts_reorders] = counts;
            let counters = TcpCounters {
                retrans_segs, dsack_segs, dsacks, dsacks_ofo, sack_reorders, reno_reorders, ts_reorders,
                ..TcpCounters::default()
            };
            let info = TcpInfo { retransmits: retrans_segs, duplicates: dsack_segs, ..TcpInfo::default() };
            for found in [Retransmits::counted(&counters), Retransmits::from_connections(&[&info, &info])] {
                prop_assert_eq!(found.lost() + found.needless, found.all);
                prop_assert!(found.needless <= found.all);
            }
        }
    }
}
