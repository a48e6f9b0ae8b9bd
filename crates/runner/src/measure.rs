//! Metrics from both sides' accounts of a run (`study::metric` explains each).

use load::exact::Account;
use load::{Kind, Traffic};
use record::{RateSearch, RunAccount, SideAccount};
use study::Side;

use crate::foreign::Foreign;
use crate::kernel_metrics::{MetricValues, below, on_host, proof, segments, total};
use crate::loss::Loss;

/// The metrics of one run, by key, in the unit of the vocabulary. What is unknown, such as a ratio
/// with a divisor of 0, is left out.
#[must_use]
pub fn metrics(traffic: &Traffic, account: &RunAccount) -> Vec<(String, f64)> {
    let kind = traffic.kind;
    let mut metrics = MetricValues::default();
    let sent = account.transmitter.window.load.sent;
    // As the receiver counted: sent datagrams may be on the way, or lost. The transmitter receives
    // a reversed stream, and both ends one of both directions.
    let forward = account.receiver.as_ref().map(Received::by).unwrap_or_default();
    let reverse = Received::by(&account.transmitter);

    if kind.is_stream() {
        metrics.put("throughput", (forward.bits_per_second() + reverse.bits_per_second()) / 1e6);
    }
    if kind == Kind::UdpStream {
        metrics.put("packets", forward.messages_per_second() + reverse.messages_per_second());
    }
    let discarded = account.transmitter.window.counters.link.tx_packets;
    if kind == Kind::Pps {
        // As the interface counted: packets that the program sent may be in a queue.
        metrics.ratio("packets", discarded as f64, account.transmitter.window.elapsed_ns as f64 / 1e9);
    }
    if kind.is_rr() {
        // The side that asks knows when an answer came.
        let asked = &account.transmitter.window;
        metrics.ratio("transactions", sent.transactions as f64, asked.elapsed_ns as f64 / 1e9);
        if account.turns.is_none() {
            latencies(&mut metrics, account);
        }
    }
    if let Some(search) = &account.search {
        searched(&mut metrics, search, traffic);
    }
    // Latencies, losses and the host's counts of its virtual machines are of whole flows only.
    if let Some(loss) = Loss::from_account(traffic, account).filter(|_| account.turns.is_none()) {
        loss.put_metrics(|key, value| metrics.put(key, value));
    }
    let done = work(kind, &forward, &reverse, sent.transactions, discarded);
    for (side, own) in account.sides() {
        cpu(&mut metrics, side, own);
        // Only if all CPU time is the run's: the part of other processes cannot be separated.
        if !Foreign::of_side(account, side).disturbs {
            for (of, work) in &done {
                metrics.ratio(&format!("{side}.service_demand_{of}"), own.window.cpu.busy() as f64, *work);
            }
        }
        proof(&mut metrics, kind, side, own);
        let host = account.hosts.as_ref().filter(|_| account.turns.is_none()).map(|hosts| &hosts[side]);
        if let Some(host) = host {
            on_host(&mut metrics, side, host, &done);
        }
        let counted = own.window.underlay.or_else(|| host.and_then(|host| host.underlay));
        if let Some(underlay) = counted {
            below(&mut metrics, side, &underlay, segments(kind, side, own));
        }
    }
    metrics.entries
}

/// The useful work of a window: the arrived messages or bytes, with their unit and count.
fn work(
    kind: Kind,
    forward: &Received,
    reverse: &Received,
    transactions: u64,
    discarded: u64,
) -> Vec<(&'static str, f64)> {
    let bytes = ("byte", total([forward.bytes, reverse.bytes]));
    match kind {
        Kind::TcpStream => vec![bytes],
        Kind::UdpStream => vec![bytes, ("packet", total([forward.messages, reverse.messages]))],
        Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => {
            vec![("transaction", transactions as f64)]
        }
        Kind::Pps => vec![("packet", discarded as f64)],
    }
}

