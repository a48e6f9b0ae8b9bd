//! The rate and the congestion window inside a run over its time, of one typical run for each of a
//! few conditions.

use record::{Series, TcpReadings};
use store::{StoredRun, StoredSeries};
use study::{Kind, Side};

use super::Ids;
use super::view::{MeasuredWorkload, StudyView, estimates};
use super::words::metric_quantity;
use crate::chart::{Curve, Curves, Figure, Panel, Quantity, Scale, ends};
use crate::page::FigureSection;

// The largest number of conditions with a line in a figure.
const CURVES: usize = 4;
// The largest number of points in a line. The counters add up, so a longer step only loses detail.
const POINTS: usize = 100;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    for view in views {
        section.folded.extend(view.workloads.iter().flat_map(|workload| of_workload(view, workload, ids)));
    }
    section.about.push(format!(
        "The rate, and the congestion window of the transmitter's TCP connections, inside one run of a condition, the one nearest to the mean of its condition, in at most {POINTS} \
         steps; of more than {CURVES} conditions those at both ends of the main metric."
    ));
}

/// A run with values over its time: ns after the opening, and the value over the step that ends
/// there.
type ValuesOverTime<'a> = (&'a StoredRun, Vec<(f64, f64)>);

fn of_workload(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>, ids: &mut Ids) -> Vec<Figure> {
    let rates: Vec<ValuesOverTime<'_>> =
        ends_of(view, workload).into_iter().filter_map(|one| typical(view, workload.kind, one)).collect();
    let windows = rates.iter().map(|(run, _)| (*run, congestion_windows(view, run))).collect();
    let name = workload.name;
    let rate = metric_quantity(&view.primary(workload.kind).into());
    let window = Quantity::new("congestion window", "segments", results::figure);
    let figures = [
        figure(view, rates, rate, (&format!("inside {name}"), &format!("Inside a typical run: {name}")), ids),
        figure(view, windows, window, (&format!("cwnd {name}"), &format!("Congestion window: {name}")), ids),
    ];
    figures.into_iter().flatten().collect()
}

fn figure(
    view: &StudyView<'_>,
    mut runs: Vec<ValuesOverTime<'_>>,
    quantity: Quantity,
    title: (&str, &str),
    ids: &mut Ids,
) -> Option<Figure> {
    runs.retain(|(_, points)| points.len() > 2);
    let end = runs.iter().filter_map(|(_, points)| points.last()).map(|last| last.0).fold(0.0, f64::max);
    let (unit, ns) = if end >= 2e9 { ("s", 1e9) } else { ("ms", 1e6) };
    let conditions: Vec<usize> = runs.iter().map(|(run, _)| run.condition).collect();
    let (mut seen, mut curves) = (Vec::new(), Vec::new());
    for ((run, points), name) in runs.into_iter().zip(view.names(&conditions)) {
        let (low, high) = ends(points.iter().map(|point| point.1))?;
        let (low, high) = (quantity.text(low), quantity.text(high));
        seen.push(format!("{name}, boot {}, run {}: between {low} and {high}", run.boot, run.repeat));
        let points = points.into_iter().map(|(at, rate)| (at / ns, rate)).collect();
        curves.push(Curve { name, points, measured: false });
    }
    if curves.is_empty() {
        return None;
    }
    let plot = Curves {
        across: (Quantity::new("time since the window opened", unit, results::rounded), Scale::FromZero),
        up: (quantity, Scale::FromZero),
        curves,
        flags: Vec::new(),
    };
    view.figure(ids, title, seen, vec![Panel::new("", plot)])
}

/// At most [`CURVES`] conditions: those at both ends of the main metric.
fn ends_of(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>) -> Vec<usize> {
    let mut by_size = estimates(view.results, view.primary(workload.kind), &workload.conditions);
    by_size.sort_by(|one, other| other.mean.total_cmp(&one.mean));
    let ends = by_size.iter().take(CURVES / 2).chain(by_size.iter().rev().take(CURVES / 2));
    let chosen: Vec<usize> = ends.map(|one| one.condition).collect();
    workload.conditions.iter().filter(|one| chosen.contains(one)).copied().collect()
}

