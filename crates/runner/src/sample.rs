//! (tests) One run's account with round figures.

use agent::message::{Finished, Measured};
use testbed::{RunAccount, SideAccount};

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