/// The throughput of each direction, for a stream that flows both ways.
#[must_use]
pub fn directions(account: &RunAccount) -> Vec<(String, f64)> {
    let mut metrics = MetricValues::default();
    let forward = account.receiver.as_ref().map(Received::by).unwrap_or_default();
    metrics.put("throughput_forward", forward.bits_per_second() / 1e6);
    metrics.put("throughput_reverse", Received::by(&account.transmitter).bits_per_second() / 1e6);
    metrics.entries
}

/// The bytes and datagrams that one end received in its window.
#[derive(Default)]
struct Received {
    bytes: u64,
    messages: u64,
    seconds: f64,
}

impl Received {
    fn by(end: &SideAccount) -> Self {
        let load::Counts { bytes, messages, .. } = end.window.load.received;
        Self { bytes, messages, seconds: end.window.elapsed_ns as f64 / 1e9 }
    }

    /// 0 where nothing was received.
    fn bits_per_second(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.bytes as f64 * 8.0 / self.seconds }
    }

    fn messages_per_second(&self) -> f64 {
        if self.messages == 0 { 0.0 } else { self.messages as f64 / self.seconds }
    }
}

fn searched(metrics: &mut MetricValues, search: &RateSearch, traffic: &Traffic) {
    if let Some(rate) = search.lower {
        metrics.put("found_rate", rate / 1e6);
        metrics.put("found_packets", rate / (f64::from(traffic.message) * 8.0));
    }
    if let Some(rate) = search.upper {
        metrics.put("found_rate_upper", rate / 1e6);
    }
    metrics.put("search_trials", search.trials.len() as f64);
}

fn latencies(metrics: &mut MetricValues, account: &RunAccount) {
    let Some(latency) = &account.transmitter.whole.outcome.latency else { return };
    metrics.put("latency_mean", latency.mean);
    metrics.put("latency_p50", latency.p50 as f64);
    metrics.put("latency_p90", latency.p90 as f64);
    metrics.put("latency_p99", latency.p99 as f64);
    metrics.put("latency_p99_9", latency.p99_9 as f64);
    metrics.put("latency_p99_99", latency.p99_99 as f64);
    metrics.put("latency_max", latency.max as f64);
}

fn cpu(metrics: &mut MetricValues, side: Side, own: &SideAccount) {
    let Some([user, system, irq, softirq, steal, idle]) = own.window.cpu.percentages() else { return };
    let parts = [
        ("cpu", user + system + irq + softirq),
        ("cpu_user", user),
        ("cpu_system", system),
        ("cpu_irq", irq),
        ("cpu_softirq", softirq),
        ("cpu_steal", steal),
        ("cpu_idle", idle),
    ];
    for (part, percent) in parts {
        metrics.put(&format!("{side}.{part}"), percent);
    }
}

/// The metrics of one run in exact mode, by key, in instructions: the guest's clock counts one
/// instruction as one ns.
pub(crate) fn instructions(kind: Kind, message: u32, account: &Account) -> Vec<(String, f64)> {
    let mut units = match kind {
        Kind::TcpStream => vec![("byte", f64::from(message))],
        Kind::UdpStream => vec![("packet", 1.0), ("byte", f64::from(message))],
        Kind::Pps => vec![("packet", 1.0)],
        Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => vec![("transaction", 1.0)],
    };
    units.push(("call", account.calls));
    let mut parts =
        vec![("", account.whole.median), ("user_", account.user()), ("kernel_", account.kernel.median)];
    parts.extend(account.softirq.map(|softirq| ("softirq_", softirq.median)));
    let metric = |(unit, per): (&str, f64)| {
        let of_part = |(part, taken): &(&str, f64)| (format!("{part}instructions_{unit}"), taken / per);
        parts.iter().map(of_part).collect::<Vec<_>>()
    };
    units.into_iter().flat_map(metric).collect()
}

#[cfg(test)]
mod tests {
    use record::HostAccount;
    use study::{BySide, Scenario};

