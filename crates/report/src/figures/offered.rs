//! Latency against offered load, with the knee, where a study varied the rate of requests.

use std::collections::BTreeMap;

use crate::chart::{Curve, Curves, Figure, Panel, Quantity, Scale};
use results::{capital, grouped, rounded};
use stats::knee::{Knee, KneePoint, of_curve, of_repeats};
use study::metric::{self, Metric};
use study::{Name, NameWord};

use super::Ids;
use super::view::{MeasuredWorkload, StudyView};
use super::words::latency;

const RATE: &str = "rate";
// The quantiles that are drawn, with the names of their lines.
const QUANTILES: [(Metric, &str); 2] =
    [(metric::LATENCY_P50, "median"), (metric::LATENCY_P99, "99 % quantile")];
// A curve of fewer loads has no knee: its ends are all that it has.
const LEAST: usize = 3;

pub(super) const KNEE: &str = "The knee of latency against offered load is the load at which requests answered per second, divided by \
     the mean latency, are at their most (Kleinrock's power, Proc. ICC 1979, pp. 43.1.1-43.1.10): below it more load \
     costs less latency than it brings, above it more. Each boot has a knee of its own, one of the loads that were \
     measured; marked is their median, and the least and the largest of them hold it with the confidence given.";

/// Offered loads in 1/s with their conditions, rising.
type Loads = Vec<(f64, usize)>;

/// The knee of a path in words, with the place and the label of its mark.
type MarkedKnee = (String, Option<(f64, String)>);

fn knee_at(load: f64, range: Option<[f64; 2]>, why: &str) -> MarkedKnee {
    let at = rounded(load);
    let range = range.map(|[low, high]| format!("{} to {}", rounded(low), rounded(high)));
    let in_brackets = range.as_ref().map_or_else(String::new, |range| format!(" ({range})"));
    let inner: Vec<&str> = range.as_deref().into_iter().chain([why]).collect();
    let mark = (load, format!("knee: {at}{in_brackets}"));
    (format!("knee at {at} requests/s ({})", inner.join(", ")), Some(mark))
}

pub(super) fn figure(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>, ids: &mut Ids) -> Option<Figure> {
    let paths = paths(view, workload);
    let loads = || paths.iter().flat_map(|(_, loads)| loads);
    let latencies = loads().flat_map(|load| QUANTILES.map(|(key, _)| view.mean(load.1, key))).flatten();
    // The panels of all paths have the same axes, so that they can be compared.
    let latency = latency().reaching(latencies);
    let offered = Quantity::new("offered load", "requests/s", rounded).reaching(loads().map(|load| load.0));
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for (name, loads) in &paths {
        let curve = |(key, name): (Metric, &str)| {
            let point = |(load, condition): &(f64, usize)| Some((*load, view.mean(*condition, key)?));
            Curve { name: name.to_owned(), points: loads.iter().filter_map(point).collect(), measured: true }
        };
        let curves: Vec<Curve> =
            QUANTILES.into_iter().map(curve).filter(|curve| curve.points.len() > 1).collect();
        if curves.is_empty() {
            continue;
        }
        let (knee, mark) = knee(view, loads);
        let words = format!("{knee}{}", unanswered(view, loads));
        seen.push(if name.is_empty() { capital(&words) } else { format!("{name}: {words}") });
        let (across, up) = ((offered.clone(), Scale::FromZero), (latency.clone(), Scale::Logarithmic));
        let plot = Curves { across, up, curves, flags: mark.into_iter().collect() };
        panels.push(Panel::new(name, plot));
    }
    let title = format!("Latency of {} against offered load", workload.name);
    view.figure(ids, (&format!("latency load {}", workload.name), &title), seen, panels)
}

