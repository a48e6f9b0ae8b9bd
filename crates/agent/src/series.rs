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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(n: u64) -> SeriesRow {
        let counts = load::Counts {
            messages: n,
            bytes: 10 * n,
            transactions: n,
            socket_drops: n,
            ..Default::default()
        };
        SeriesRow {
            load: load::Sample {
                at_ns: 100 * n,
                sent: counts,
                received: load::Counts::default(),
                ..load::Sample::default()
            },
            cpu: CpuTimes { user: n, idle: 5, ..CpuTimes::default() },
            queue: QueueCounters { drops: n, ..QueueCounters::default() },
        }
    }

    #[test]
    fn rows_count_from_the_opening_and_end_with_the_closing() {
        let mut series = Series::default();
        add_row(&mut series, &row(3), &row(5));
        add_row(&mut series, &row(3), &row(9));
        assert_eq!(series.at_ns, [200, 600]);
        assert_eq!(series.bytes_sent, [20, 60]);
        assert_eq!(series.bytes_received, [0, 0]);
        assert_eq!(
            (series.queue_drops.as_slice(), series.cpu_busy_ns.as_slice()),
            (&[2, 6][..], &[2, 6][..])
        );
        assert!(series.columns().iter().all(|column| column.values.len() == 2));
    }

    #[test]
    fn the_step_has_bounds() {
        let (ms, s) = (Duration::from_millis, Duration::from_secs);
        assert_eq!(step(ms(0), s(1), 1), ms(10));
        assert_eq!(step(ms(50), s(1), 1), ms(50));
        assert_eq!(step(s(9), s(20), 1), s(1));
        assert_eq!(step(ms(10), s(120), 1), ms(120));
        assert_eq!(step(ms(10), s(3600), 1), ms(3600));
    }

    proptest! {
        #[test]
        fn steps_follow_each_other_without_crowding(
            asked in any::<u64>(),
            window in any::<u64>(),
            late in 0u64..1 << 50,
        ) {
            let (window, late) = (Duration::from_nanos(window), Duration::from_nanos(late));
            let step = step(Duration::from_nanos(asked), window, 1);
            prop_assert!(step >= SHORTEST && window.as_nanos() / step.as_nanos() <= u128::from(MOST) + 1);
            let opened = Instant::now();
            let next = next(opened, step, opened + late);
            prop_assert!(next > opened + late && next <= opened + late + step);
        }
    }
}
