//! Readings of counters at steps within a window.

use std::time::{Duration, Instant};

use host::{CpuTimes, QueueCounters};

use record::Series;

// A series has one row more: at nine columns of up to 21 characters, 190 KB of an answer.
pub(crate) const MOST: u32 = 1000;
// A step took 27 µs on a virtual machine of two CPUs: 12 for the queues, 14 for `/proc/stat`. With
// the wake-up, a step in 10 ms takes 0.3 to 0.4 % of a CPU.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

// A generous guess: many times one look at a flow's counters and one short system call.
pub(crate) const FLOW: Duration = Duration::from_micros(10);

/// The step is 10 ms to 1 s, longer with very many flows, and there are at most [`MOST`].
pub(crate) fn step(asked: Duration, window: Duration, flows: u32) -> Duration {
    asked.clamp(SHORTEST, LONGEST).max(window / MOST).max(FLOW * flows)
}

#[derive(Debug, Clone)]
pub(crate) struct SeriesRow {
    pub(crate) load: load::Sample,
    pub(crate) cpu: CpuTimes,
    pub(crate) queue: QueueCounters,
}

/// Adds a row, whose counters count from the window's `first` row.
pub(crate) fn add_row(series: &mut Series, first: &SeriesRow, row: &SeriesRow) {
    let load = row.load.since(&first.load);
    let (sent, received) = (load.sent, load.received);
    series.at_ns.push(load.at_ns);
    series.bytes_sent.push(sent.bytes);
    series.bytes_received.push(received.bytes);
    series.messages_sent.push(sent.messages);
    series.messages_received.push(received.messages);
    series.transactions.push(sent.transactions.saturating_add(received.transactions));
    series.socket_drops.push(sent.socket_drops.saturating_add(received.socket_drops));
    series.queue_drops.push(row.queue.since(&first.queue).drops);
    series.cpu_busy_ns.push(row.cpu.since(&first.cpu).busy());
    if load.tcp.count > 0 {
        series.tcp.push(load.tcp);
    }
}

// Missed steps are left out: catching up would crowd the rows, and load the CPU.
pub(crate) fn next(opened: Instant, step: Duration, now: Instant) -> Instant {
    let passed = now.saturating_duration_since(opened).as_nanos() / step.as_nanos().max(1);
    let steps = u32::try_from(passed.saturating_add(1)).unwrap_or(u32::MAX);
    opened + step.saturating_mul(steps)
}

#[cfg(test)]
mod tests;
