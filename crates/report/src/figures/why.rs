//! Figures of reasons: the counters that explain effects, side by side, and the evidence that
//! offloads acted.

use results::chart::{Bars, Figure, Interval, Panel};
use results::{ActedOffloads, ExplainingCounter, capital, listed};

use super::ids::Ids;
use super::measure::{Measure, of_mean};
use super::view::{MeasuredWorkload, StudyView};
use super::words::paragraph;
use crate::section::{FigureSection, is_vast};

// The largest number of counters in a figure, and the largest for a study with very many
// conditions.
const PANELS: usize = 6;
const FEW: usize = 3;
// The largest number of explanations in words.
const NAMED: usize = 4;
// The least ratio between conditions that is worth a figure.
const DIFFERS: f64 = 1.2;

/// The evidence that an offload acted, with its words.
type EvidenceMetric = (fn(&ActedOffloads) -> Option<f64>, &'static str, &'static str);

// Evidence, the counter that is the same, and words.
const EVIDENCE: [EvidenceMetric; 3] = [
    (
        |acted| acted.segments_per_buffer,
        "transmitter.segments_per_wire_packet",
        "segments in each buffer that the transmitter's interface got",
    ),
    (
        |acted| acted.segments_per_underlay_packet,
        "transmitter.segments_per_underlay_packet",
        "segments in each packet under the tunnel",
    ),
    (|acted| acted.packets_per_batch, "", "packets in each batch that TCP got at the receiver"),
];

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("why");
    let mut figures = Vec::new();
    for view in views {
        let counters = view.results.counters();
        for workload in view.workloads() {
            figures.extend(figure(view, &workload, &counters, ids));
        }
    }
    let mut about = vec![
        "Counters that differ between conditions as their effects do, and how much offloads merged. A counter is \
         evidence, not proof. Of very many conditions the most telling ones are shown."
            .to_owned(),
    ];
    if views.iter().any(|view| is_vast(view.results)) {
        about.push(format!("With so many conditions, at most {FEW} counters of a workload are drawn."));
    }
    Some(FigureSection { id, title: "Why conditions differ".to_owned(), about, figures, folded: Vec::new() })
}

fn figure(
    view: &StudyView<'_>,
    workload: &MeasuredWorkload<'_>,
    counters: &[ExplainingCounter],
    ids: &mut Ids,
) -> Option<Figure> {
    let shown = view.telling(workload).unwrap_or_else(|| workload.conditions.clone());
    let names = view.names(&shown);
    let name = |condition: usize| {
        let place = shown.iter().position(|one| *one == condition)?;
        names.get(place).cloned()
    };
    let counters: Vec<&ExplainingCounter> =
        counters.iter().filter(|one| one.workload == workload.name).collect();
    let mut panels = Vec::new();
    for counter in &counters {
        let measure = Measure::in_words(&counter.words);
        let bars = counter
            .conditions
            .iter()
            .filter_map(|one| Some((name(one.condition)?, measure.interval(one.mean, one.interval)?)));
        panels.push(panel(&counter.words, bars.collect(), measure, &of_mean(view.results.confidence)));
    }
    for (of, metric, words) in EVIDENCE {
        if counters.iter().any(|one| one.metric == metric) {
            continue;
        }
        let value = |condition: &usize| view.condition(*condition).and_then(|one| of(&one.acted));
        let values: Vec<(usize, f64)> = shown.iter().filter_map(|one| Some((*one, value(one)?))).collect();
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), (_, value)| (low.min(*value), high.max(*value)));
        // Below one, what left were fragments: nothing was merged.
        if high < DIFFERS * low.max(1.0) || values.len() < 2 {
            continue;
        }
        let measure = Measure::in_words(words);
        let bars =
            values.into_iter().filter_map(|(one, value)| Some((name(one)?, measure.interval(value, None)?)));
        panels.push(panel(words, bars.collect(), measure, ""));
    }
    panels.truncate(if is_vast(view.results) { FEW } else { PANELS });
    (!panels.is_empty()).then(|| Figure {
        id: ids.unique(&view.titled(&format!("why {}", workload.name))),
        title: view.titled(&format!("What goes with the effects: {}", workload.name)),
        description: paragraph(seen(view, workload, &panels)),
        panels,
    })
}

fn panel(words: &str, bars: Vec<(String, Interval)>, measure: Measure, interval: &str) -> Panel {
    let plot = Bars::shares(measure.quantity, interval, bars);
    Panel { title: capital(words), plot: Box::new(plot) }
}

/// The explanations of the comparisons, each once.
fn seen(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>, panels: &[Panel]) -> Vec<String> {
    let groups = view.results.comparisons.iter().filter(|group| group.workload == workload.name);
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for row in groups.flat_map(|group| &group.rows) {
        for why in &row.why {
            match said.iter_mut().find(|(sentence, _)| *sentence == why.sentence) {
                Some((_, labels)) if labels.contains(&row.label) => {}
                Some((_, labels)) => labels.push(row.label.clone()),
                None => said.push((why.sentence.clone(), vec![row.label.clone()])),
            }
        }
    }
    let more = said.len().saturating_sub(NAMED);
    let mut seen: Vec<String> = said
        .into_iter()
        .take(NAMED)
        .map(|(sentence, labels)| format!("{}: {sentence}", listed(&labels)))
        .collect();
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
