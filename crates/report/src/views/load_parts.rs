//! A run's series as a line for each part of it.

use std::time::Duration;

use record::{Column, CountedEvents, Series};

use crate::document::{Cell, Table};

pub(super) fn table(series: &Series, cpus: usize, interval: Duration) -> Table {
    let columns = series.columns();
    let shown: Vec<_> =
        columns.iter().filter(|column| column.values.iter().any(|value| *value > 0)).collect();
    let head = ["from s", "to s"].map(str::to_owned).into_iter();
    let mut table = Table::new(head.chain(shown.iter().map(|column| heading(column))));
    let mut before = None;
    for row in ends(&series.at_ns, interval) {
        let at = |row: Option<usize>| row.map_or(0.0, |row| series.at_ns[row] as f64 / 1e9);
        let (from, to) = (at(before), at(Some(row)));
        // A part ends at a row of the series, so it may be a step longer or shorter than another.
        let seconds = to - from;
        let mut cells = vec![Cell::fixed(from, 2), Cell::fixed(to, 2)];
        for column in &shown {
            let count = |row: Option<usize>| row.and_then(|row| column.values.get(row)).copied().unwrap_or(0);
            let amount = count(Some(row)).saturating_sub(count(before)) as f64;
            cells.push(match column.counts {
                CountedEvents::Bytes => (amount * 8.0 / 1e6 / seconds).into(),
                CountedEvents::CpuTime => Cell::percent(amount / 1e7 / seconds / cpus.max(1) as f64),
                CountedEvents::Drops => Cell::fixed(amount, 0),
                CountedEvents::Work => Cell::fixed(amount / seconds, 0),
            });
        }
        table.row(cells);
        before = Some(row);
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

/// The row that ends each part: the first at or after each multiple of `interval`, and the last.
fn ends(at_ns: &[u64], interval: Duration) -> Vec<usize> {
    let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
    let end = at_ns.last().copied().unwrap_or(0);
    let mut ends: Vec<usize> = Vec::new();
    let mut due = interval;
    for (row, &at) in at_ns.iter().enumerate() {
        let from = ends.last().map_or(0, |row| at_ns[*row]);
        let is_last = row + 1 == at_ns.len();
        // A rest of less than half an interval belongs to the part before it.
        if at <= from || !(is_last || at >= due && end - at >= interval / 2) {
            continue;
        }
        ends.push(row);
        due = (at / interval + 1).saturating_mul(interval);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_follow_each_other_and_leave_nothing_out() {
        let at: Vec<u64> = (1..=25).map(|tenth| tenth * 100_000_000).collect();
        let cuts = |at: &[u64]| -> Vec<u64> {
            ends(at, Duration::from_secs(1)).iter().map(|row| at[*row] / 100_000_000).collect()
        };
        assert_eq!(cuts(&at), [10, 20, 25]);
        assert_eq!(cuts(&at[..23]), [10, 23]);
        assert!(cuts(&[]).is_empty());
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
            let ends: Vec<u64> = ends(&at, Duration::from_millis(ms)).iter().map(|row| at[*row]).collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(ends.iter().all(|end| *end > 0));
            if at.last().is_some_and(|last| *last > 0) {
                prop_assert_eq!(ends.last(), at.last());
            }
        }
    }
}
