//! Latency: quantile curves, histograms, and against offered load where that was varied.

use crate::chart::{Curve, Curves, Figure, Panel};
use crate::document::{Cell, Table};
use study::metric::{self, Metric};

use super::Ids;
use super::histogram;
use super::offered;
use super::view::{MeasuredWorkload, StudyView};
use super::words::{choice, latency};
use crate::page::FigureSection;

// The metrics of quantiles, with the share of the transactions that they stay within.
const QUANTILES: [(Metric, f64); 5] = [
    (metric::LATENCY_P50, 0.5),
    (metric::LATENCY_P90, 0.9),
    (metric::LATENCY_P99, 0.99),
    (metric::LATENCY_P99_9, 0.999),
    (metric::LATENCY_P99_99, 0.9999),
];

// The explanation of quantile curves.
const QUANTILE_CURVES: &str = "The time from request to response within which a share of the transactions stayed: of each quantile the mean \
     over boots. The tail is drawn out, and the scale of time is logarithmic.";

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    let mut has_load = false;
    for view in views {
        for workload in &view.workloads {
            let against_load = offered::figure(view, workload, ids);
            has_load |= against_load.is_some();
            section.figures.extend(against_load);
            section.tables.extend(percentiles(view, workload));
            section.figures.extend(figure(view, workload, ids));
            section.figures.extend(histogram::figure(view, workload, ids));
        }
    }
    section.about.push(QUANTILE_CURVES.to_owned());
    section.about.extend(histogram::about(views));
    section.about.extend(has_load.then(|| offered::KNEE.to_owned()));
    section.about.extend(choice(views));
}

fn percentiles(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>) -> Option<Table> {
    const COLUMNS: [(&str, Metric); 7] = [
        ("mean", metric::LATENCY_MEAN),
        ("50 %", metric::LATENCY_P50),
        ("90 %", metric::LATENCY_P90),
        ("99 %", metric::LATENCY_P99),
        ("99.9 %", metric::LATENCY_P99_9),
        ("99.99 %", metric::LATENCY_P99_99),
        ("max", metric::LATENCY_MAX),
    ];
    let row = |index: &usize| {
        let own = view.condition(*index)?;
        let values = COLUMNS.map(|(_, metric)| own.mean(metric));
        let cells = values.map(Cell::from);
        let is_any = values.iter().any(Option::is_some);
        is_any.then(|| [Cell::from(&own.label)].into_iter().chain(cells).collect())
    };
    let heads = ["condition"].into_iter().chain(COLUMNS.map(|(head, _)| head));
    let table = Table::with_rows(heads, workload.conditions.iter().filter_map(row));
    table.titled(view.titled(&format!("{}: latency by percentile, ns", workload.name))).filled()
}

fn quantiles(view: &StudyView<'_>, condition: usize) -> [Option<f64>; QUANTILES.len()] {
    QUANTILES.map(|(metric, _)| view.mean(condition, metric))
}

fn figure(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>, ids: &mut Ids) -> Option<Figure> {
    let has_any = |index: &&usize| quantiles(view, **index).iter().any(Option::is_some);
    let conditions: Vec<usize> = workload.telling.iter().filter(has_any).copied().collect();
    if conditions.is_empty() {
        return None;
    }
    let names = view.names(&conditions);
    let curve = |(index, name): (&usize, &String)| {
        let points = QUANTILES.iter().zip(quantiles(view, *index));
        let points = points.filter_map(|((_, share), value)| Some((*share, value?))).collect();
        Curve { name: name.clone(), points, measured: true }
    };
    let curves: Vec<Curve> = conditions.iter().zip(&names).map(curve).collect();
    let seen = [0, 2, 3].map(|place| {
        let of = |index: &usize| quantiles(view, *index)[place];
        let values: Vec<(f64, &String)> =
            conditions.iter().zip(&names).filter_map(|(index, name)| Some((of(index)?, name))).collect();
        quantile_sentence(QUANTILES[place].1, &values)
    });
    let (id, title) = (&workload.name, format!("Latency of {}: quantiles", workload.name));
    let plot = Curves::quantiles(latency(), curves);
    view.figure(ids, (&format!("latency {id}"), &title), seen, vec![Panel::new("", plot)])
}

fn quantile_sentence(share: f64, values: &[(f64, &String)]) -> String {
    let by = |one: &&(f64, &String), other: &&(f64, &String)| one.0.total_cmp(&other.0);
    let (Some(least), Some(most)) = (values.iter().min_by(by), values.iter().max_by(by)) else {
        return String::new();
    };
    let percent = (share * 1e4).round() / 1e2;
    let [low, high] = [least, most].map(|(ns, name)| format!("at most {} with {name}", latency().shown(*ns)));
    let high = if least.0 == most.0 { String::new() } else { format!(", {high}") };
    format!("{percent} % of the transactions took {low}{high}")
}
