//! Metrics of sampled accounts.

use record::HostAccount;
use study::{BySide, Scenario};

use super::*;
use crate::sample_guest::guest;
use record::sample::account;

/// With the plain traffic of its kind.
fn metrics(kind: Kind, account: &RunAccount) -> Metrics {
    super::metrics(&Traffic::new(kind), account)
}

fn value(metrics: &Metrics, metric: Metric) -> f64 {
    metrics.get(metric).unwrap_or_else(|| panic!("no {metric}"))
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
        assert_eq!(value(&metrics, metric::DROPS.transmitter), 2.0 * u64::MAX as f64);
        assert_eq!(value(&metrics, metric::CONTEXT_SWITCHES.transmitter), u64::MAX as f64);
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
                for own in [Some(&mut account.transmitter), account.receiver.as_mut()].into_iter().flatten() {
                    own.window.underlay = Some(underlay());
                }
            }
            if kind.is_tcp() && kind != Kind::TcpCrr {
                let readings = load::TcpReadings { count: 4, rtt_us: 200, congestion_window: 40 };
                let receiver = account.receiver.as_mut().into_iter();
                receiver.chain([&mut account.transmitter]).for_each(|own| own.window.load.tcp = readings);
            }
            let direction = if kind.is_stream() { Direction::Both } else { Direction::Forward };
            let traffic = Traffic { direction, ..Traffic::new(kind) };
            let mut expected: Vec<Metric> = metric::METRICS
                .iter()
                .copied()
                .filter(|metric| kind.produces(*metric) && metric.needs.is_met(scenario, false))
                .filter(|metric| metric.source != metric::Source::Search)
                .collect();
            let metrics = super::metrics(&traffic, &account);
            let rtt = metrics.get(metric::TCP_RTT.receiver);
            assert!(rtt.is_none_or(|ns| ns == 50_000.0), "{rtt:?}");
            let found: Vec<Metric> = metrics.iter().map(|(metric, _)| metric).collect();
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
    let value = |metric: Metric| value(&metrics, metric);
    assert!((value(metric::CPU.transmitter) - 60.0).abs() < 1e-9);
    assert_eq!(value(metric::HOST_CPU.transmitter), 120.0);
    assert_eq!((value(metric::HOST_CPU_VCPU.receiver), value(metric::HOST_CPU_IO.receiver)), (80.0, 40.0));
    assert_eq!(value(metric::HOST_VCPU_WAITING.receiver), 20.0);
    // 0.6 s for 125 MB.
    assert!((value(metric::HOST_SERVICE_DEMAND_BYTE.receiver) - 4.8).abs() < 1e-9);
    assert_eq!(value(metric::SEGMENTS_PER_UNDERLAY_PACKET.transmitter), 10.0);
    assert_eq!(value(metric::BYTES_PER_UNDERLAY_PACKET.receiver), 4000.0);
    assert_eq!(value(metric::UNDERLAY_FRAGMENTS.transmitter), 3.0);
    // 100 in half a second inside, 300 outside.
    assert_eq!(value(metric::TIMER_INTERRUPTS.own.transmitter), 200.0);
    assert_eq!(value(metric::SOFTIRQS_NET_RX.on_host.receiver), 600.0);
}

#[test]
fn a_segment_that_arrived_twice_was_retransmitted_needlessly() {
    let mut account = account();
    let tcp = &mut account.transmitter.window.counters.tcp;
    (tcp.retrans_segs, tcp.dsack_segs, tcp.sack_reorders) = (1000, 960, 12);
    let metrics = metrics(Kind::TcpStream, &account);
    let value = |metric: Metric| value(&metrics, metric);
    assert_eq!(
        (value(metric::RETRANSMITS.transmitter), value(metric::RETRANSMITS_NEEDLESS.transmitter)),
        (1000.0, 960.0)
    );
    assert_eq!(value(metric::REORDERINGS.transmitter), 12.0);
}

#[test]
fn rates_are_the_receivers_over_its_own_clock() {
    // 125 MB in 0.5 s by the receiver's clock.
    let metrics = metrics(Kind::TcpStream, &account());
    assert!((value(&metrics, metric::THROUGHPUT) - 2000.0).abs() < 1e-9);
    // 0.3 s of CPU for 125 MB.
    assert!((value(&metrics, metric::SERVICE_DEMAND_BYTE.transmitter) - 2.4).abs() < 1e-9);
    assert!((value(&metrics, metric::CPU.transmitter) - 60.0).abs() < 1e-9);
}

