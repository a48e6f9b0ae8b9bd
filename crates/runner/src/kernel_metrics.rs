//! Metrics from the kernel's counters: evidence that an offload acted, and costs of guests.

use load::Kind;
use record::{HostAccount, SideAccount};
use study::metric::{self, InterruptRates, Metric, UnitOfWork};
use study::{BySide, Side};

pub(crate) fn proof(kind: Kind, side: Side, own: &SideAccount) -> Vec<(Metric, f64)> {
    let counters = &own.window.counters;
    let segments = segments(kind, side, own);
    // The transmitter counts what left it, the receiver what reached it.
    let (packets, bytes) = match side {
        Side::Transmitter => (counters.link.tx_packets, counters.link.tx_bytes),
        Side::Receiver => (counters.link.rx_packets, counters.link.rx_bytes),
    };
    let drops = [
        counters.link.rx_dropped,
        counters.link.tx_dropped,
        counters.queue.drops,
        counters.udp.rcvbuf_errors,
        counters.tcp.backlog_drops,
        counters.tcp.receive_queue_drops,
    ];
    let switches = [counters.context_switches.voluntary, counters.context_switches.involuntary];
    let mut values = vec![
        (metric::WIRE_PACKETS[side], packets as f64),
        (metric::BYTES_PER_WIRE_PACKET[side], ratio(bytes as f64, packets as f64)),
        (metric::SEGMENTS[side], segments as f64),
        (metric::SEGMENTS_PER_WIRE_PACKET[side], ratio(segments as f64, packets as f64)),
        (metric::DROPS[side], total(drops)),
        (metric::CONTEXT_SWITCHES[side], total(switches)),
    ];
    if kind.is_tcp() {
        let tcp = &counters.tcp;
        let reorderings = [tcp.sack_reorders, tcp.reno_reorders, tcp.ts_reorders];
        values.extend([
            (metric::RETRANSMITS[side], tcp.retrans_segs as f64),
            // A duplicate counts in the window in which it is acknowledged.
            (metric::RETRANSMITS_NEEDLESS[side], needless(tcp.retrans_segs, tcp.dsack_segs) as f64),
            (metric::REORDERINGS[side], reorderings.into_iter().fold(0, u64::saturating_add) as f64),
        ]);
        let tcp = own.window.load.tcp;
        values.extend(tcp.mean(tcp.rtt_us).map(|us| (metric::TCP_RTT[side], us * 1e3)));
    }
    values.extend(interrupts(side, |rates| rates.own, &own.window.interrupts, own.window.elapsed_ns));
    values
}

/// In 1/s.
fn interrupts(
    side: Side,
    metrics: fn(InterruptRates) -> BySide<Metric>,
    counted: &host::Interrupts,
    elapsed_ns: u64,
) -> impl Iterator<Item = (Metric, f64)> {
    let seconds = elapsed_ns as f64 / 1e9;
    let rate = move |(interrupt, count): (&host::InterruptKind, &u64)| {
        (metrics(interrupt.rates())[side], ratio(*count as f64, seconds))
    };
    counted.0.iter().map(rate)
}

pub(crate) fn segments(kind: Kind, side: Side, own: &SideAccount) -> u64 {
    let host::Counters { tcp, udp, .. } = &own.window.counters;
    match (kind, side) {
        // UDP counts a buffer that GSO or GRO keeps whole as one datagram, so a stream's are
        // counted by its end.
        (Kind::UdpStream, Side::Transmitter) => own.window.load.sent.messages,
        (Kind::UdpStream, Side::Receiver) => own.window.load.received.messages,
        (kind, Side::Transmitter) if kind.is_tcp() => tcp.out_segs.saturating_add(tcp.retrans_segs),
        (kind, Side::Receiver) if kind.is_tcp() => tcp.in_segs,
        (_, Side::Transmitter) => udp.out_datagrams,
        (_, Side::Receiver) => udp.in_datagrams,
    }
}

pub(crate) fn below(side: Side, underlay: &host::WireCounters, segments: u64) -> [(Metric, f64); 4] {
    let (packets, bytes) = match side {
        Side::Transmitter => (underlay.link.tx_packets, underlay.link.tx_bytes),
        Side::Receiver => (underlay.link.rx_packets, underlay.link.rx_bytes),
    };
    [
        (metric::UNDERLAY_PACKETS[side], packets as f64),
        (metric::BYTES_PER_UNDERLAY_PACKET[side], ratio(bytes as f64, packets as f64)),
        (metric::SEGMENTS_PER_UNDERLAY_PACKET[side], ratio(segments as f64, packets as f64)),
        (metric::UNDERLAY_FRAGMENTS[side], underlay.ip.frag_creates as f64),
    ]
}

pub(crate) fn on_host(side: Side, host: &HostAccount, work: &[(UnitOfWork, f64)]) -> Vec<(Metric, f64)> {
    let all = host.elapsed_ns as f64 * host.cpus.len() as f64;
    let (vcpu, io) = (host.vcpu.running_ns as f64, host.io.running_ns as f64);
    let vcpus = host.elapsed_ns as f64 * host.vcpu_each.len() as f64;
    let mut values = vec![
        // Threads that move packets are not bound to the side's CPUs: more than 100 % is possible.
        (metric::HOST_CPU[side], ratio((vcpu + io) * 100.0, all)),
        (metric::HOST_CPU_VCPU[side], ratio(vcpu * 100.0, all)),
        (metric::HOST_CPU_IO[side], ratio(io * 100.0, all)),
        (metric::HOST_VCPU_WAITING[side], ratio(host.vcpu.waiting_ns as f64 * 100.0, vcpus)),
    ];
    values.extend(work.iter().map(|(unit, work)| (unit.host_service_demand[side], ratio(vcpu + io, *work))));
    values.extend(interrupts(side, |rates| rates.on_host, &host.interrupts, host.elapsed_ns));
    values
}

/// The needless ones of the retransmissions: the other end acknowledges a segment that arrives
/// twice as a duplicate (RFC 2883).
pub(crate) fn needless(retransmitted: u64, duplicates: u64) -> u64 {
    // A duplicate that was sent once (the network may copy) was not retransmitted.
    duplicates.min(retransmitted)
}

pub(crate) fn ratio(dividend: f64, divisor: f64) -> f64 {
    if divisor > 0.0 { dividend / divisor } else { f64::NAN }
}

pub(crate) fn total<const N: usize>(counts: [u64; N]) -> f64 {
    // Counts from another host may exceed every integer type.
    counts.into_iter().map(|count| count as f64).sum()
}

#[cfg(test)]
mod retransmits_tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn needless_ones_were_retransmitted(retransmitted: u64, duplicates: u64) {
            let found = needless(retransmitted, duplicates);
            prop_assert!(found <= retransmitted && found <= duplicates);
        }
    }
}
