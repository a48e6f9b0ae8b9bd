//! All runs in the order of time: drift, and boots that differ.

use results::{counted, figure as digits, percent};
use store::{BootRow, StoredRun};

use super::Ids;
use super::view::StudyView;
use super::words::percent_of;
use crate::chart::{Curve, Curves, Figure, Panel, Quantity, Scale, ends};
use crate::page::FigureSection;

// Units of time in s, with the length of a campaign from which on they are used.
const UNITS: [(&str, f64, f64); 3] = [("h", 3600.0, 3.0 * 3600.0), ("min", 60.0, 180.0), ("s", 1.0, 0.0)];
// With more runs the points are the means of boots: nobody reads each run.
const TOLD: usize = 200;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    section.figures.extend(views.iter().filter_map(|view| figure(view, ids)));
    section.about.push(format!(
        "Every run that counts when it was, relative to the mean of its condition: without drift the points lie \
         around 100 % from the first boot to the last. Of more than {TOLD} runs the points are the means of boots."
    ));
}

fn figure(view: &StudyView<'_>, ids: &mut Ids) -> Option<Figure> {
    let stored = &view.results.stored;
    let begun = stored.runs.iter().map(|run| run.started_unix_ms);
    let begun = begun.chain(stored.boots.iter().map(|boot| boot.started_unix_ms)).min()?;
    let since = |unix_ms: i64| unix_ms.saturating_sub(begun) as f64 / 1e3;
    let length = stored.runs.iter().map(|run| since(run.started_unix_ms)).fold(0.0, f64::max);
    let (unit, seconds, _) = UNITS.into_iter().find(|(_, _, from)| length >= *from).unwrap_or(UNITS[2]);
    let point = |run: &StoredRun| {
        let metric = view.primary(view.condition(run.condition)?.kind);
        let mean = view.mean(run.condition, metric).filter(|mean| *mean > 0.0)?;
        let share = Some(100.0 * (run.metrics.get(metric)? / mean)).filter(|share| share.is_finite())?;
        Some((since(run.started_unix_ms) / seconds, share))
    };
    let runs: Vec<(f64, f64)> = stored.measurements().filter_map(point).collect();
    if runs.len() < 2 {
        return None;
    }
    let boot = |boot: &BootRow| {
        let part = if boot.part > 1 { format!(", part {}", boot.part) } else { String::new() };
        let own = stored.measurements().filter(|run| (run.boot, run.part) == (boot.number, boot.part));
        let own: Vec<f64> = own.filter_map(point).map(|(_, share)| share).collect();
        let mean = (!own.is_empty()).then(|| stats::mean(&own));
        (since(boot.started_unix_ms) / seconds, format!("boot {}{part}", boot.number), mean)
    };
    let boots: Vec<(f64, String, Option<f64>)> = stored.boots.iter().map(boot).collect();
    let mut means: Vec<(&str, f64)> =
        boots.iter().filter_map(|(_, name, mean)| Some((name.as_str(), (*mean)?))).collect();
    means.sort_by(|one, other| one.1.total_cmp(&other.1));
    let (low, high) = ends(runs.iter().map(|run| run.1))?;
    let mut seen = vec![format!("Runs lie between {} % and {} %", percent(low), percent(high))];
    if let [least, .., most] = means.as_slice() {
        let [low, high] = [least, most].map(|(boot, mean)| format!("{} % ({boot})", percent(*mean)));
        seen.push(format!("Means of boots lie between {low} and {high}"));
    }
    let left_out = stored.runs.iter().filter(|run| !run.warmup && !run.is_measurement()).count();
    if left_out > 0 {
        seen.push(format!("Left out, as disturbed or failed: {}", counted(left_out, "run")));
    }
    let (name, mut points) = match runs.len() {
        0..=TOLD => ("runs", runs),
        _ => ("means of boots", boots.iter().filter_map(|(at, _, mean)| Some((*at, (*mean)?))).collect()),
    };
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let plot = Curves {
        across: (Quantity::new("time since the campaign began", unit, digits), Scale::Linear),
        up: (percent_of("main metric", "of the mean of its condition").reaching([100.0]), Scale::Linear),
        curves: vec![Curve { name: name.to_owned(), points, measured: true }],
        flags: boots.into_iter().map(|(at, name, _)| (at, name)).collect(),
    };
    view.figure(ids, ("campaign runs in time", "Runs in the order of time"), seen, vec![Panel::new("", plot)])
}
