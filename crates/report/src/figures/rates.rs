//! Figures of the rate of each condition, TCP beside UDP, by scenario, MTU and study.

use std::collections::BTreeMap;

use crate::chart::{Bars, Figure};
use results::{capital, distinct};
use stats::ConditionEstimate;
use study::metric::Metric;

use super::Ids;
use super::grid::{BarSheet, on_one_scale};
use super::view::StudyView;
use super::words::{CHOSEN, extremes, metric_quantity, paragraph};
use crate::page::FigureSection;

// The largest number of panels in a figure; the others are folded.
const PANELS: usize = 8;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    let mut is_large = false;
    let workloads = |view: &StudyView<'_>| -> Vec<Metric> {
        view.workloads().iter().map(|workload| view.primary(workload.kind)).collect()
    };
    for metric in distinct(views.iter().flat_map(workloads)) {
        let (sheets, has_more) = sheets(views, metric);
        is_large |= has_more;
        for (place, few) in sheets.chunks(PANELS).enumerate() {
            if place == 0 {
                section.figures.push(figure(metric, few, "", ids));
            } else {
                section.folded.push(figure(metric, few, ", more of them", ids));
            }
        }
    }
    let about = if views.iter().all(|view| view.stored.plan.exact) {
        "What each condition executes".clone_into(&mut section.title);
        "Instructions executed for a unit of work, as the emulator counts them."
    } else {
        "What reached the receiving applications, as the mean over boots. Bars of one figure have one scale."
    };
    section.about.push(about.to_owned());
    section.about.extend(is_large.then(|| CHOSEN.to_owned()));
}

/// The bars of a study in one scenario and MTU, with their title and with sentences on them.
type RateBars = (String, Bars, String);

/// The bars of the most telling conditions; returns whether these are fewer than all.
fn sheets(views: &[StudyView<'_>], metric: Metric) -> (Vec<RateBars>, bool) {
    let (mut found, mut is_large) = (Vec::new(), false);
    let quantity = metric_quantity(&metric.into());
    for view in views {
        let all = view.workloads();
        let own = all.iter().filter(|workload| view.primary(workload.kind) == metric);
        let (workloads, choice): (Vec<_>, Vec<_>) = own.map(|workload| view.chosen(workload)).unzip();
        is_large |= choice.contains(&true);
        let (level, estimates) = view.all_estimates(&workloads, metric);
        for sheet in BarSheet::for_workloads(view, &workloads) {
            let is_own = |one: &&ConditionEstimate| sheet.conditions().any(|of| of == one.condition);
            let mut own: Vec<&ConditionEstimate> = estimates.iter().filter(is_own).collect();
            if own.is_empty() {
                continue;
            }
            own.sort_by_key(|one| one.condition);
            let title = [view.name.as_str(), sheet.title.as_str()];
            let title: Vec<&str> = title.into_iter().filter(|part| !part.is_empty()).collect();
            let title = title.join(", ");
            let named = own.into_iter().map(|one| (sheet.name(one.condition), one));
            let words = paragraph([extremes(&title, &quantity, named), limited(view, &sheet)]);
            found.push((title, sheet.plot(&quantity, level, &estimates, &[], |_, _| 0.0), words));
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

fn figure(metric: Metric, sheets: &[RateBars], more: &str, ids: &mut Ids) -> Figure {
    let description: Vec<&str> = sheets.iter().map(|(_, _, words)| words.as_str()).collect();
    Figure {
        id: ids.unique(&format!("rates {metric}{more}")),
        title: capital(&format!("{} in each condition{more}", results::metric_name(&metric.into()))),
        description: description.join(" "),
        panels: on_one_scale(sheets.iter().map(|(title, bars, _)| (title.clone(), bars.clone())).collect()),
    }
}
