//! A run's series as a line for each part of it.

use std::time::Duration;

use record::{Column, CountedEvents, Series};

use crate::document::{Cell, Table};

/// The time between two instants of a run, and the counters that the traffic moves.
#[derive(Debug, PartialEq)]
struct Part {
    from: f64,
    to: f64,
    row: usize,
    before: Option<usize>,
}

/// A part ends at a row of the series, so it may be a step longer or shorter.
pub(super) fn table(series: &Series, cpus: usize, interval: Duration) -> Table {
    let parts = parts(&series.at_ns, interval);
    let moved = |column: &[u64], part: &Part| {
        let at = |row: Option<usize>| row.and_then(|row| column.get(row)).copied().unwrap_or(0);
        at(Some(part.row)).saturating_sub(at(part.before)) as f64
    };
    let columns = series.columns();
    let shown: Vec<_> =
        columns.iter().filter(|column| column.values.iter().any(|value| *value > 0)).collect();
    let head = ["from s", "to s"].map(str::to_owned).into_iter();
    let mut table = Table::new(head.chain(shown.iter().map(|column| heading(column))));
    for part in &parts {
        let seconds = part.to - part.from;
        let mut cells = vec![Cell::fixed(part.from, 2), Cell::fixed(part.to, 2)];
        for column in &shown {
            let amount = moved(column.values, part);
            cells.push(match column.counts {
                CountedEvents::Bytes => (amount * 8.0 / 1e6 / seconds).into(),
                CountedEvents::CpuTime => Cell::percent(amount / 1e7 / seconds / cpus.max(1) as f64),
                CountedEvents::Drops => Cell::fixed(amount, 0),
                CountedEvents::Work => Cell::fixed(amount / seconds, 0),
            });
        }
        table.row(cells);
    }
    table
}

fn heading(column: &Column<'_>) -> String {
    let spoken = column.name.replace('_', " ");
    match column.counts {
        CountedEvents::Bytes => spoken.replace("bytes", "Mbit/s"),
        CountedEvents::CpuTime => "CPU %".to_owned(),
        CountedEvents::Drops => spoken,
        CountedEvents::Work => format!("{spoken}/s"),
    }
}

/// Divides the instants of a series, in ns, at the first of them at or after each multiple of
/// `interval`. The last part ends with the series; a rest of less than half an interval belongs to
/// the part before it.
fn parts(at_ns: &[u64], interval: Duration) -> Vec<Part> {
    let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
    let end = at_ns.last().copied().unwrap_or(0);
    let mut parts: Vec<Part> = Vec::new();
    let mut due = interval;
    for (row, &at) in at_ns.iter().enumerate() {
        let before = parts.last().map(|part| part.row);
        let from = before.map_or(0, |row| at_ns[row]);
        let is_last = row + 1 == at_ns.len();
        if at <= from || !(is_last || at >= due && end - at >= interval / 2) {
            continue;
        }
        parts.push(Part { from: from as f64 / 1e9, to: at as f64 / 1e9, row, before });
        due = (at / interval + 1).saturating_mul(interval);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_follow_each_other_and_leave_nothing_out() {
        let at: Vec<u64> = (1..=25).map(|tenth| tenth * 100_000_000).collect();
        let cuts: Vec<(f64, f64)> =
            parts(&at, Duration::from_secs(1)).iter().map(|part| (part.from, part.to)).collect();
        assert_eq!(cuts, [(0.0, 1.0), (1.0, 2.0), (2.0, 2.5)]);
        let short: Vec<f64> = parts(&at[..23], Duration::from_secs(1)).iter().map(|part| part.to).collect();
        assert_eq!(short, [1.0, 2.3]);
        assert!(parts(&[], Duration::from_secs(1)).is_empty());
    }

    #[test]
    fn rates_are_over_the_time_that_passed() {
        let series = Series {
            step_ns: 500_000_000,
            at_ns: vec![500_000_000, 1_000_000_000, 1_500_000_000, 2_000_000_000],
            bytes_sent: vec![1, 2, 125_002, 250_002],
            messages_sent: vec![5, 10, 15, 30],
            socket_drops: vec![0; 4],
            cpu_busy_ns: vec![250_000_000, 500_000_000, 500_000_000, 500_000_000],
            ..Series::default()
        };
        let table = table(&series, 1, Duration::from_secs(1));
        let texts = |row: &Vec<Cell>| row.iter().map(|cell| cell.text().into_owned()).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = table.rows().iter().map(texts).collect();
        assert_eq!(rows[0], ["0.00", "1.00", "0.00001600", "10", "50.0"]);
        assert_eq!(rows[1], ["1.00", "2.00", "2.000", "20", "0.0"]);
        let heads = table.heads().join(" ");
        assert!(!heads.contains("drops") && !heads.contains("received"), "{heads}");
    }

    proptest! {
        #[test]
        fn any_series_is_parted(mut at in prop::collection::vec(any::<u64>(), 0..60), ms in 1u64..100_000) {
            at.sort_unstable();
            let parts = parts(&at, Duration::from_millis(ms));
            prop_assert!(parts.windows(2).all(|pair| pair[0].to == pair[1].from));
            prop_assert!(parts.iter().all(|part| part.to > part.from));
            if let Some(last) = at.last().filter(|last| **last > 0) {
                prop_assert_eq!(parts.last().map(|part| part.to), Some(*last as f64 / 1e9));
            }
        }
    }
}
