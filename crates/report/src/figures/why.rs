//! Figures of reasons: the counters that explain effects, side by side, and the evidence that
//! offloads acted.

use crate::chart::{Bars, Figure, Interval, Panel, Quantity};
use results::{ActedOffloads, ExplainingCounter, capital, distinct, figure as digits, grouped, listed};
use study::metric::{self, Metric};

use super::Ids;
use super::view::{MeasuredWorkload, StudyView};
use super::words::{ends, of_mean};
use crate::page::{FigureSection, is_vast};

// The largest number of counters in a figure, and the largest for a study with very many
// conditions.
const PANELS: usize = 6;
const FEW: usize = 3;
// The largest number of explanations in words.
const NAMED: usize = 4;
// The least ratio between conditions that is worth a figure.
const DIFFERS: f64 = 1.2;

/// The evidence that an offload acted, with its words.
type EvidenceMetric = (fn(&ActedOffloads) -> Option<f64>, Option<Metric>, &'static str);

// Evidence, the counter that is the same, and words.
const EVIDENCE: [EvidenceMetric; 3] = [
    (
        |acted| acted.segments_per_buffer,
        Some(metric::SEGMENTS_PER_WIRE_PACKET.transmitter),
        "segments in each buffer that the transmitter's interface got",
    ),
    (
        |acted| acted.segments_per_underlay_packet,
        Some(metric::SEGMENTS_PER_UNDERLAY_PACKET.transmitter),
        "segments in each packet under the tunnel",
    ),
    (|acted| acted.packets_per_batch, None, "packets in each batch that TCP got at the receiver"),
];

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    for view in views {
        let counters = view.results.counters();
        for workload in view.workloads() {
            section.figures.extend(figure(view, &workload, &counters, ids));
        }
    }
    section.about.push(
        "Counters that differ between conditions as their effects do, and how much offloads merged. A counter is \
         evidence, not proof. Of very many conditions the most telling ones are shown."
            .to_owned(),
    );
    if views.iter().any(|view| is_vast(view.results)) {
        section
            .about
            .push(format!("With so many conditions, at most {FEW} counters of a workload are drawn."));
    }
}

fn figure(
    view: &StudyView<'_>,
    workload: &MeasuredWorkload<'_>,
    counters: &[ExplainingCounter],
    ids: &mut Ids,
) -> Option<Figure> {
    let shown = view.chosen(workload).0.conditions;
    let names = view.names(&shown);
    let name = |condition: usize| {
        let place = shown.iter().position(|one| *one == condition)?;
        names.get(place).cloned()
    };
    let counters: Vec<&ExplainingCounter> =
        counters.iter().filter(|one| one.workload == workload.name).collect();
    let mut panels = Vec::new();
    for counter in &counters {
        let bars = counter
            .conditions
            .iter()
            .filter_map(|one| Some((name(one.condition)?, Interval::new(one.mean, one.interval))));
        panels.push(panel(&counter.words, bars.collect(), &of_mean(view.results.confidence)));
    }
    for (of, metric, words) in EVIDENCE {
        if counters.iter().any(|one| Some(one.metric) == metric) {
            continue;
        }
        let value = |condition: &usize| view.condition(*condition).and_then(|one| of(&one.acted));
        let values: Vec<(usize, f64)> = shown.iter().filter_map(|one| Some((*one, value(one)?))).collect();
        let (low, high) = ends(values.iter().map(|(_, value)| *value));
        // Below one, what left were fragments: nothing was merged.
        if high < DIFFERS * low.max(1.0) || values.len() < 2 {
            continue;
        }
        let bars =
            values.into_iter().filter_map(|(one, value)| Some((name(one)?, Interval::new(value, None))));
        panels.push(panel(words, bars.collect(), ""));
    }
    panels.truncate(if is_vast(view.results) { FEW } else { PANELS });
    let title = format!("What goes with the effects: {}", workload.name);
    view.figure(ids, (&format!("why {}", workload.name), &title), seen(view, workload, &panels), panels)
}

fn panel(words: &str, bars: Vec<(String, Interval)>, interval: &str) -> Panel {
    Panel::new(capital(words), Bars::shares(Quantity::new(words, "", digits), interval, bars))
}

/// The explanations of the comparisons, each once.
fn seen(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>, panels: &[Panel]) -> Vec<String> {
    let groups = view.results.comparisons.iter().filter(|group| group.workload == workload.name);
    let rows = groups.flat_map(|group| &group.rows);
    let explanations = rows.flat_map(|row| row.why.iter().map(|why| (&why.sentence, &row.label)));
    let explained = grouped(explanations);
    let more = explained.len().saturating_sub(NAMED);
    let sentence =
        |(sentence, labels): (&String, Vec<&String>)| format!("{}: {sentence}", listed(&distinct(labels)));
    let mut seen: Vec<String> = explained.into_iter().take(NAMED).map(sentence).collect();
    if more > 0 {
        seen.push(format!("{more} more explanations are with the comparisons"));
    }
    if seen.is_empty() {
        let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
        seen.push(format!(
            "No counter explains a proven difference; what offloads merged differs: {}",
            titles.join("; ")
        ));
    }
    seen
}
