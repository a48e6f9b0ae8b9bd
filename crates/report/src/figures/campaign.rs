//! All runs in the order of time: drift, and boots that differ.

use crate::chart::{BootStart, Figure, Panel, Quantity, Timeline, TimelineRun};
use results::{counted, distinct, percent};

use super::Ids;
use super::view::StudyView;
use super::words::{ends, percent_of};
use crate::page::FigureSection;

// Units of time in s, with the length of a campaign from which on they are used.
const UNITS: [(&str, f64, f64); 3] = [("h", 3600.0, 3.0 * 3600.0), ("min", 60.0, 180.0), ("s", 1.0, 0.0)];
// The largest number of warnings on the data that are repeated.
const FLAGS: usize = 2;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    section.figures.extend(views.iter().filter_map(|view| figure(view, ids)));
    section.about.push(
        "Every run when it was, relative to the mean of its condition: without drift the dots lie around 100 % \
         from the first boot to the last. Runs that were disturbed do not count."
            .to_owned(),
    );
}

fn figure(view: &StudyView<'_>, ids: &mut Ids) -> Option<Figure> {
    let stored = view.stored;
    let boots = stored.boots.iter().map(|boot| boot.started_unix_ms);
    let begun = boots.chain(stored.runs.iter().map(|run| run.started_unix_ms));
    let begun = begun.min()?;
    let since = |unix_ms: i64| unix_ms.saturating_sub(begun) as f64 / 1e3;
    let length = stored.runs.iter().map(|run| since(run.started_unix_ms)).fold(0.0, f64::max);
    let (unit, seconds, _) = UNITS.into_iter().find(|(_, _, from)| length >= *from).unwrap_or(UNITS[2]);
    let at = |unix_ms: i64| since(unix_ms) / seconds;
    let names = view.names(&(0..view.results.conditions.len()).collect::<Vec<_>>());
    let run = |run: &store::StoredRun| {
        let metric = view.primary(view.condition(run.condition)?.kind);
        let mean = view.mean(run.condition, metric).filter(|mean| *mean > 0.0)?;
        Some(TimelineRun {
            name: names.get(run.condition)?.clone(),
            at: at(run.started_unix_ms),
            value: 100.0 * (run.metrics.get(metric)? / mean),
            counts: run.is_measurement(),
        })
    };
    let mut runs: Vec<TimelineRun> = stored.runs.iter().filter(|run| !run.warmup).filter_map(run).collect();
    runs.retain(|run| run.value.is_finite());
    runs.sort_by(|one, other| one.at.total_cmp(&other.at));
    let start = |boot: &store::BootRow| {
        let part = if boot.part > 1 { format!(", part {}", boot.part) } else { String::new() };
        BootStart { name: format!("boot {}{part}", boot.number), at: at(boot.started_unix_ms) }
    };
    let mut starts: Vec<BootStart> = stored.boots.iter().map(start).collect();
    starts.sort_by(|one, other| one.at.total_cmp(&other.at));
    if runs.iter().filter(|run| run.counts).count() < 2 {
        return None;
    }
    let plot = Timeline {
        time: Quantity::new("time since the campaign began", unit, results::figure),
        quantity: percent_of("main metric", "of the mean of its condition"),
        reference: Some(100.0),
        starts,
        runs,
    };
    let seen = seen(&plot).into_iter().chain(flags(view));
    let names = ("campaign runs in time", "Runs in the order of time");
    view.figure(ids, names, seen, vec![Panel::new("", plot)])
}

fn seen(plot: &Timeline) -> Vec<String> {
    let (low, high) = ends(plot.runs.iter().filter(|run| run.counts).map(|run| run.value));
    let mut seen = vec![format!("Runs lie between {} % and {} %", percent(low), percent(high))];
    let means = plot.means();
    let by = |one: &&(&str, f64), other: &&(&str, f64)| one.1.total_cmp(&other.1);
    if let (Some(least), Some(most)) = (means.iter().min_by(by), means.iter().max_by(by))
        && means.len() > 1
    {
        let [low, high] = [least, most].map(|(boot, mean)| format!("{} % ({boot})", percent(*mean)));
        seen.push(format!("Means of boots lie between {low} and {high}"));
    }
    let left_out = plot.runs.iter().filter(|run| !run.counts).count();
    if left_out > 0 {
        let verb = if left_out == 1 { "does" } else { "do" };
        seen.push(format!("{} {verb} not count", counted(left_out, "run")));
    }
    seen
}

/// Warnings on the main metrics' data.
fn flags(view: &StudyView<'_>) -> Vec<String> {
    let is_main = |group: &&results::ComparisonGroup| {
        let own = view.workloads().into_iter().find(|one| one.name == group.workload);
        own.is_some_and(|one| Some(view.primary(one.kind)) == group.metric.known())
    };
    let flags = view.results.comparisons.iter().filter(is_main).flat_map(|group| &group.flags);
    distinct(flags.cloned()).into_iter().take(FLAGS).collect()
}
