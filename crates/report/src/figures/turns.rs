//! Conditions that took turns: the rate of each turn, when it was in its flow.

use std::collections::BTreeMap;

use record::Turns;
use results::chart::{Curve, Curves, Figure, Finite, Panel, Quantity, Scale};
use results::{counted, percent};
use store::StoredRun;

use super::ids::Ids;
use super::measure::Measure;
use super::view::StudyView;
use super::words::paragraph;
use crate::section::FigureSection;

// The largest number of flows in a figure.
const PANELS: usize = 4;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("turns");
    let figures = views.iter().filter_map(|view| figure(view, ids)).collect();
    let about = vec![
        "Each dot is a turn of a condition in a flow that it shared with others: the rate in the part of the turn \
         that is counted, relative to the mean of all turns of the flow. Conditions that differ lie at levels of \
         their own from the first turn to the last; what drifts moves all of them. Of each set of conditions the \
         first flow is shown."
            .to_owned(),
    ];
    Some(FigureSection { id, title: "Turns in a flow".to_owned(), about, figures, folded: Vec::new() })
}

fn figure(view: &StudyView<'_>, ids: &mut Ids) -> Option<Figure> {
    let measure = Measure::percent("rate", "of the mean of all turns");
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    let flows = flows(view);
    for flow in flows.values().take(PANELS) {
        let Some((boot, curves, words)) = drawn(view, flow, &measure) else { continue };
        // What tells this flow from the others.
        let place = Some(shared(view, flow)).filter(|shared| flows.len() > 1 && !shared.is_empty());
        let title = place.map_or(boot.clone(), |place| format!("{place}: {boot}"));
        let time = Quantity::new("time since the first turn began", "s", results::figure);
        let plot = Curves {
            across: (time, Scale::FromZero),
            up: (measure.quantity.clone(), Scale::Linear),
            curves,
            flags: Vec::new(),
        };
        panels.push(Panel { title, plot: Box::new(plot) });
        seen.push(format!("{}, {words}", panels.last().map_or("", |panel| &panel.title)));
    }
    if panels.is_empty() {
        return None;
    }
    Some(Figure {
        id: ids.unique(&view.titled("turns in a flow")),
        title: view.titled("Conditions that took turns"),
        description: paragraph(seen),
        panels,
    })
}

/// The runs of the first flow of each set of conditions that shared one, by the first of them.
fn flows<'a>(view: &StudyView<'a>) -> BTreeMap<usize, Vec<(&'a StoredRun, &'a Turns)>> {
    let mut flows: BTreeMap<usize, Vec<(&StoredRun, &Turns)>> = BTreeMap::new();
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
fn shared(view: &StudyView<'_>, flow: &[(&StoredRun, &Turns)]) -> String {
    let label = |run: &StoredRun| view.stored.plan.conditions[run.condition].label.to_string();
    let labels: Vec<String> = flow.iter().map(|(run, _)| label(run)).collect();
    let is_in_all = |word: &&str| labels.iter().all(|label| label.split(' ').any(|one| one == *word));
    let words = labels.first().map(|label| label.split(' ').filter(is_in_all).collect::<Vec<_>>());
    words.unwrap_or_default().join(" ")
}

/// A figure of a flow: a line for each condition, and a sentence on it.
fn drawn(
    view: &StudyView<'_>,
    flow: &[(&StoredRun, &Turns)],
    measure: &Measure,
) -> Option<(String, Vec<Curve>, String)> {
    let rate = |work: u64, ns: u64| work as f64 / ns.max(1) as f64;
    let all = || flow.iter().flat_map(|(_, turns)| &turns.turns);
    let (work, ns) =
        all().fold((0.0, 0.0), |(work, ns), turn| (work + turn.work as f64, ns + turn.ns as f64));
    let mean = work / ns;
    let conditions: Vec<usize> = flow.iter().map(|(run, _)| run.condition).collect();
    let names = view.names(&conditions);
    let (mut curves, mut seen) = (Vec::new(), Vec::new());
    for ((_, turns), name) in flow.iter().zip(names) {
        let relative = |turn: &record::CountedTurn| 100.0 * rate(turn.work, turn.ns) / mean;
        let place = |turn: &record::CountedTurn| {
            let begins = f64::from(turn.number) * turns.turn_ns as f64 / 1e9;
            Some((Finite::new(begins)?, measure.value(relative(turn))?))
        };
        let values = || turns.turns.iter().map(relative);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        seen.push(format!("{name} between {} and {} %", percent(low), percent(high)));
        curves.push(Curve { name, points: turns.turns.iter().filter_map(place).collect(), measured: true });
    }
    let (first, count) = (flow.first()?.0, all().count());
    let title = format!("boot {}, run {}", first.boot, first.repeat);
    let words = format!("{}: {}", counted(count, "turn"), results::listed(&seen));
    curves.iter().any(|curve| !curve.points.is_empty()).then_some((title, curves, words))
}
