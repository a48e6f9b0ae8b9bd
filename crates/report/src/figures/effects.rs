//! Figures of differences from a baseline as a forest, with the margin that matters in practice.

use std::collections::BTreeSet;

use results::{
    ComparedMetric, ComparisonGroup, ComparisonRow, capital, grouped, listed, metric_name, percent, range,
    times,
};
use stats::{Comparison, Margin, Ratio, Verdict};

use super::Ids;
use super::view::{MOST, StudyView};
use super::words::{choice, metric_quantity, percent_of};
use crate::chart::{Figure, Forest, ForestRow, Interval, Panel};
use crate::page::FigureSection;

// The largest number of conditions in a sentence.
const NAMED: usize = 3;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    for view in views {
        let families = WorkloadEffects::from_view(view);
        section.figures.extend(families.iter().filter_map(|family| figure(view, family, ids)));
    }
    let about = "Differences from a baseline in % of it, with intervals that hold for all comparisons with it \
                 together. Where an interval includes zero no difference is proven.";
    section.about.push(about.to_owned());
    section.about.extend(choice(views).map(|note| format!("{note} The tables of conditions have all.")));
}

struct WorkloadEffects<'a> {
    workload: &'a str,
    groups: Vec<&'a ComparisonGroup>,
    only: Option<String>,
    names: Vec<(usize, String)>,
}

impl<'a> WorkloadEffects<'a> {
    fn from_view(view: &StudyView<'a>) -> Vec<Self> {
        let groups = view.results.comparisons.iter().filter(|group| !group.rows.is_empty());
        let family = |(workload, groups): (&'a str, Vec<&'a ComparisonGroup>)| {
            let rows = groups.iter().flat_map(|group| &group.rows).map(|row| &row.comparison);
            let baselines: BTreeSet<usize> = rows.clone().map(|one| one.baseline).collect();
            let members: BTreeSet<usize> =
                rows.map(|one| one.condition).chain(baselines.iter().copied()).collect();
            let members: Vec<usize> = members.into_iter().collect();
            let names: Vec<(usize, String)> = members.iter().copied().zip(view.names(&members)).collect();
            let only = names.iter().find(|(condition, _)| baselines.iter().eq([condition]));
            Self { workload, groups, only: only.map(|(_, name)| name.clone()), names }
        };
        grouped(groups.map(|group| (group.workload.as_str(), group))).into_iter().map(family).collect()
    }

    fn name(&self, row: &ComparisonRow) -> String {
        let of =
            |condition: usize| self.names.iter().find(|(one, _)| *one == condition).map_or("", |one| &one.1);
        let (condition, baseline) = (of(row.comparison.condition), of(row.comparison.baseline));
        if self.only.is_some() { condition.to_owned() } else { format!("{condition} against {baseline}") }
    }

    /// Each comparison once; of very many those that a reader wants to see first.
    fn metrics(&self, view: &StudyView<'_>) -> Vec<(&'a ComparisonGroup, Vec<&'a ComparisonRow>)> {
        let telling = view.workloads.iter().find(|one| one.name == self.workload).map(|one| &one.telling);
        let of_metric = |(_, groups): (&ComparedMetric, Vec<&'a ComparisonGroup>)| {
            let mut rows: Vec<&ComparisonRow> = Vec::new();
            let ends = |row: &ComparisonRow| (row.comparison.condition, row.comparison.baseline);
            for row in groups.iter().flat_map(|group| &group.rows) {
                if !rows.iter().any(|known| ends(known) == ends(row)) {
                    rows.push(row);
                }
            }
            if let Some(telling) = telling.filter(|_| rows.len() > MOST) {
                rows.retain(|row| telling.contains(&row.comparison.condition));
            }
            (groups[0], rows)
        };
        let metrics = grouped(self.groups.iter().map(|group| (&group.metric, *group)));
        metrics.into_iter().map(of_metric).filter(|(_, rows)| !rows.is_empty()).collect()
    }
}

fn figure(view: &StudyView<'_>, family: &WorkloadEffects<'_>, ids: &mut Ids) -> Option<Figure> {
    let mut shown = family.metrics(view);
    // Without any share of a baseline, or any interval, the tables say all.
    shown.retain(|(_, rows)| rows.iter().any(|row| size(&row.comparison).is_some()));
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for (group, rows) in &shown {
        let metric = capital(&metric_name(&group.metric));
        seen.push(format!("{metric}: {}", summary(&group.metric, rows, family)));
        panels.push(Panel::new(metric, forest(group, rows, family)));
    }
    if let [only] = panels.as_mut_slice() {
        only.title.clear();
    }
    let metric = match shown.as_slice() {
        [(group, _)] => format!(" on {}", metric_name(&group.metric)),
        _ => String::new(),
    };
    let of = if view.workloads.len() > 1 { format!(", {}", family.workload) } else { String::new() };
    let against = family.only.as_ref().map(|only| format!(" against {only}")).unwrap_or_default();
    let id = format!("effects {}", family.workload);
    view.figure(ids, (&id, &format!("Effects{metric}{against}{of}")), seen, panels)
}

