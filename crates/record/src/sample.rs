//! Records with round figures, for tests.

use words::{Accelerated, Scenario};

use crate::detail::ExactRun;
use crate::environment::{CpuSplit, Environment, GuestEnvironment};
use crate::run::{RunAccount, SideAccount};
use crate::side::{Finished, Measured, Series};

/// The account of a run of half a second between two hosts.
pub fn account() -> RunAccount {
    const NS: u64 = 500_000_000;
    let side = |user: u64, sends: bool| {
        let total =
            load::Counts { messages: 1000, bytes: 125_000_000, transactions: 1000, ..Default::default() };
        let none = load::Counts::default();
        let (sent, received) = if sends { (total, none) } else { (none, total) };
        let cpu = host::CpuTimes { user, idle: NS - user, ..Default::default() };
        let mut counters = host::Counters::default();
        (counters.link.tx_packets, counters.link.rx_packets) = (100, 100);
        (counters.link.tx_bytes, counters.link.rx_bytes) = (1000, 1000);
        let window = Measured {
            elapsed_ns: NS,
            load: load::Sample { at_ns: NS, sent, received, flows: vec![total], ..load::Sample::default() },
            cpu,
            cpus: vec![0],
            cpu_each: vec![cpu],
            own: host::ProcessTimes { user_ns: user, system_ns: 0 },
            threads: vec![host::ThreadTimes { running_ns: user, user_ns: user, ..Default::default() }],
            clock: host::ClockCheck { monotonic_ns: NS, raw_ns: NS, boottime_ns: NS, source_changed: false },
            counters,
            interrupts: host::Interrupts(
                host::InterruptKind::kinds().map(|interrupt| (interrupt, 100)).collect(),
            ),
            ..Measured::default()
        };
        let outcome =
            load::EndOutcome { sent, received, latency: Some(latency()), ..load::EndOutcome::default() };
        SideAccount { window, whole: Finished { outcome, counters } }
    };
    RunAccount {
        transmitter: side(300_000_000, true),
        receiver: Some(side(100_000_000, false)),
        ..RunAccount::default()
    }
}

/// The latency of one transaction that took a nanosecond.
pub fn latency() -> load::Latency {
    load::Latency {
        count: 1,
        min: 1,
        mean: 1.0,
        p50: 1,
        p90: 1,
        p99: 1,
        p99_9: 1,
        p99_99: 1,
        max: 1,
        clock_ns: 1.0,
        histogram: Some(load::LatencyHistogram::from_latencies([(1, 1)])),
    }
}

/// The account of a run in exact mode.
pub fn exact_run() -> ExactRun {
    let spread =
        |median| load::exact::BatchSpread { least: median, low: median, median, high: median, most: median };
    let exact = load::exact::Account {
        messages: 32,
        batches: 201,
        clock_ns: 30,
        whole: spread(20_000.0),
        kernel: spread(19_000.0),
        softirq: Some(spread(5_000.0)),
        softirq_absent: None,
        calls: 2.5,
        applied: Vec::new(),
    };
    ExactRun { exact, disturbed: Vec::new(), traces: Vec::new() }
}

/// The options that one socket read back.
pub fn applied(congestion_control: &str) -> load::Applied {
    let tcp = load::TcpApplied { congestion_control: congestion_control.to_owned(), ..Default::default() };
    let buffers = load::Buffers::default();
    load::Applied { flows: 1, buffers, low_water: 1, dscp: 0, priority: 0, tcp: Some(tcp) }
}

/// Two hosts of which only the kernel is known.
pub fn environment() -> Environment {
    let cpus = CpuSplit { transmitter: vec![0], receiver: vec![1], controller: Vec::new() };
    Environment {
        scenario: Scenario::Veth,
        rootless: false,
        underlay_family: None,
        discard_device: None,
        discard_devices_lacking: None,
        cpus,
        guests: None,
        nodes: None,
        notes: Vec::new(),
        transmitter: host(),
        receiver: Some(host()),
        machines: None,
        changed: Vec::new(),
    }
}

/// A host of which only the kernel is known.
pub fn host() -> host::HostEnvironment {
    host::HostEnvironment {
        netassay: "0.1.0".to_owned(),
        kernel: host::KernelEnvironment { release: Some("6.18".to_owned()), ..Default::default() },
        cpu: host::CpuEnvironment { online: 2, ..Default::default() },
        ..host::HostEnvironment::default()
    }
}