    use super::*;
    use record::sample::{account, guest};

    /// With the plain traffic of its kind.
    fn metrics(kind: Kind, account: &RunAccount) -> Vec<(String, f64)> {
        super::metrics(&Traffic::new(kind), account)
    }

    fn value(metrics: &[(String, f64)], key: &str) -> f64 {
        metrics.iter().find(|(known, _)| known == key).unwrap_or_else(|| panic!("no {key}")).1
    }

    /// The other end chooses its figures. (Found by fuzzing.)
    #[test]
    fn the_largest_figures_that_an_agent_can_tell_are_summed() {
        let mut account = account();
        for own in [Some(&mut account.transmitter), account.receiver.as_mut()].into_iter().flatten() {
            let counters = &mut own.window.counters;
            counters.link.rx_dropped = u64::MAX;
            counters.link.tx_dropped = u64::MAX;
            counters.context_switches.voluntary = u64::MAX;
            counters.context_switches.involuntary = 1;
            counters.tcp.out_segs = u64::MAX;
            counters.tcp.retrans_segs = 1;
            own.window.load.received.bytes = u64::MAX;
            own.window.load.received.messages = u64::MAX;
        }
        for kind in [Kind::TcpStream, Kind::UdpStream] {
            let metrics = metrics(kind, &account);
            assert_eq!(value(&metrics, "transmitter.drops"), 2.0 * u64::MAX as f64);
            assert_eq!(value(&metrics, "transmitter.context_switches"), u64::MAX as f64);
        }
    }

    #[test]
    fn every_metric_is_of_the_vocabulary_and_of_its_workload() {
        use Kind::{Pps, TcpCrr, TcpRr, TcpStream, UdpRr, UdpStream};
        for kind in [TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps] {
            for scenario in [Scenario::Veth, Scenario::Vxlan, Scenario::Vm, Scenario::VmVxlan] {
                let mut account = account();
                account.receiver = account.receiver.filter(|_| kind.is_received());
                if scenario.has_guests() {
                    account.hosts = Some(BySide::from_fn(|side| on(side as u32, scenario.has_tunnel())));
                } else if scenario.has_tunnel() {
                    for own in
                        [Some(&mut account.transmitter), account.receiver.as_mut()].into_iter().flatten()
                    {
                        own.window.underlay = Some(underlay());
                    }
                }
                let mut metrics = metrics(kind, &account);
                if kind.is_stream() {
                    metrics.extend(directions(&account));
                }
                let mut expected: Vec<&str> = study::metric::METRICS
                    .iter()
                    .filter(|metric| kind.produces(metric) && metric.needs.is_met(scenario, false))
                    .filter(|metric| !metric.is_of_search())
                    .map(|metric| metric.key)
                    .collect();
                let mut found: Vec<&str> = metrics.iter().map(|(key, _)| key.as_str()).collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{kind} on {scenario}");
            }
        }
    }

    /// An interface under a tunnel that sent 50 packets of 2000 bytes and got 25 of 4000.
    fn underlay() -> host::WireCounters {
        let mut underlay = host::WireCounters::default();
        (underlay.link.tx_packets, underlay.link.tx_bytes) = (50, 100_000);
        (underlay.link.rx_packets, underlay.link.rx_bytes) = (25, 100_000);
        underlay.ip.frag_creates = 3;
        underlay
    }

    /// A host that spent 0.4 s of half a second on two virtual CPUs, which waited for 0.2 s, and
    /// 0.2 s on their packets.
    fn on(cpu: u32, tunnel: bool) -> HostAccount {
        HostAccount {
            elapsed_ns: 500_000_000,
            cpu_each: vec![host::CpuTimes::default()],
            interrupts: host::Interrupts(
                host::InterruptKind::kinds().map(|interrupt| (interrupt, 300)).collect(),
            ),
            io: host::ThreadTimes { running_ns: 200_000_000, ..host::ThreadTimes::default() },
            underlay: tunnel.then(underlay),
            ..guest(cpu, &[(300, 50), (100, 150)])
        }
    }