fn forest(group: &ComparisonGroup, rows: &[&ComparisonRow], family: &WorkloadEffects<'_>) -> Forest {
    let base = family.only.as_ref().map_or("of the baseline".to_owned(), |only| format!("of {only}"));
    let quantity = percent_of(&format!("difference of {}", metric_name(&group.metric)), &base);
    let effect = |row: &&ComparisonRow| {
        let interval = size(&row.comparison);
        let interval = interval.map(|[estimate, low, high]| Interval::new(estimate, Some((low, high))));
        let size = row.comparison.ratio.map(|Ratio { value, interval }| {
            format!("{} times ({})", times(value), range(Some(interval), times))
        });
        ForestRow { name: family.name(row), verdict: verdict(row, group, interval.is_some()), size, interval }
    };
    let confidence = stats::confidence(group.level);
    let interval = match group.resolution {
        Some(resolution) => format!("counts without noise: a difference above {resolution} % is real"),
        None => format!("{confidence} % interval, for all comparisons with a baseline together"),
    };
    let mut margins = rows.iter().map(|row| margin(&row.comparison));
    let first = margins.next().flatten();
    let margin = first.filter(|_| margins.all(|margin| margin == first));
    Forest { quantity, interval, margin, effects: rows.iter().map(effect).collect() }
}

/// In % of the baseline, with its ends; by the means or else by the ratio of geometric means.
fn size(comparison: &Comparison) -> Option<[f64; 3]> {
    if let Some(Ratio { value, interval: (low, high) }) = comparison.ratio {
        return Some([value, low, high].map(|times| 100.0 * (times - 1.0)));
    }
    let estimate = comparison.relative?;
    match (comparison.relative_interval, comparison.resolution) {
        (Some((low, high)), _) => Some([estimate, low, high]),
        (None, Some(_)) => Some([estimate; 3]),
        (None, None) => None,
    }
}

fn margin(comparison: &Comparison) -> Option<f64> {
    let margin = match comparison.margin? {
        Margin::Percent(share) => share,
        Margin::Absolute(size) => 100.0 * size / comparison.baseline_mean.abs(),
    };
    Some(margin).filter(|margin| margin.is_finite())
}

/// With the size of the difference and the reason where its interval is not drawn.
fn verdict(row: &ComparisonRow, group: &ComparisonGroup, is_drawn: bool) -> String {
    let comparison = &row.comparison;
    let size = match (is_drawn, comparison.relative) {
        (true, _) => None,
        (false, Some(relative)) => Some(format!("{} %", stats::signed(percent(relative)))),
        (false, None) => {
            let (quantity, shown) =
                (metric_quantity(&group.metric), Interval::new(comparison.difference, comparison.interval));
            Some(quantity.interval(&shown, |value| quantity.signed(value)))
        }
    };
    let gap = comparison.gap.map(|gap| gap.as_str().to_owned());
    let parts: Vec<String> = size.into_iter().chain([row.verdict()]).chain(gap).collect();
    parts.join(", ")
}

fn summary(metric: &ComparedMetric, rows: &[&ComparisonRow], family: &WorkloadEffects<'_>) -> String {
    let mut proven: Vec<&ComparisonRow> = rows.iter().copied().filter(|row| row.is_proven()).collect();
    let share = |row: &ComparisonRow| size(&row.comparison).map(|[estimate, ..]| estimate);
    let distance = |row: &ComparisonRow| share(row).map_or(f64::INFINITY, f64::abs);
    proven.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
    let sentence = |row: &&ComparisonRow| {
        let size = match (row.comparison.ratio, share(row)) {
            (Some(ratio), _) => format!("{} times", times(ratio.value)),
            (None, Some(share)) => stats::signed(format!("{} %", percent(share))),
            (None, None) => stats::signed(metric_quantity(metric).text(row.comparison.difference)),
        };
        let verdict = row.quality.unwrap_or(row.comparison.verdict.as_str());
        format!("{} {size} ({verdict})", family.name(row))
    };
    let mut parts: Vec<String> = proven.iter().take(NAMED).map(sentence).collect();
    if proven.len() > NAMED {
        parts.push(format!("{} more differ", proven.len() - NAMED));
    }
    let others = [
        (Verdict::Equivalent, "equivalent"),
        (Verdict::NoDifferenceProven, "no difference proven"),
        (Verdict::Inconclusive, "inconclusive"),
    ];
    for (verdict, words) in others {
        let of: Vec<String> =
            rows.iter().filter(|row| row.comparison.verdict == verdict).map(|row| family.name(row)).collect();
        match of.len() {
            0 => {}
            count if count > NAMED => parts.push(format!("{words}: {count}")),
            _ => parts.push(format!("{words}: {}", listed(&of))),
        }
    }
    parts.join("; ")
}
