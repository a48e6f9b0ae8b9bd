//! From both sides' accounts of a run to its metrics (`study::metric` says what each means).

use load::Traffic;
use study::{Side, WorkloadKind};
use testbed::{RunAccount, SideAccount};

use crate::loss::Loss;

/// The metrics of one run, by key, in the unit that the vocabulary gives. What cannot be told, such as a ratio
/// whose divisor is nothing, is left out.
#[must_use]
pub fn metrics(kind: WorkloadKind, traffic: &Traffic, account: &RunAccount) -> Vec<(String, f64)> {
    let mut metrics = Sheet::default();
    let sent = account.transmitter.window.load.sent;
    // The word of whoever takes: what was sent may still be on the way, or lost. A reversed stream is taken by the
    // transmitter, one of both ways by either end.
    let forward = account.receiver.as_ref().map(Taken::by).unwrap_or_default();
    let reverse = Taken::by(&account.transmitter);

    if kind.is_stream() {
        metrics.put("throughput", (forward.bits_per_second() + reverse.bits_per_second()) / 1e6);
    }
    if kind == WorkloadKind::UdpStream {
        metrics.put("packets", forward.messages_per_second() + reverse.messages_per_second());
    }
    let discarded = account.transmitter.window.counters.link.tx_packets;
    if kind == WorkloadKind::Pps {
        // The interface's word: what the program handed over may have stayed in a queue.
        metrics.ratio("packets", discarded as f64, account.transmitter.window.elapsed_ns as f64 / 1e9);
    }
    if kind.is_rr() {
        // The side that asks knows when an answer came.
        let asked = &account.transmitter.window;
        metrics.ratio("transactions", sent.transactions as f64, asked.elapsed_ns as f64 / 1e9);
        latencies(&mut metrics, account);
    }
    if let Some(loss) = Loss::of(traffic, account) {
        loss.tell(|key, value| metrics.put(key, value));
    }
    let sides =
        [(Side::Transmitter, Some(&account.transmitter)), (Side::Receiver, account.receiver.as_ref())];
    for (side, own) in sides.into_iter().filter_map(|(side, own)| Some((side, own?))) {
        cpu(&mut metrics, side, own);
        let busy = own.window.cpu.busy() as f64;
        // Per unit of useful work, and the useful work is what arrived.
        match kind {
            WorkloadKind::TcpStream | WorkloadKind::UdpStream => {
                metrics.ratio(
                    &format!("{side}.service_demand_byte"),
                    busy,
                    (forward.bytes + reverse.bytes) as f64,
                );
            }
            WorkloadKind::TcpRr | WorkloadKind::UdpRr | WorkloadKind::TcpCrr => {
                metrics.ratio(&format!("{side}.service_demand_transaction"), busy, sent.transactions as f64);
            }
            WorkloadKind::Pps => {
                metrics.ratio(&format!("{side}.service_demand_packet"), busy, discarded as f64);
            }
        }
        if kind == WorkloadKind::UdpStream {
            metrics.ratio(
                &format!("{side}.service_demand_packet"),
                busy,
                (forward.messages + reverse.messages) as f64,
            );
        }
        proof(&mut metrics, kind, side, own);
    }
    metrics.entries
}

/// The throughput of each direction, for a stream that flows both ways.
#[must_use]
pub fn directions(account: &RunAccount) -> Vec<(String, f64)> {
    let mut metrics = Sheet::default();
    let forward = account.receiver.as_ref().map(Taken::by).unwrap_or_default();
    metrics.put("throughput_forward", forward.bits_per_second() / 1e6);
    metrics.put("throughput_reverse", Taken::by(&account.transmitter).bits_per_second() / 1e6);
    metrics.entries
}

/// What one end took in its window.
#[derive(Default)]
struct Taken {
    bytes: u64,
    messages: u64,
    seconds: f64,
}

impl Taken {
    fn by(end: &SideAccount) -> Self {
        let load::Counts { bytes, messages, .. } = end.window.load.received;
        Self { bytes, messages, seconds: end.window.elapsed_ns as f64 / 1e9 }
    }