/// The loads of each path, with a name that tells it from others; empty for the only one.
fn paths(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>) -> Vec<(String, Loads)> {
    type OtherLevels = Vec<(String, String)>;
    let load = |index: &usize| {
        let condition = view.results.stored.plan.conditions.get(*index)?;
        let rate = condition.workload.traffic.rate.filter(|_| workload.kind.is_rr())?;
        let own: OtherLevels =
            condition.levels.iter().filter(|(factor, _)| factor != RATE).cloned().collect();
        Some((own, (f64::from(rate), *index)))
    };
    let mut groups = grouped(workload.conditions.iter().filter_map(load));
    groups.retain(|(_, loads)| loads.len() > 1);
    let names: Vec<Name> = groups.iter().map(|(_, loads)| name(view, loads[0].1)).collect();
    let alone = groups.len() == 1;
    let path = |((_, mut loads), name): ((OtherLevels, Loads), String)| {
        loads.sort_by(|one, other| one.0.total_cmp(&other.0));
        (if alone { String::new() } else { name }, loads)
    };
    groups.into_iter().zip(crate::document::distinct_names(&names)).map(path).collect()
}

fn name(view: &StudyView<'_>, condition: usize) -> Name {
    let words = view.condition(condition).map_or(&[][..], |one| one.label.words());
    let is_rate = |word: &&NameWord| word.factor.as_deref() == Some(RATE);
    words.iter().filter(|word| !is_rate(word)).cloned().collect::<Vec<_>>().into()
}

fn curves(view: &StudyView<'_>, loads: &[(f64, usize)]) -> Vec<Vec<KneePoint>> {
    let by_boot = |metric: Metric| {
        let mut sums: BTreeMap<(u32, usize), (f64, f64)> = BTreeMap::new();
        for (condition, boot, value) in view.results.stored.values(metric) {
            let (sum, count) = sums.entry((boot, condition)).or_default();
            *sum += value;
            *count += 1.0;
        }
        sums
    };
    let (served, latency) = (by_boot(metric::TRANSACTIONS), by_boot(metric::LATENCY_MEAN));
    let boot_mean = |sums: &BTreeMap<(u32, usize), (f64, f64)>, boot, condition| {
        sums.get(&(boot, condition)).map(|(sum, count)| sum / count)
    };
    let mut boots: Vec<u32> = latency.keys().map(|key| key.0).collect();
    boots.dedup();
    let curve = |boot: u32| -> Option<Vec<KneePoint>> {
        let point = |(offered, condition): &(f64, usize)| {
            let served = boot_mean(&served, boot, *condition)?;
            let latency = boot_mean(&latency, boot, *condition)?;
            Some(KneePoint { offered: *offered, served, latency })
        };
        loads.iter().map(point).collect()
    };
    boots.into_iter().filter_map(curve).collect()
}

fn knee(view: &StudyView<'_>, loads: &[(f64, usize)]) -> MarkedKnee {
    let none = |why: &str| (format!("no knee: {why}"), None);
    let most = loads.last().map_or(0.0, |load| load.0);
    let curves = curves(view, loads);
    if loads.len() < LEAST {
        return none("fewer than three loads were offered");
    }
    let beyond = || none(&format!("it lies beyond {} requests/s, the most that was offered", rounded(most)));
    match (of_repeats(&curves), &curves[..]) {
        (Some(knee), _) if knee.is_beyond(most) => beyond(),
        (Some(Knee { load, lower, upper, confidence }), _) => {
            let sure = format!("{} % confidence", results::percent(100.0 * confidence));
            knee_at(load, Some([lower, upper]), &sure)
        }
        (None, [only]) => match of_curve(only) {
            Some(load) if load >= most => beyond(),
            Some(load) => knee_at(load, None, "one boot: no interval"),
            None => none("nothing was answered"),
        },
        (None, []) => none("no boot measured every load"),
        (None, _) => none("in a boot nothing was answered"),
    }
}

/// From which load on less was answered than was asked for, as a part of a sentence.
fn unanswered(view: &StudyView<'_>, loads: &[(f64, usize)]) -> String {
    // A window's edges cut requests: less than this share proves nothing.
    const SHORT: f64 = 0.98;
    let short = loads.iter().find_map(|(load, condition)| {
        let served = view.mean(*condition, metric::TRANSACTIONS)?;
        (served < SHORT * load)
            .then(|| format!("; of {} requests/s only {} were answered", rounded(*load), rounded(served)))
    });
    short.unwrap_or_default()
}
