//! All runs in the order of time: drift, and boots that differ.

use results::chart::{BootStart, Figure, Quantity, Timeline, TimelineRun};
use results::{counted, percent};

use super::ids::Ids;
use super::measure::Measure;
use super::view::StudyView;
use super::words::paragraph;
use crate::section::FigureSection;

// Units of time in s, with the length of a campaign from which on they are used.
const UNITS: [(&str, f64, f64); 3] = [("h", 3600.0, 3.0 * 3600.0), ("min", 60.0, 180.0), ("s", 1.0, 0.0)];
// The largest number of warnings on the data that are repeated.
const FLAGS: usize = 2;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("campaign");
    let figures = views.iter().filter_map(|view| figure(view, ids)).collect();
    let about = vec![
        "Every run when it was, relative to the mean of its condition: without drift the dots lie around 100 % \
         from the first boot to the last. Runs that were disturbed do not count."
            .to_owned(),
    ];
    Some(FigureSection {
        id,
        title: "The campaign in the order of time".to_owned(),
        about,
        figures,
        folded: Vec::new(),
    })
}

fn figure(view: &StudyView<'_>, ids: &mut Ids) -> Option<Figure> {
    let stored = view.stored;
    let begun = stored
        .boots
        .iter()
        .map(|boot| boot.started_unix_ms)
        .chain(stored.runs.iter().map(|run| run.started_unix_ms));
    let begun = begun.min()?;
    let since = |unix_ms: i64| unix_ms.saturating_sub(begun) as f64 / 1e3;
    let length = stored.runs.iter().map(|run| since(run.started_unix_ms)).fold(0.0, f64::max);
    let (unit, seconds, _) = UNITS.into_iter().find(|(_, _, from)| length >= *from).unwrap_or(UNITS[2]);
    let at = |unix_ms: i64| results::chart::Finite::new(since(unix_ms) / seconds);
    let measure = Measure::percent("main metric", "of the mean of its condition");
    let names = view.names(&(0..view.results.conditions.len()).collect::<Vec<_>>());
    let run = |run: &store::StoredRun| {
        let condition = view.condition(run.condition)?;
        let metric = view.primary(condition.kind);
        let mean = condition.means.get(metric).copied().filter(|mean| *mean > 0.0)?;
        Some(TimelineRun {
            name: names.get(run.condition)?.clone(),
            at: at(run.started_unix_ms)?,
            value: measure.value(100.0 * (run.metrics.get(metric)? / mean))?,
            counts: run.is_measurement(),
        })
    };
    let mut runs: Vec<TimelineRun> = stored.runs.iter().filter(|run| !run.warmup).filter_map(run).collect();
    runs.sort_by(|one, other| one.at.value().total_cmp(&other.at.value()));
    let start = |boot: &store::BootRow| {
        let part = if boot.part > 1 { format!(", part {}", boot.part) } else { String::new() };
        Some(BootStart { name: format!("boot {}{part}", boot.number), at: at(boot.started_unix_ms)? })
    };
    let mut starts: Vec<BootStart> = stored.boots.iter().filter_map(start).collect();
    starts.sort_by(|one, other| one.at.value().total_cmp(&other.at.value()));
    if runs.iter().filter(|run| run.counts).count() < 2 {
        return None;
    }
    let plot = Timeline {
        time: Quantity::new("time since the campaign began", unit, results::figure),
        quantity: measure.quantity.clone(),
        reference: measure.value(100.0),
        starts,
        runs,
    };
    let description = paragraph(seen(&plot, &measure).into_iter().chain(flags(view)));
    let id = ids.unique(&view.titled("campaign runs in time"));
    Some(Figure::new(id, &view.titled("Runs in the order of time"), &description, plot))
}

fn seen(plot: &Timeline, measure: &Measure) -> Vec<String> {
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = ends(&mut plot.runs.iter().filter(|run| run.counts).map(|run| run.value.value()));
    let mut seen = vec![format!("Runs lie between {} and {}", measure.words(low), measure.words(high))];
    let means = plot.means();
    let by = |one: &&(&str, results::chart::Finite), other: &&(&str, results::chart::Finite)| {
        one.1.value().total_cmp(&other.1.value())
    };
    if let (Some(least), Some(most)) = (means.iter().min_by(by), means.iter().max_by(by))
        && means.len() > 1
    {
        let (least_at, most_at) = (percent(least.1.value()), percent(most.1.value()));
        seen.push(format!(
            "Means of boots lie between {least_at} % ({}) and {most_at} % ({})",
            least.0, most.0
        ));
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
        own.is_some_and(|one| view.primary(one.kind) == group.metric)
    };
    let mut flags: Vec<String> = Vec::new();
    for flag in view.results.comparisons.iter().filter(is_main).flat_map(|group| &group.flags) {
        if !flags.contains(flag) && flags.len() < FLAGS {
            flags.push(flag.clone());
        }
    }
    flags
}
