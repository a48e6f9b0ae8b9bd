//! Conditions that took turns: the rate of each turn, when it was in its flow.

use std::collections::BTreeMap;

use crate::chart::{Curve, Curves, Figure, Panel, Quantity, Scale};
use record::Turns;
use results::{counted, percent};
use store::StoredRun;

use super::Ids;
use super::view::StudyView;
use super::words::{ends, percent_of};
use crate::page::FigureSection;

// The largest number of flows in a figure.
const PANELS: usize = 4;

/// The runs of conditions that shared a flow, with their turns.
type Flow<'a> = Vec<(&'a StoredRun, &'a Turns)>;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    section.figures.extend(views.iter().filter_map(|view| figure(view, ids)));
    section.about.push(
        "Each dot is a turn of a condition in a flow that it shared with others: the rate in the part of the turn \
         that is counted, relative to the mean of all turns of the flow. Conditions that differ lie at levels of \
         their own from the first turn to the last; what drifts moves all of them. Of each set of conditions the \
         first flow is shown."
            .to_owned(),
    );
}

fn figure(view: &StudyView<'_>, ids: &mut Ids) -> Option<Figure> {
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    let flows = flows(view);
    for flow in flows.values().take(PANELS) {
        let Some((plot, words)) = drawn(view, flow) else { continue };
        let first = flow[0].0;
        let boot = format!("boot {}, run {}", first.boot, first.repeat);
        // The words that tell this flow from the others.
        let place = Some(shared(view, flow)).filter(|shared| flows.len() > 1 && !shared.is_empty());
        let title = place.map_or(boot.clone(), |place| format!("{place}: {boot}"));
        seen.push(format!("{title}, {words}"));
        panels.push(Panel::new(title, plot));
    }
    view.figure(ids, ("turns in a flow", "Conditions that took turns"), seen, panels)
}

/// The runs of the first flow of each set of conditions that shared one, by the first of them.
fn flows<'a>(view: &StudyView<'a>) -> BTreeMap<usize, Flow<'a>> {
    let mut flows: BTreeMap<usize, Flow<'_>> = BTreeMap::new();
    let planned = view.stored.plan.flows();
    for run in view.stored.measurements() {
        let Some(turns) = run.detail.turns() else { continue };
        let first = planned.containing(run.condition).first().copied();
        let flow = flows.entry(first.unwrap_or(run.condition)).or_default();
        if flow.first().is_none_or(|(first, _)| (first.boot, first.repeat) == (run.boot, run.repeat)) {
            flow.push((run, turns));
        }
    }
    flows.values_mut().for_each(|flow| flow.sort_by_key(|(run, _)| run.condition));
    flows
}

/// The words that the names of a flow's conditions share.
fn shared(view: &StudyView<'_>, flow: &Flow<'_>) -> String {
    let label = |run: &StoredRun| view.stored.plan.conditions[run.condition].label.to_string();
    let labels: Vec<String> = flow.iter().map(|(run, _)| label(run)).collect();
    let is_in_all = |word: &&str| labels.iter().all(|label| label.split(' ').any(|one| one == *word));
    let words = labels.first().map(|label| label.split(' ').filter(is_in_all).collect::<Vec<_>>());
    words.unwrap_or_default().join(" ")
}

/// The plot of a flow: a line for each condition, and a sentence on it.
fn drawn(view: &StudyView<'_>, flow: &Flow<'_>) -> Option<(Curves, String)> {
    let all = || flow.iter().flat_map(|(_, turns)| &turns.turns);
    let (work, ns) =
        all().fold((0.0, 0.0), |(work, ns), turn| (work + turn.work as f64, ns + turn.ns as f64));
    let mean = work / ns;
    let conditions: Vec<usize> = flow.iter().map(|(run, _)| run.condition).collect();
    let (mut curves, mut seen) = (Vec::new(), Vec::new());
    for ((_, turns), name) in flow.iter().zip(view.names(&conditions)) {
        let point = |turn: &record::CountedTurn| {
            let begins = f64::from(turn.number) * turns.turn_ns as f64 / 1e9;
            (begins, 100.0 * (turn.work as f64 / turn.ns.max(1) as f64) / mean)
        };
        let points: Vec<(f64, f64)> = turns.turns.iter().map(point).collect();
        let (low, high) = ends(points.iter().map(|point| point.1));
        seen.push(format!("{name} between {} and {} %", percent(low), percent(high)));
        curves.push(Curve { name, points, measured: true });
    }
    let words = format!("{}: {}", counted(all().count(), "turn"), results::listed(&seen));
    let time = Quantity::new("time since the first turn began", "s", results::figure);
    let plot = Curves {
        across: (time, Scale::FromZero),
        up: (percent_of("rate", "of the mean of all turns"), Scale::Linear),
        curves,
        flags: Vec::new(),
    };
    (mean > 0.0).then_some((plot, words))
}