/// An interface of a host, up and without any feature.
pub fn interface(name: &str) -> host::InterfaceEnvironment {
    let link = host::Link {
        index: 2,
        name: name.to_owned(),
        kind: Some("veth".to_owned()),
        mtu: 1500,
        up: true,
        running: true,
        carrier: true,
        ..host::Link::default()
    };
    host::InterfaceEnvironment { link, ..Default::default() }
}

/// A virtual machine that an emulator runs, or KVM.
pub fn guest_environment(emulated: bool) -> GuestEnvironment {
    GuestEnvironment {
        kernel_image: "/boot/vmlinuz".to_owned(),
        kernel_release: None,
        vcpus: 1,
        memory_mib: 512,
        nic: None,
        acceleration: if emulated {
            Accelerated::Emulation { why: "KVM is not there".to_owned() }
        } else {
            Accelerated::Kvm
        },
        pinned_to: Vec::new(),
        modules_absent: Vec::new(),
        exact: false,
        boot_ms: 1000.0,
        failed_first: None,
    }
}

/// Counters over time, two rows.
pub fn series() -> Series {
    let zero = || vec![0; 2];
    Series {
        step_ns: 10_000_000,
        at_ns: vec![10_000_000, 20_500_000],
        bytes_sent: vec![5, u64::MAX],
        bytes_received: zero(),
        messages_sent: zero(),
        messages_received: zero(),
        transactions: zero(),
        socket_drops: zero(),
        queue_drops: zero(),
        cpu_busy_ns: vec![7, 8],
        tcp: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::{Crash, CrashSign, CrashedMachine};
    use crate::detail::Detail;
    use crate::disturbance::Cause;
    use crate::drift::{Difference, Drift, InterfaceRole, Setting};

    fn all_details() -> [Detail; 5] {
        let mut measured = Detail::Measured(Box::new(account()));
        measured.disturb(vec![Cause::Slept { ns: 7 }.into()]);
        let interface = InterfaceRole { side: words::Side::Receiver, underlay: true };
        let setting = Setting::Mtu { asked: Some(9000), before: 9000, after: 1500 };
        let drift = Drift { differences: vec![Difference { interface, setting }] };
        let (host, console) = ("root@b".to_owned(), vec!["Kernel panic - not syncing: x".to_owned()]);
        let machine = CrashedMachine { side: words::Side::Receiver, host, sign: CrashSign::Silent, console };
        let crash = Crash { machines: vec![machine] };
        let exact = Detail::Exact(Box::new(exact_run()));
        [Detail::Nothing, measured, exact, Detail::Drifted(drift), Detail::Crashed(crash)]
    }

    #[test]
    fn each_kind_reads_back_as_what_it_is() {
        for detail in all_details() {
            let json = serde_json::to_string(&detail).unwrap();
            assert_eq!(Detail::read(&json).unwrap(), detail, "{json}");
        }
    }

    #[test]
    fn a_run_that_was_stored_before_histograms_is_read_and_a_wrong_histogram_is_refused() {
        let mut value = serde_json::to_value(&all_details()[1]).unwrap();
        let latency = &mut value["transmitter"]["whole"]["outcome"]["latency"];
        latency["histogram"] = serde_json::json!([[10_000, 5], [10_000, 2]]);
        let error = Detail::read(&value.to_string()).unwrap_err().to_string();
        assert!(error.contains("the bucket at 10000 ns is not above the one before it"), "{error}");
        let latency = &mut value["transmitter"]["whole"]["outcome"]["latency"];
        latency.as_object_mut().unwrap().remove("histogram").unwrap();
        let detail = Detail::read(&value.to_string()).unwrap();
        let histograms =
            detail.sides().map(|side| side.whole.outcome.latency.as_ref().unwrap().histogram.is_some());
        assert_eq!(histograms.collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn nothing_that_is_missing_or_unknown_is_passed_over() {
        for detail in all_details() {
            let mut value = serde_json::to_value(&detail).unwrap();
            let Some(fields) = value.as_object_mut() else { continue };
            fields.insert("new".to_owned(), 1.into());
            let error = Detail::read(&value.to_string()).unwrap_err().to_string();
            assert!(error.contains("unknown field `new`"), "{error}");
        }
        let mut value = serde_json::to_value(&all_details()[1]).unwrap();
        value["transmitter"]["whole"]["outcome"].as_object_mut().unwrap().remove("threads");
        let error = Detail::read(&value.to_string()).unwrap_err().to_string();
        assert!(error.contains("missing field `threads`"), "{error}");
        assert!(Detail::read("{}").is_err() && Detail::read("7").is_err());
    }
}