#[test]
fn cpu_time_of_others_is_in_nobodys_service_demand() {
    let mut account = account();
    // The sample has a window of half a second; somebody else works for 40 % of it on the
    // transmitter's CPU.
    account.receiver.as_mut().unwrap().window.cpus = vec![1];
    account.transmitter.window.cpu.system += 200_000_000;
    let spent = host::ProcessOnCpu { pid: 7, name: "dd".to_owned(), kernel: false, cpu: 0, ns: 200_000_000 };
    account.others =
        Some(host::OtherProcesses { elapsed_ns: 500_000_000, complete: true, spent: vec![spent] });
    let disturbed = metrics(Kind::UdpStream, &account);
    let has = |metric: Metric| disturbed.get(metric).is_some();
    assert!(!has(metric::SERVICE_DEMAND_BYTE.transmitter) && !has(metric::SERVICE_DEMAND_PACKET.transmitter));
    assert!(
        has(metric::SERVICE_DEMAND_BYTE.receiver) && has(metric::CPU.transmitter) && has(metric::THROUGHPUT)
    );
}

#[test]
fn what_nobody_receives_counts_at_the_interface() {
    let mut account = account();
    account.receiver = None;
    let metrics = metrics(Kind::Pps, &account);
    // 100 packets in 0.5 s, though the program sent 1000; 0.3 s of CPU for them.
    assert_eq!(value(&metrics, metric::PACKETS), 200.0);
    assert_eq!(value(&metrics, metric::SERVICE_DEMAND_PACKET.transmitter), 3e6);
}

#[test]
fn a_stream_counts_where_it_is_taken_whichever_way_it_flows() {
    let forward = account();
    let mut reverse = account();
    let answering = reverse.receiver.as_mut().unwrap();
    std::mem::swap(&mut reverse.transmitter.window.load, &mut answering.window.load);
    let mut both = account();
    both.transmitter.window.load.received = both.receiver.as_ref().unwrap().window.load.received;
    let throughput = |account| value(&metrics(Kind::UdpStream, account), metric::THROUGHPUT);
    assert_eq!(throughput(&forward), throughput(&reverse));
    assert_eq!(throughput(&both), 2.0 * throughput(&forward));
    let traffic = Traffic { direction: Direction::Both, ..Traffic::new(Kind::UdpStream) };
    let directions = super::metrics(&traffic, &both);
    let (forwards, reverses) =
        (value(&directions, metric::THROUGHPUT_FORWARD), value(&directions, metric::THROUGHPUT_REVERSE));
    assert_eq!((forwards, reverses), (throughput(&forward), throughput(&reverse)));
    let packets = |account| value(&metrics(Kind::UdpStream, account), metric::PACKETS);
    assert_eq!(packets(&both), 4000.0);
    let demand = |account| value(&metrics(Kind::UdpStream, account), metric::SERVICE_DEMAND_BYTE.receiver);
    assert_eq!(demand(&both), demand(&forward) / 2.0);
}

#[test]
fn a_buffer_of_many_datagrams_is_many_segments() {
    let mut account = account();
    // 1000 datagrams in 100 buffers, each of which UDP counts as one.
    account.transmitter.window.counters.udp.out_datagrams = 100;
    account.receiver.as_mut().unwrap().window.counters.udp.in_datagrams = 100;
    let metrics = metrics(Kind::UdpStream, &account);
    assert_eq!(value(&metrics, metric::SEGMENTS_PER_WIRE_PACKET.transmitter), 10.0);
    assert_eq!(value(&metrics, metric::SEGMENTS_PER_WIRE_PACKET.receiver), 10.0);
}

#[test]
fn a_run_without_traffic_has_no_ratios() {
    let mut idle = account();
    idle.receiver.as_mut().unwrap().window.load.received = load::Counts::default();
    idle.transmitter.window.counters = host::Counters::default();
    let metrics = metrics(Kind::TcpStream, &idle);
    assert!(metrics.iter().all(|(_, value)| value.is_finite()));
    assert_eq!(metrics.get(metric::SERVICE_DEMAND_BYTE.transmitter), None);
    assert_eq!(metrics.get(metric::BYTES_PER_WIRE_PACKET.transmitter), None);
    assert_eq!(value(&metrics, metric::THROUGHPUT), 0.0);
}