    /// 0 where nothing was taken.
    fn bits_per_second(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.bytes as f64 * 8.0 / self.seconds }
    }

    fn messages_per_second(&self) -> f64 {
        if self.messages == 0 { 0.0 } else { self.messages as f64 / self.seconds }
    }
}

#[derive(Default)]
struct Sheet {
    entries: Vec<(String, f64)>,
}

impl Sheet {
    fn put(&mut self, key: &str, value: f64) {
        if value.is_finite() {
            self.entries.push((key.to_owned(), value));
        }
    }

    fn ratio(&mut self, key: &str, dividend: f64, divisor: f64) {
        if divisor > 0.0 {
            self.put(key, dividend / divisor);
        }
    }
}

fn latencies(metrics: &mut Sheet, account: &RunAccount) {
    let Some(latency) = &account.transmitter.whole.outcome.latency else { return };
    metrics.put("latency_mean", latency.mean);
    metrics.put("latency_p50", latency.p50 as f64);
    metrics.put("latency_p90", latency.p90 as f64);
    metrics.put("latency_p99", latency.p99 as f64);
    metrics.put("latency_p99_9", latency.p99_9 as f64);
    metrics.put("latency_p99_99", latency.p99_99 as f64);
    metrics.put("latency_max", latency.max as f64);
}

fn cpu(metrics: &mut Sheet, side: Side, own: &SideAccount) {
    let Some(usage) = own.window.cpu.usage() else { return };
    let parts = [
        ("cpu", usage.busy()),
        ("cpu_user", usage.user),
        ("cpu_system", usage.system),
        ("cpu_irq", usage.irq),
        ("cpu_softirq", usage.softirq),
        ("cpu_steal", usage.steal),
        ("cpu_idle", usage.idle),
    ];
    for (part, percent) in parts {
        metrics.put(&format!("{side}.{part}"), percent);
    }
}

