//! Rates over the runs' windows: drift and stalls.

use std::collections::BTreeMap;

use record::Series;
use stats::{fixed, signed};
use store::{RunId, StoredSeries, StoredStudy};
use study::Kind;

use crate::cells;
use crate::document::{Block, Cell, Table};

// The parts of the window whose rates are compared.
const PARTS: usize = 24;

// The least number of steps without progress that is a stall: one step may be between bursts.
const STALLED_STEPS: f64 = 3.0;

// And the least time, in ns: TCP's shortest retransmission timeout is 200 ms, and the scheduler's
// slices are 3 ms.
const STALLED_NS: u64 = 50_000_000;

/// The rate of each condition over the window, from the stored counters of its measured runs;
/// `None` without any.
#[must_use]
pub fn over_time(stored: &StoredStudy, series: &[StoredSeries]) -> Option<Block<'static>> {
    let mut by_run: BTreeMap<RunId, Vec<&Series>> = BTreeMap::new();
    for one in series {
        by_run.entry(one.run).or_default().push(&one.series);
    }
    let head = ["condition", "lowest", "highest", "drift", "stalls"];
    let mut table = Table::new(head).units(["", "% of mean", "% of mean", "%", ""]);
    for (index, condition) in stored.plan.conditions.iter().enumerate() {
        let own = stored.measurements_of(index);
        let kind = condition.workload.traffic.kind;
        let runs: Vec<RateOverTime> =
            own.filter_map(|run| RateOverTime::from_counters(kind, by_run.get(&run.id)?)).collect();
        let Some(mean) = mean(&runs) else { continue };
        let highest = mean.iter().copied().fold(0.0, f64::max);
        let lowest = mean.iter().copied().fold(highest, f64::min);
        let drift = drift(&mean).map(|drift| Cell::Number(signed(fixed(drift, 1))));
        let [lowest, highest] = [lowest, highest].map(|rate| Cell::percent(rate * 100.0));
        table.row(cells![condition.label.as_str(), lowest, highest, drift, stalls(&runs)]);
    }
    let title = "Over time (means of all runs; drift: the last third against the first; netassay db export --format series has the counters)";
    table.titled(title).filled().map(Block::Table)
}

/// One run over its window.
struct RateOverTime {
    /// The rate in each part of the window, as a multiple of the run's mean.
    parts: [f64; PARTS],
    /// The longest time without any progress, in ns.
    stalled_ns: u64,
    /// The usual time between two rows, in ns.
    step_ns: u64,
}

impl RateOverTime {
    /// From the counter that tells a workload's progress; none if there is none, or it never moved.
    fn from_counters(kind: Kind, series: &[&Series]) -> Option<Self> {
        let (at, progress) = progress(kind, series.iter().copied())?;
        let (end, total) = (*at.last()?, *progress.last()?);
        if end == 0 || total == 0 {
            return None;
        }
        let edge = |part: usize| end as f64 * part as f64 / PARTS as f64;
        let mut parts = [0.0; PARTS];
        for (part, rate) in parts.iter_mut().enumerate() {
            let moved = reached(at, progress, edge(part + 1)) - reached(at, progress, edge(part));
            *rate = moved / total as f64 * PARTS as f64;
        }
        Some(Self { parts, stalled_ns: longest_stall(at, progress), step_ns: end / at.len() as u64 })
    }

    fn has_stalled(&self) -> bool {
        self.stalled_ns >= STALLED_NS && self.stalled_ns as f64 >= STALLED_STEPS * self.step_ns as f64
    }
}

/// The moments and the counter of useful work: arrived bytes of a stream, answered transactions,
/// sent messages of traffic without a receiver. Of both ends the one that counts most is the one
/// that the metric counts.
pub(crate) fn progress<'a>(
    kind: Kind,
    series: impl Iterator<Item = &'a Series>,
) -> Option<(&'a [u64], &'a [u64])> {
    let counter = |one: &'a Series| match kind {
        _ if kind.is_stream() => &one.bytes_received,
        _ if kind.is_rr() => &one.transactions,
        _ => &one.messages_sent,
    };
    let counters = series.map(|one| (one.at_ns.as_slice(), counter(one).as_slice()));
    let (at, counter) = counters.max_by_key(|(_, counter)| counter.last().copied())?;
    counter.last().is_some_and(|last| *last > 0).then_some((at, counter))
}