/// The run nearest to the mean of its condition that has a series, with its rate over time.
fn typical<'a>(view: &StudyView<'a>, kind: Kind, condition: usize) -> Option<ValuesOverTime<'a>> {
    let metric = view.primary(kind);
    let mean = view.mean(condition, metric)?;
    let away = |run: &&StoredRun| run.metrics.get(metric).map_or(f64::INFINITY, |value| (value - mean).abs());
    let mut runs: Vec<&StoredRun> = view.results.stored.measurements_of(condition).collect();
    runs.sort_by(|one, other| away(one).total_cmp(&away(other)));
    runs.into_iter().find_map(|run| {
        let of_run = view.results.series.iter().filter(|one| one.run == run.id).map(|one| &one.series);
        let (at, counter) = progress(kind, of_run)?;
        Some((run, rates(at, counter, kind)))
    })
}

/// Of both ends, that which counts most is the one that the metric counts.
fn progress<'a>(kind: Kind, series: impl Iterator<Item = &'a Series>) -> Option<(&'a [u64], &'a [u64])> {
    let counter = |one: &'a Series| match kind {
        _ if kind.is_stream() => &one.bytes_received,
        _ if kind.is_rr() => &one.transactions,
        _ => &one.messages_sent,
    };
    let counters = series.map(|one| (one.at_ns.as_slice(), counter(one).as_slice()));
    let (at, counter) = counters.max_by_key(|(_, counter)| counter.last().copied())?;
    counter.last().is_some_and(|last| *last > 0).then_some((at, counter))
}

/// The mean congestion window of the transmitter's connections at each of at most [`POINTS`] steps.
fn congestion_windows(view: &StudyView<'_>, run: &StoredRun) -> Vec<(f64, f64)> {
    let is_its = |one: &&StoredSeries| one.run == run.id && one.side == Side::Transmitter;
    let own = view.results.series.iter().find(is_its);
    let Some(StoredSeries { series, .. }) = own else { return Vec::new() };
    let rows = series.at_ns.iter().copied().zip(series.tcp.iter().copied());
    let mut before = TcpReadings::default();
    let mut points = Vec::new();
    for (at, readings) in steps(rows) {
        let passed = readings.since(&before);
        points.extend(passed.mean(passed.congestion_window).map(|segments| (at as f64, segments)));
        before = readings;
    }
    points
}

fn rates(at_ns: &[u64], counter: &[u64], kind: Kind) -> Vec<(f64, f64)> {
    // Bytes in ns as Mbit/s; anything else as 1/s.
    let scale = if kind.is_stream() { 8e3 } else { 1e9 };
    let rows = at_ns.iter().copied().zip(counter.iter().copied());
    let mut before = (0, 0);
    let mut points = Vec::new();
    for (at, count) in steps(rows) {
        let ns = at.saturating_sub(before.0);
        if ns > 0 {
            points.push((at as f64, count.saturating_sub(before.1) as f64 * scale / ns as f64));
        }
        before = (at, count);
    }
    points
}

/// At most [`POINTS`] of these rows, equally far apart.
fn steps<T>(rows: impl ExactSizeIterator<Item = T>) -> impl Iterator<Item = T> {
    let every = rows.len().div_ceil(POINTS).max(1);
    rows.skip(every - 1).step_by(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_joined_and_no_byte_is_lost() {
        let rows = 1000_u64;
        let at_ns: Vec<u64> = (1..=rows).map(|row| row * 1_000_000).collect();
        let bytes: Vec<u64> = (1..=rows).map(|row| row * 125_000).collect();
        let points = rates(&at_ns, &bytes, Kind::TcpStream);
        assert_eq!(points.len(), POINTS);
        assert_eq!(points[0], (1e7, 1000.0), "10 steps of 125 kB in 10 ms are 1000 Mbit/s");
        assert!(points.iter().all(|(_, rate)| *rate == 1000.0));
        assert_eq!(rates(&[], &[], Kind::TcpStream), []);
    }
}