    #[test]
    fn what_a_virtual_machine_costs_is_counted_inside_and_outside() {
        let mut account = account();
        account.hosts = Some(BySide { transmitter: on(0, true), receiver: on(1, true) });
        account.transmitter.window.counters.tcp.out_segs = 500;
        let metrics = metrics(Kind::TcpStream, &account);
        let value = |key: &str| value(&metrics, key);
        assert!((value("transmitter.cpu") - 60.0).abs() < 1e-9);
        assert_eq!(value("transmitter.host_cpu"), 120.0);
        assert_eq!((value("receiver.host_cpu_vcpu"), value("receiver.host_cpu_io")), (80.0, 40.0));
        assert_eq!(value("receiver.host_vcpu_waiting"), 20.0);
        // 0.6 s for 125 MB.
        assert!((value("receiver.host_service_demand_byte") - 4.8).abs() < 1e-9);
        assert_eq!(value("transmitter.segments_per_underlay_packet"), 10.0);
        assert_eq!(value("receiver.bytes_per_underlay_packet"), 4000.0);
        assert_eq!(value("transmitter.underlay_fragments"), 3.0);
        // 100 in half a second inside, 300 outside.
        assert_eq!(value("transmitter.timer_interrupts"), 200.0);
        assert_eq!(value("receiver.host_softirqs_net_rx"), 600.0);
    }

    #[test]
    fn a_segment_that_arrived_twice_was_retransmitted_needlessly() {
        let mut account = account();
        let tcp = &mut account.transmitter.window.counters.tcp;
        (tcp.retrans_segs, tcp.dsack_segs, tcp.sack_reorders) = (1000, 960, 12);
        let metrics = metrics(Kind::TcpStream, &account);
        let value = |key: &str| value(&metrics, key);
        assert_eq!(
            (value("transmitter.retransmits"), value("transmitter.retransmits_needless")),
            (1000.0, 960.0)
        );
        assert_eq!(value("transmitter.reorderings"), 12.0);
    }

    #[test]
    fn rates_are_the_receivers_over_its_own_clock() {
        // 125 MB in 0.5 s by the receiver's clock.
        let metrics = metrics(Kind::TcpStream, &account());
        assert!((value(&metrics, "throughput") - 2000.0).abs() < 1e-9);
        // 0.3 s of CPU for 125 MB.
        assert!((value(&metrics, "transmitter.service_demand_byte") - 2.4).abs() < 1e-9);
        assert!((value(&metrics, "transmitter.cpu") - 60.0).abs() < 1e-9);
    }

    #[test]
    fn cpu_time_of_others_is_in_nobodys_service_demand() {
        let mut account = account();
        // The sample has a window of half a second; somebody else works for 40 % of it on the
        // transmitter's CPU.
        account.receiver.as_mut().unwrap().window.cpus = vec![1];
        account.transmitter.window.cpu.system += 200_000_000;
        let spent =
            host::ProcessOnCpu { pid: 7, name: "dd".to_owned(), kernel: false, cpu: 0, ns: 200_000_000 };
        account.others =
            Some(host::OtherProcesses { elapsed_ns: 500_000_000, complete: true, spent: vec![spent] });
        let disturbed = metrics(Kind::UdpStream, &account);
        let has = |key: &str| disturbed.iter().any(|(known, _)| known == key);
        assert!(!has("transmitter.service_demand_byte") && !has("transmitter.service_demand_packet"));
        assert!(has("receiver.service_demand_byte") && has("transmitter.cpu") && has("throughput"));
    }

