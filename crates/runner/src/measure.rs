//! Metrics from both sides' accounts of a run (`study::metric` explains each).

use load::exact::Account;
use load::{Direction, Kind, Traffic};
use record::{RateSearch, RunAccount, SideAccount};
use store::Metrics;
use study::Side;
use study::metric::{self, Instructions, Metric, UnitOfWork};

use crate::foreign::Foreign;
use crate::kernel_metrics::{below, on_host, proof, ratio, segments, total};
use crate::loss::Loss;

/// The metrics of one run, in the unit of the vocabulary, without unknown ones (divisor 0).
pub fn metrics(traffic: &Traffic, account: &RunAccount) -> Metrics {
    let kind = traffic.kind;
    let mut values: Vec<(Metric, f64)> = Vec::new();
    let asked = &account.transmitter.window;
    // As the receiver counted: sent datagrams may be on the way, or lost.
    let ways = [account.receiver.as_ref(), Some(&account.transmitter)];
    let received = ways.map(|end| end.map(|end| end.window.load.received).unwrap_or_default());
    let per_second = |count: fn(&load::Counts) -> u64| {
        ways.map(|end| {
            let counted = end.map_or(0, |end| count(&end.window.load.received));
            let seconds = end.map_or(0.0, |end| end.window.elapsed_ns as f64 / 1e9);
            if counted == 0 { 0.0 } else { counted as f64 / seconds }
        })
    };

    if kind.is_stream() {
        let [forward, reverse] = per_second(|counts| counts.bytes).map(|bytes| bytes * 8.0);
        values.push((metric::THROUGHPUT, (forward + reverse) / 1e6));
        if traffic.direction == Direction::Both {
            values.push((metric::THROUGHPUT_FORWARD, forward / 1e6));
            values.push((metric::THROUGHPUT_REVERSE, reverse / 1e6));
        }
    }
    if kind == Kind::UdpStream {
        let [forward, reverse] = per_second(|counts| counts.messages);
        values.push((metric::PACKETS, forward + reverse));
    }
    let discarded = asked.counters.link.tx_packets as f64;
    if kind == Kind::Pps {
        // As the interface counted: packets that the program sent may be in a queue.
        values.push((metric::PACKETS, ratio(discarded, asked.elapsed_ns as f64 / 1e9)));
    }
    let transactions = asked.load.sent.transactions as f64;
    if kind.is_rr() {
        // The side that asks knows when an answer came.
        values.push((metric::TRANSACTIONS, ratio(transactions, asked.elapsed_ns as f64 / 1e9)));
        if account.turns.is_none() {
            values.extend(latencies(account).into_iter().flatten());
        }
    }
    if let Some(search) = &account.search {
        values.extend(searched(search, traffic));
    }
    // Latencies, losses and the host's counts of its virtual machines are of whole flows only.
    if let Some(loss) = Loss::from_account(traffic, account).filter(|_| account.turns.is_none()) {
        values.extend(loss.metrics());
    }
    let bytes = (metric::BYTE, total(received.map(|counts| counts.bytes)));
    let done = match kind {
        Kind::TcpStream => vec![bytes],
        Kind::UdpStream => vec![bytes, (metric::PACKET, total(received.map(|counts| counts.messages)))],
        Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => vec![(metric::TRANSACTION, transactions)],
        Kind::Pps => vec![(metric::PACKET, discarded)],
    };
    values.extend(account.sides().flat_map(|(side, own)| side_metrics(side, own, kind, account, &done)));
    values.into_iter().filter(|(_, value)| value.is_finite()).collect()
}

fn side_metrics(
    side: Side,
    own: &SideAccount,
    kind: Kind,
    account: &RunAccount,
    done: &[(UnitOfWork, f64)],
) -> Vec<(Metric, f64)> {
    let mut values = proof(kind, side, own);
    values.extend(cpu(side, own).into_iter().flatten());
    // Only if all CPU time is the run's: the part of other processes cannot be separated, and
    // interrupts for its packets count for the process that they interrupt.
    if !Foreign::from_account(account, side).disturbs {
        let busy = own.window.cpu.busy() as f64;
        values.extend(done.iter().map(|(unit, work)| (unit.service_demand[side], ratio(busy, *work))));
    }
    let host = account.hosts.as_ref().filter(|_| account.turns.is_none()).map(|hosts| &hosts[side]);
    values.extend(host.into_iter().flat_map(|host| on_host(side, host, done)));
    if let Some(underlay) = own.window.underlay.or_else(|| host?.underlay) {
        values.extend(below(side, &underlay, segments(kind, side, own)));
    }
    values
}

fn searched(search: &RateSearch, traffic: &Traffic) -> impl Iterator<Item = (Metric, f64)> {
    let packet = f64::from(traffic.message) * 8.0;
    let found =
        search.lower.map(|rate| [(metric::FOUND_RATE, rate / 1e6), (metric::FOUND_PACKETS, rate / packet)]);
    let upper = search.upper.map(|rate| (metric::FOUND_RATE_UPPER, rate / 1e6));
    let trials = (metric::SEARCH_TRIALS, search.trials.len() as f64);
    found.into_iter().flatten().chain(upper).chain([trials])
}

fn latencies(account: &RunAccount) -> Option<[(Metric, f64); 7]> {
    let latency = account.transmitter.whole.outcome.latency.as_ref()?;
    Some([
        (metric::LATENCY_MEAN, latency.mean),
        (metric::LATENCY_P50, latency.p50 as f64),
        (metric::LATENCY_P90, latency.p90 as f64),
        (metric::LATENCY_P99, latency.p99 as f64),
        (metric::LATENCY_P99_9, latency.p99_9 as f64),
        (metric::LATENCY_P99_99, latency.p99_99 as f64),
        (metric::LATENCY_MAX, latency.max as f64),
    ])
}

fn cpu(side: Side, own: &SideAccount) -> Option<[(Metric, f64); 7]> {
    let [user, system, irq, softirq, steal, idle] = own.window.cpu.percentages()?;
    Some([
        (metric::CPU[side], user + system + irq + softirq),
        (metric::CPU_USER[side], user),
        (metric::CPU_SYSTEM[side], system),
        (metric::CPU_IRQ[side], irq),
        (metric::CPU_SOFTIRQ[side], softirq),
        (metric::CPU_STEAL[side], steal),
        (metric::CPU_IDLE[side], idle),
    ])
}

pub(crate) fn instructions(kind: Kind, message: u32, account: &Account) -> Metrics {
    let bytes = (metric::INSTRUCTIONS_BYTE, f64::from(message));
    let mut units = match kind {
        Kind::TcpStream => vec![bytes],
        Kind::UdpStream => vec![(metric::INSTRUCTIONS_PACKET, 1.0), bytes],
        Kind::Pps => vec![(metric::INSTRUCTIONS_PACKET, 1.0)],
        Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => vec![(metric::INSTRUCTIONS_TRANSACTION, 1.0)],
    };
    units.push((metric::INSTRUCTIONS_CALL, account.calls));
    let of_unit = |(of, per): (Instructions, f64)| {
        // The guest's clock counts one instruction as one ns.
        let counts = [
            (of.all, Some(account.whole.median)),
            (of.user, Some(account.user())),
            (of.kernel, Some(account.kernel.median)),
            (of.softirq, account.softirq.map(|softirq| softirq.median)),
        ];
        counts.into_iter().filter_map(move |(metric, count)| Some((metric, count? / per)))
    };
    units.into_iter().flat_map(of_unit).collect()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod exact_tests;
