//! Latency: quantile curves, histograms, and against offered load where that was varied.

use results::chart::{Curve, Curves, Figure, Finite};

use super::histogram;
use super::ids::Ids;
use super::measure::Measure;
use super::offered;
use super::view::{MeasuredWorkload, StudyView};
use super::words::{others_folded, paragraph};
use crate::section::FigureSection;

// The metrics of quantiles, with the share of the transactions that they stay within.
const QUANTILES: [(&str, f64); 5] = [
    ("latency_p50", 0.5),
    ("latency_p90", 0.9),
    ("latency_p99", 0.99),
    ("latency_p99_9", 0.999),
    ("latency_p99_99", 0.9999),
];

// The explanation of quantile curves.
const QUANTILE_CURVES: &str = "The time from request to response within which a share of the transactions stayed: of each quantile the mean \
     over boots. The tail is drawn out, and the scale of time is logarithmic.";

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("latency");
    let (mut figures, mut folded, mut has_load) = (Vec::new(), Vec::new(), false);
    for view in views {
        for workload in view.workloads() {
            let against_load = offered::figure(view, &workload, ids);
            has_load |= against_load.is_some();
            figures.extend(against_load);
            let Some(telling) = view.telling(&workload) else {
                figures.extend(of_conditions(view, &workload, "", ids));
                continue;
            };
            let chosen = MeasuredWorkload { conditions: telling, ..workload.clone() };
            figures.extend(of_conditions(view, &chosen, "", ids));
            folded.extend(of_conditions(view, &workload, " all", ids));
        }
    }
    let mut about = vec![QUANTILE_CURVES.to_owned()];
    about.extend(histogram::about(views));
    if has_load {
        about.push(offered::KNEE.to_owned());
    }
    if !folded.is_empty() {
        about.push(others_folded());
    }
    Some(FigureSection { id, title: "Latency".to_owned(), about, figures, folded })
}

/// The latencies of these conditions, as quantiles and as histograms.
fn of_conditions(
    view: &StudyView<'_>,
    workload: &MeasuredWorkload<'_>,
    more: &str,
    ids: &mut Ids,
) -> Vec<Figure> {
    let quantiles = figure(view, workload, more, ids);
    quantiles.into_iter().chain(histogram::figure(view, workload, more, ids)).collect()
}

/// The quantiles of a condition, by their place in the list.
fn quantiles(view: &StudyView<'_>, condition: usize) -> [Option<f64>; QUANTILES.len()] {
    let means = view.condition(condition).map(|one| &one.means);
    QUANTILES.map(|(key, _)| means.and_then(|means| means.get(key)).copied())
}

fn figure(
    view: &StudyView<'_>,
    workload: &MeasuredWorkload<'_>,
    more: &str,
    ids: &mut Ids,
) -> Option<Figure> {
    let has_any = |index: &&usize| quantiles(view, **index).iter().any(Option::is_some);
    let conditions: Vec<usize> = workload.conditions.iter().filter(has_any).copied().collect();
    let measure = Measure::for_latency();
    let names = view.names(&conditions);
    let curve = |(index, name): (&usize, &String)| {
        let points = QUANTILES.iter().zip(quantiles(view, *index));
        let point = |((_, share), value): (&(&str, f64), Option<f64>)| {
            Some((Finite::new(*share)?, measure.value(value?)?))
        };
        Curve { name: name.clone(), points: points.filter_map(point).collect(), measured: true }
    };
    let curves: Vec<Curve> = conditions.iter().zip(&names).map(curve).collect();
    if curves.is_empty() {
        return None;
    }
    let seen = [0, 2, 3].map(|place| {
        let of = |index: &usize| quantiles(view, *index)[place];
        let values: Vec<(f64, &String)> =
            conditions.iter().zip(&names).filter_map(|(index, name)| Some((of(index)?, name))).collect();
        quantile_sentence(&measure, QUANTILES[place].1, &values)
    });
    Some(Figure::new(
        ids.unique(&view.titled(&format!("latency {}{more}", workload.name))),
        &view.titled(&format!("Latency of {}: quantiles", workload.name)),
        &paragraph(seen),
        Curves::quantiles(measure.quantity, curves),
    ))
}

/// The fastest and the slowest at a quantile.
fn quantile_sentence(measure: &Measure, share: f64, values: &[(f64, &String)]) -> String {
    let by = |one: &&(f64, &String), other: &&(f64, &String)| one.0.total_cmp(&other.0);
    let (Some(least), Some(most)) = (values.iter().min_by(by), values.iter().max_by(by)) else {
        return String::new();
    };
    let percent = (share * 1e4).round() / 1e2;
    let most = if values.len() == 1 || least.0 == most.0 {
        String::new()
    } else {
        format!(", at most {} with {}", measure.words(most.0), most.1)
    };
    format!("{percent} % of the transactions took at most {} with {}{most}", measure.words(least.0), least.1)
}
