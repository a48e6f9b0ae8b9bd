//! Metrics from the kernel's counters: the evidence that an offload acted, and the cost of a
//! virtual machine.

use load::Kind;
use record::{HostAccount, SideAccount};
use study::Side;

use crate::metric_values::{MetricValues, total};
use crate::retransmits::Retransmits;

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