/// The counter at a time, interpolated linearly between two rows. It is 0 at the window's start.
fn reached(at: &[u64], progress: &[u64], moment: f64) -> f64 {
    let next = at.partition_point(|at| (*at as f64) < moment);
    let point = |row: usize| (at[row] as f64, progress[row] as f64);
    let (from, value) = next.checked_sub(1).map_or((0.0, 0.0), point);
    if next == at.len() {
        return value;
    }
    let (to, later) = point(next);
    if to <= from { later } else { value + (later - value) * (moment - from) / (to - from) }
}

/// The longest time without an increase of the counter, in ns.
fn longest_stall(at: &[u64], progress: &[u64]) -> u64 {
    let (mut longest, mut since, mut last) = (0, 0, 0);
    for (at, value) in at.iter().zip(progress) {
        if *value > last {
            (since, last) = (*at, *value);
        }
        longest = longest.max(at.saturating_sub(since));
    }
    longest
}

fn mean(runs: &[RateOverTime]) -> Option<[f64; PARTS]> {
    let mut mean = [0.0; PARTS];
    for run in runs {
        for (sum, part) in mean.iter_mut().zip(run.parts) {
            *sum += part / runs.len() as f64;
        }
    }
    (!runs.is_empty()).then_some(mean)
}

/// The difference of the last third from the first, in %.
fn drift(mean: &[f64; PARTS]) -> Option<f64> {
    let third = PARTS / 3;
    let (first, last) = (mean[..third].iter().sum::<f64>(), mean[PARTS - third..].iter().sum::<f64>());
    (first > 0.0).then(|| (last / first - 1.0) * 100.0)
}

fn stalls(runs: &[RateOverTime]) -> String {
    let stalled: Vec<u64> = runs.iter().filter(|run| run.has_stalled()).map(|run| run.stalled_ns).collect();
    match stalled.iter().max() {
        Some(longest) => {
            format!("in {} of {} runs, up to {} ms", stalled.len(), runs.len(), longest / 1_000_000)
        }
        None => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn receiver(rows: &[(u64, u64)]) -> Series {
        Series {
            at_ns: rows.iter().map(|(ms, _)| ms * MS).collect(),
            bytes_received: rows.iter().map(|(_, bytes)| *bytes).collect(),
            ..Series::default()
        }
    }

    fn rate(rows: &[(u64, u64)]) -> RateOverTime {
        RateOverTime::from_counters(Kind::TcpStream, &[&receiver(rows)]).unwrap()
    }

    #[test]
    fn a_steady_rate_is_flat_whatever_the_steps() {
        let even: Vec<(u64, u64)> = (1..=100).map(|row| (row * 10, row * 1000)).collect();
        // Rows may be missing on a busy machine.
        let uneven: Vec<(u64, u64)> = even.iter().copied().filter(|(ms, _)| ms % 70 != 0).collect();
        for rows in [even, uneven] {
            let rate = rate(&rows);
            assert!(rate.parts.iter().all(|part| (part - 1.0).abs() < 1e-9), "{:?}", rate.parts);
            assert!(!rate.has_stalled());
            assert!(drift(&rate.parts).unwrap().abs() < 1e-9);
        }
    }

    #[test]
    fn a_stall_is_as_long_as_nothing_moved() {
        let rows: Vec<(u64, u64)> =
            (1..=100).map(|row| (row * 10, if (40..=52).contains(&row) { 40 } else { row })).collect();
        let rate = rate(&rows);
        assert_eq!((rate.stalled_ns, rate.has_stalled()), (120 * MS, true));
        assert_eq!(stalls(&[rate]), "in 1 of 1 runs, up to 120 ms");
    }

    #[test]
    fn a_rate_that_doubles_drifts_by_a_hundred_percent() {
        let rows: Vec<(u64, u64)> =
            (1..=240).map(|row| (row, if row <= 120 { row } else { 120 + (row - 120) * 2 })).collect();
        let rate = rate(&rows);
        assert!((drift(&rate.parts).unwrap() - 100.0).abs() < 1e-6);
    }

    #[test]
    fn a_counter_that_never_moved_has_no_rate() {
        let none =
            |rows: &[(u64, u64)]| RateOverTime::from_counters(Kind::TcpStream, &[&receiver(rows)]).is_none();
        assert!(none(&[]) && none(&[(10, 0), (20, 0)]));
    }
}
