mod any;
mod contended;
mod cpu;
mod path;

use std::time::Duration;

use host::{LinkLimit, ThreadTimes};
use load::{FlowOutcome, Pacing, Reader, Sender, TcpInfo, Traffic};
use record::SideAccount;

use super::*;

/// One second in which one flow went from the transmitter to the receiver, both half asleep.
fn quiet(kind: Kind) -> (RunOrder, RunAccount) {
    let second = Duration::from_secs(1);
    let order = RunOrder {
        traffic: Traffic { message: 1000, ..Traffic::new(kind) },
        family: load::Family::Ipv4,
        ramp: second,
        window: second,
        step: second,
    };
    let mut account = record::sample::account();
    side(&mut account.transmitter, true);
    side(account.receiver.as_mut().unwrap(), false);
    (order, account)
}

/// 100,000 messages of 1000 bytes: 800 Mbit/s.
fn side(side: &mut SideAccount, sends: bool) {
    let moved = load::Counts {
        messages: 100_000,
        bytes: 100_000_000,
        calls: 100_000,
        transactions: 100_000,
        ..load::Counts::default()
    };
    let (sent, received) =
        if sends { (moved, load::Counts::default()) } else { (load::Counts::default(), moved) };
    side.window.elapsed_ns = SECOND;
    side.window.load =
        load::Sample { at_ns: SECOND, sent, received, flows: vec![moved], ..load::Sample::default() };
    (side.whole.outcome.sent, side.whole.outcome.received) = (sent, received);
    let nowhere = "127.0.0.1:1".parse().unwrap();
    side.whole.outcome.flows = vec![FlowOutcome {
        sends,
        flows: 1,
        local: nowhere,
        peer: nowhere,
        counts: moved,
        verified_bytes: 0,
        sequence: serde::de::IgnoredAny,
        buffers: load::Buffers::default(),
        tcp: Some(TcpInfo { segments_out: 100_000, busy_us: 1_000_000, rtt_us: 50, ..TcpInfo::default() }),
    }];
    side.whole.outcome.threads = vec![load::Share { sends, flows: 1 }];
    works(side, 500, 0, 10);
    side.window.link = LinkLimit { rate_bits: None, shaped: false, from: "v0 is a veth".to_owned() };
    let mut counters = host::Counters::default();
    (counters.link.tx_packets, counters.link.rx_packets) = (100_000, 100_000);
    (counters.link.tx_bytes, counters.link.rx_bytes) = (106_600_000, 106_600_000);
    (counters.tcp.out_segs, counters.tcp.in_segs) = (100_000, 100_000);
    (side.window.counters, side.whole.counters) = (counters, counters);
}

/// Its thread: ms on a CPU, ms waiting for one, and how much of the first in user space, in %.
fn works(side: &mut SideAccount, running: u64, waiting: u64, user: u64) {
    let [running, waiting] = [running, waiting].map(|ms| ms * 1_000_000);
    let user_ns = running * user / 100;
    side.window.threads =
        vec![ThreadTimes { running_ns: running, user_ns, system_ns: running - user_ns, waiting_ns: waiting }];
    let cpu = host::CpuTimes {
        user: user_ns,
        system: running - user_ns,
        idle: SECOND.saturating_sub(running),
        ..host::CpuTimes::default()
    };
    (side.window.cpu, side.window.cpu_each) = (cpu, vec![cpu]);
    side.window.own = host::ProcessTimes { user_ns, system_ns: running - user_ns };
}

fn receiver_of((_, account): &mut (RunOrder, RunAccount)) -> &mut SideAccount {
    account.receiver.as_mut().unwrap()
}

const SECOND: u64 = 1_000_000_000;

#[track_caller]
fn expect((order, account): &(RunOrder, RunAccount), label: Label, words: &str) {
    let limit = limit(order, account);
    assert_eq!(limit.label, label, "{:#?}", limit.evidence);
    assert!(limit.evidence[0].to_string().contains(words), "{:#?}", limit.evidence);
}
