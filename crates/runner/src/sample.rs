//! (tests) One run's account with round figures.

use agent::message::{Finished, Measured};
use testbed::{HostAccount, RunAccount, SideAccount};

pub(crate) fn account() -> RunAccount {
    let side = |user: u64, sends: bool| {
        let total =
            load::Counts { messages: 1000, bytes: 125_000_000, transactions: 1000, ..Default::default() };
        let none = load::Counts::default();
        let (sent, received) = if sends { (total, none) } else { (none, total) };
        let mut counters = host::Counters::default();
        counters.link.tx_packets = 100;
        counters.link.rx_packets = 100;
        counters.link.tx_bytes = 1000;
        counters.link.rx_bytes = 1000;
        let latency = load::Latency {
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
        };
        SideAccount {
            window: Measured {
                elapsed_ns: 500_000_000,
                load: load::Sample { at_ns: 500_000_000, sent, received, flows: vec![total] },
                cpu: host::CpuTimes { user, idle: 500_000_000 - user, ..Default::default() },
                cpus: vec![0],
                cpu_each: vec![host::CpuTimes { user, idle: 500_000_000 - user, ..Default::default() }],
                own: host::ProcessTimes { user_ns: user, system_ns: 0 },
                threads: vec![host::ThreadTimes {
                    running_ns: user,
                    user_ns: user,
                    ..host::ThreadTimes::default()
                }],
                clock: host::ClockCheck {
                    monotonic_ns: 500_000_000,
                    raw_ns: 500_000_000,
                    boottime_ns: 500_000_000,
                    source_changed: false,
                },
                late: agent::message::Late::default(),
                link: host::LinkLimit::default(),
                series: agent::message::Series::default(),
                counters,
                interrupts: host::Interrupt::all().map(|interrupt| (interrupt, 100)).collect(),
                underlay: None,
            },
            whole: Finished {
                outcome: load::Outcome {
                    applied: Vec::new(),
                    sent,
                    received,
                    flows: Vec::new(),
                    threads: Vec::new(),
                    latency: Some(latency),
                    buffers: load::Buffers::default(),
                    zerocopy: None,
                    slept: false,
                    notes: Vec::new(),
                },
                counters,
            },
        }
    };
    RunAccount {
        transmitter: side(300_000_000, true),
        receiver: Some(side(100_000_000, false)),
        hosts: None,
        around: None,
        others: None,
    }
}

/// A guest in a second on one CPU of its host: ms that each of its virtual CPUs ran and waited. 100 ms moved its packets.
pub(crate) fn guest(cpu: u32, vcpus: &[(u64, u64)]) -> HostAccount {
    let spent = |running: u64, waiting: u64| {
        let [running_ns, waiting_ns] = [running, waiting].map(|ms| ms * 1_000_000);
        host::ThreadTimes { running_ns, user_ns: running_ns, system_ns: 0, waiting_ns }
    };
    let vcpu_each: Vec<host::ThreadTimes> =
        vcpus.iter().map(|(running, waiting)| spent(*running, *waiting)).collect();
    let (vcpu, io) = (host::ThreadTimes::sum(&vcpu_each), spent(100, 0));
    let busy = vcpu.running_ns + io.running_ns;
    HostAccount {
        elapsed_ns: 1_000_000_000,
        cpus: vec![cpu],
        cpu_each: vec![host::CpuTimes {
            user: busy,
            idle: 1_000_000_000_u64.saturating_sub(busy),
            ..Default::default()
        }],
        interrupts: host::Interrupts::default(),
        vcpu,
        vcpu_each,
        pinned: true,
        io,
        underlay: None,
    }
}