    #[test]
    fn what_nobody_receives_counts_at_the_interface() {
        let mut account = account();
        account.receiver = None;
        let metrics = metrics(Kind::Pps, &account);
        // 100 packets in 0.5 s, though the program sent 1000; 0.3 s of CPU for them.
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
        let throughput = |account| value(&metrics(Kind::UdpStream, account), "throughput");
        assert_eq!(throughput(&forward), throughput(&reverse));
        assert_eq!(throughput(&both), 2.0 * throughput(&forward));
        let directions = directions(&both);
        let (forwards, reverses) =
            (value(&directions, "throughput_forward"), value(&directions, "throughput_reverse"));
        assert_eq!((forwards, reverses), (throughput(&forward), throughput(&reverse)));
        let packets = |account| value(&metrics(Kind::UdpStream, account), "packets");
        assert_eq!(packets(&both), 4000.0);
        let demand = |account| value(&metrics(Kind::UdpStream, account), "receiver.service_demand_byte");
        assert_eq!(demand(&both), demand(&forward) / 2.0);
    }

    #[test]
    fn a_buffer_of_many_datagrams_is_many_segments() {
        let mut account = account();
        // 1000 datagrams in 100 buffers, each of which UDP counts as one.
        account.transmitter.window.counters.udp.out_datagrams = 100;
        account.receiver.as_mut().unwrap().window.counters.udp.in_datagrams = 100;
        let metrics = metrics(Kind::UdpStream, &account);
        assert_eq!(value(&metrics, "transmitter.segments_per_wire_packet"), 10.0);
        assert_eq!(value(&metrics, "receiver.segments_per_wire_packet"), 10.0);
    }

    #[test]
    fn a_run_without_traffic_has_no_ratios() {
        let mut idle = account();
        idle.receiver.as_mut().unwrap().window.load.received = load::Counts::default();
        idle.transmitter.window.counters = host::Counters::default();
        let metrics = metrics(Kind::TcpStream, &idle);
        assert!(metrics.iter().all(|(_, value)| value.is_finite()));
        assert!(!metrics.iter().any(|(key, _)| key == "transmitter.service_demand_byte"));
        assert!(!metrics.iter().any(|(key, _)| key == "transmitter.bytes_per_wire_packet"));
        assert_eq!(value(&metrics, "throughput"), 0.0);
    }
}

#[cfg(test)]
mod exact_tests {
    use study::metric;

    use super::*;

    fn account() -> Account {
        record::sample::exact_run().exact
    }

    #[test]
    fn instructions_are_per_unit_of_the_workload_and_divide_into_user_and_kernel() {
        let value = |kind, key: &str| {
            let metrics = instructions(kind, 1000, &account());
            metrics.into_iter().find(|(known, _)| known == key).map(|(_, value)| value)
        };
        assert_eq!(value(Kind::UdpStream, "instructions_packet"), Some(20_000.0));
        assert_eq!(value(Kind::UdpStream, "user_instructions_packet"), Some(1_000.0));
        assert_eq!(value(Kind::TcpStream, "kernel_instructions_byte"), Some(19.0));
        assert_eq!(value(Kind::TcpStream, "instructions_packet"), None);
        assert_eq!(value(Kind::UdpRr, "instructions_transaction"), Some(20_000.0));
        assert_eq!(value(Kind::UdpStream, "softirq_instructions_byte"), Some(5.0));
        assert_eq!(value(Kind::Pps, "softirq_instructions_call"), Some(2_000.0));
        let without = instructions(Kind::Pps, 18, &Account { softirq: None, ..account() });
        assert!(
            without.iter().all(|(key, _)| !key.starts_with("softirq_")) && without.len() == 6,
            "{without:?}"
        );
    }

    #[test]
    fn every_key_is_in_the_vocabulary() {
        let known: Vec<&str> = metric::keys().collect();
        for kind in [Kind::TcpStream, Kind::UdpStream, Kind::Pps, Kind::TcpRr] {
            for (key, _) in instructions(kind, 1, &account()) {
                assert!(known.contains(&key.as_str()), "{key}");
            }
        }
    }
}
