//! Figures of the rate of each condition, TCP beside UDP, by scenario, MTU and study.

use std::collections::BTreeMap;

use results::capital;
use results::chart::{Bar, BarGroup, Bars, Figure, Panel};
use stats::ConditionEstimate;

use super::grid::BarSheet;
use super::ids::Ids;
use super::measure::{Measure, of_mean, reach};
use super::view::{MeasuredWorkload, StudyView};
use super::words::{CHOSEN, extremes, paragraph};
use crate::section::FigureSection;

// The largest number of panels in a figure; the others are folded.
const PANELS: usize = 8;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("rates");
    let (mut figures, mut folded, mut is_large) = (Vec::new(), Vec::new(), false);
    for metric in metrics(views) {
        let (sheets, has_more) = sheets(views, metric);
        is_large |= has_more;
        for (place, few) in sheets.chunks(PANELS).enumerate() {
            let (to, more) = if place == 0 { (&mut figures, "") } else { (&mut folded, ", more of them") };
            to.extend(figure(metric, few, more, ids));
        }
    }
    let is_exact = views.iter().all(|view| view.stored.plan.exact);
    let what = if is_exact {
        "Instructions executed for a unit of work, as the emulator counts them."
    } else {
        "What reached the receiving applications, as the mean over boots. Bars of one figure have one scale."
    };
    let mut about = vec![what.to_owned()];
    if is_large {
        about.push(CHOSEN.to_owned());
    }
    Some(FigureSection {
        id,
        title: if is_exact { "What each condition executes" } else { "What each condition reached" }
            .to_owned(),
        about,
        figures,
        folded,
    })
}

/// The bars of a study in one scenario and MTU.
struct RateBars {
    title: String,
    sheet: BarSheet,
    level: f64,
    estimates: BTreeMap<usize, ConditionEstimate>,
    /// The limits outside both hosts, in words.
    limited: String,
}

/// The main metrics of all workloads.
fn metrics(views: &[StudyView<'_>]) -> Vec<&'static str> {
    let mut metrics: Vec<&'static str> = Vec::new();
    for view in views {
        for workload in view.workloads() {
            let metric = view.primary(workload.kind);
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
    }
    metrics
}

/// The sheets of the most telling conditions; returns whether these are fewer than all.
fn sheets(views: &[StudyView<'_>], metric: &str) -> (Vec<RateBars>, bool) {
    let (mut found, mut is_large) = (Vec::new(), false);
    for view in views {
        let mut workloads: Vec<MeasuredWorkload<'_>> = Vec::new();
        for mut workload in view.workloads() {
            if view.primary(workload.kind) != metric {
                continue;
            }
            if let Some(telling) = view.telling(&workload) {
                is_large = true;
                workload.conditions = telling;
            }
            workloads.push(workload);
        }
        let mut estimates = BTreeMap::new();
        let mut level = view.results.confidence;
        for workload in &workloads {
            let (own, of_workload) = view.estimates(workload.name, metric, &workload.conditions);
            level = own;
            estimates.extend(of_workload.into_iter().map(|one| (one.condition, one)));
        }
        for sheet in BarSheet::for_workloads(view, &workloads) {
            let of_sheet = sheet.conditions().filter_map(|one| Some((one, *estimates.get(&one)?)));
            let estimates: BTreeMap<usize, ConditionEstimate> = of_sheet.collect();
            if estimates.is_empty() {
                continue;
            }
            let title = [view.name.as_str(), sheet.title.as_str()];
            let title: Vec<&str> = title.into_iter().filter(|part| !part.is_empty()).collect();
            let limited = limited(view, &sheet);
            found.push(RateBars { title: title.join(", "), sheet, level, estimates, limited });
        }
    }
    (found, is_large)
}

/// The conditions whose rate was set from outside both hosts.
fn limited(view: &StudyView<'_>, sheet: &BarSheet) -> String {
    let mut by: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for condition in sheet.conditions() {
        let limit = view.condition(condition).and_then(|one| one.limited_by.as_ref());
        if let Some(limit) = limit.filter(|limit| limit.label.is_outside()) {
            by.entry(limit.label.word()).or_default().push(sheet.name(condition));
        }
    }
    let told = by.into_iter().map(|(limit, names)| {
        format!(
            "Limited by the {limit}, so that switches cannot show in the rate: {}",
            results::listed(&names)
        )
    });
    told.collect::<Vec<_>>().join("; ")
}

fn figure(metric: &str, sheets: &[RateBars], more: &str, ids: &mut Ids) -> Option<Figure> {
    let all: Vec<ConditionEstimate> =
        sheets.iter().flat_map(|rates| rates.estimates.values().copied()).collect();
    if all.is_empty() {
        return None;
    }
    let measure = Measure::for_metric(metric).reaching(reach(&all));
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for rates in sheets {
        let bar = |(name, condition): &(String, usize)| {
            let one = rates.estimates.get(condition)?;
            let whole = measure.interval(one.mean, one.interval)?;
            Some(Bar { name: name.clone(), whole, parts: Vec::new() })
        };
        let groups = rates.sheet.groups.iter().map(|group| BarGroup {
            name: group.name.clone(),
            bars: group.bars.iter().filter_map(bar).collect(),
        });
        let plot = Bars {
            quantity: measure.quantity.clone(),
            interval: of_mean(rates.level),
            parts: Vec::new(),
            groups: groups.filter(|group| !group.bars.is_empty()).collect(),
        };
        panels.push(Panel { title: rates.title.clone(), plot: Box::new(plot) });
        let estimates: Vec<ConditionEstimate> = rates.estimates.values().copied().collect();
        let names: Vec<String> = rates.estimates.keys().map(|one| rates.sheet.name(*one)).collect();
        let words = extremes(&rates.title, &measure, &names, &estimates);
        seen.push(paragraph([words, rates.limited.clone()]));
    }
    Some(Figure {
        id: ids.unique(&format!("rates {metric}{more}")),
        title: capital(&format!("{} in each condition{more}", results::metric_name(metric))),
        description: seen.join(" "),
        panels,
    })
}