/// What the kernel counted: the evidence that an offload acted. The transmitter counts what left it, the receiver what
/// reached it.
fn proof(metrics: &mut Sheet, kind: WorkloadKind, side: Side, own: &SideAccount) {
    let counters = &own.window.counters;
    let (packets, bytes, segments) = match side {
        Side::Transmitter => (
            counters.link.tx_packets,
            counters.link.tx_bytes,
            if kind.is_tcp() {
                counters.tcp.out_segs + counters.tcp.retrans_segs
            } else {
                counters.udp.out_datagrams
            },
        ),
        Side::Receiver => (
            counters.link.rx_packets,
            counters.link.rx_bytes,
            if kind.is_tcp() { counters.tcp.in_segs } else { counters.udp.in_datagrams },
        ),
    };
    metrics.put(&format!("{side}.wire_packets"), packets as f64);
    metrics.ratio(&format!("{side}.bytes_per_wire_packet"), bytes as f64, packets as f64);
    metrics.put(&format!("{side}.segments"), segments as f64);
    metrics.ratio(&format!("{side}.segments_per_wire_packet"), segments as f64, packets as f64);
    if kind.is_tcp() {
        metrics.put(&format!("{side}.retransmits"), counters.tcp.retrans_segs as f64);
    }
    let drops = counters.link.rx_dropped
        + counters.link.tx_dropped
        + counters.queue.drops
        + counters.udp.rcvbuf_errors
        + counters.tcp.backlog_drops
        + counters.tcp.receive_queue_drops;
    metrics.put(&format!("{side}.drops"), drops as f64);
    let switches = counters.context_switches.voluntary + counters.context_switches.involuntary;
    metrics.put(&format!("{side}.context_switches"), switches as f64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::account;

    /// With the plain traffic of its kind.
    fn metrics(kind: WorkloadKind, account: &RunAccount) -> Vec<(String, f64)> {
        super::metrics(kind, &Traffic::new(crate::words::kind(kind)), account)
    }

    fn value(metrics: &[(String, f64)], key: &str) -> f64 {
        metrics.iter().find(|(known, _)| known == key).unwrap_or_else(|| panic!("no {key}")).1
    }

    #[test]
    fn every_metric_is_of_the_vocabulary_and_of_its_workload() {
        use WorkloadKind::{Pps, TcpCrr, TcpRr, TcpStream, UdpRr, UdpStream};
        for kind in [TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps] {
            let mut account = account();
            account.receiver = account.receiver.filter(|_| kind.is_received());
            let mut metrics = metrics(kind, &account);
            if kind.is_stream() {
                metrics.extend(directions(&account));
            }
            let expected: Vec<&str> = study::metric::METRICS
                .iter()
                .filter(|metric| kind.produces(metric) && metric.needs == study::metric::Needs::Nothing)
                .map(|metric| metric.key)
                .collect();
            let mut found: Vec<&str> = metrics.iter().map(|(key, _)| key.as_str()).collect();
            found.sort_unstable();
            let mut sorted = expected.clone();
            sorted.sort_unstable();
            assert_eq!(found, sorted, "{kind}");
        }
    }

    #[test]
    fn rates_are_the_receivers_over_its_own_clock() {
        // 125 MB in 0.5 s by the receiver's clock.
        let metrics = metrics(WorkloadKind::TcpStream, &account());
        assert!((value(&metrics, "throughput") - 2000.0).abs() < 1e-9);
        // 0.3 s of CPU for 125 MB.
        assert!((value(&metrics, "transmitter.service_demand_byte") - 2.4).abs() < 1e-9);
        assert!((value(&metrics, "transmitter.cpu") - 60.0).abs() < 1e-9);
    }

    #[test]
    fn what_nobody_receives_counts_at_the_interface() {
        let mut account = account();
        account.receiver = None;
        let metrics = metrics(WorkloadKind::Pps, &account);
        // 100 packets in 0.5 s, though the program handed over 1000; 0.3 s of CPU for them.
        assert_eq!(value(&metrics, "packets"), 200.0);
        assert_eq!(value(&metrics, "transmitter.service_demand_packet"), 3e6);
    }

    #[test]
    fn a_stream_counts_where_it_is_taken_whichever_way_it_flows() {
        let forward = account();
        let mut reverse = account();
        let answering = reverse.receiver.as_mut().unwrap();
        std::mem::swap(&mut reverse.transmitter.window.load, &mut answering.window.load);
        let mut both = account();
        both.transmitter.window.load.received = both.receiver.as_ref().unwrap().window.load.received;
        let throughput = |account| value(&metrics(WorkloadKind::UdpStream, account), "throughput");
        assert_eq!(throughput(&forward), throughput(&reverse));
        assert_eq!(throughput(&both), 2.0 * throughput(&forward));
        let directions = directions(&both);
        let (forwards, reverses) =
            (value(&directions, "throughput_forward"), value(&directions, "throughput_reverse"));
        assert_eq!((forwards, reverses), (throughput(&forward), throughput(&reverse)));
        let packets = |account| value(&metrics(WorkloadKind::UdpStream, account), "packets");
        assert_eq!(packets(&both), 4000.0);
        let demand =
            |account| value(&metrics(WorkloadKind::UdpStream, account), "receiver.service_demand_byte");
        assert_eq!(demand(&both), demand(&forward) / 2.0);
    }

    #[test]
    fn a_run_without_traffic_has_no_ratios() {
        let mut idle = account();
        idle.receiver.as_mut().unwrap().window.load.received = load::Counts::default();
        idle.transmitter.window.counters = host::Counters::default();
        let metrics = metrics(WorkloadKind::TcpStream, &idle);
        assert!(metrics.iter().all(|(_, value)| value.is_finite()));
        assert!(!metrics.iter().any(|(key, _)| key == "transmitter.service_demand_byte"));
        assert!(!metrics.iter().any(|(key, _)| key == "transmitter.bytes_per_wire_packet"));
        assert_eq!(value(&metrics, "throughput"), 0.0);
    }
}
