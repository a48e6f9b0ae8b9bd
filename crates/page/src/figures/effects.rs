//! Differences from a baseline as a forest, with what would matter in practice.

use chart::{Effect, Figure, Finite, Forest, Interval, Panel, Quantity};
use report::{Group, Row, listed, metric_name, percent};
use stats::{Comparison, Margin, Verdict};

use super::ids::Ids;
use super::measure::Measure;
use super::view::{MOST, View};
use super::words::{capital, paragraph};
use crate::section::Section;

/// Panels share a scale unless one reaches so many times as far as another: intervals of that one
/// would hide those of the others.
const APART: f64 = 8.0;
/// A sentence names at most so many conditions.
const NAMED: usize = 3;

pub(super) fn section(views: &[View<'_>], ids: &mut Ids) -> Option<Section> {
    let id = ids.unique("effects");
    let (mut figures, mut folded) = (Vec::new(), Vec::new());
    for view in views {
        for family in families(view) {
            let telling = telling(view, &family);
            figures.extend(figure(view, &family, telling.as_deref(), ids));
            if telling.is_some() {
                // The others are with their metric in the table of conditions.
                folded.extend(figure(view, &family[..1], None, ids));
            }
        }
    }
    let mut about = vec![
        "Differences from a baseline in % of it, with intervals that hold for all comparisons of a metric \
         together. Where an interval includes zero no difference is proven."
            .to_owned(),
    ];
    if !folded.is_empty() {
        about.push(super::FOLDED.to_owned());
    }
    Some(Section { id, title: "What each condition changes".to_owned(), about, figures, folded })
}

/// The comparisons of a workload with one baseline, in all metrics.
fn families<'a>(view: &View<'a>) -> Vec<Vec<&'a Group>> {
    let mut families: Vec<Vec<&Group>> = Vec::new();
    let baseline = |group: &Group| group.rows.first().map(|row| row.comparison.baseline);
    let compared =
        |group: &Group| -> Vec<usize> { group.rows.iter().map(|row| row.comparison.condition).collect() };
    for group in view.results.comparisons().iter().filter(|group| !group.rows.is_empty()) {
        let same = |known: &&mut Vec<&Group>| {
            known[0].workload == group.workload
                && baseline(known[0]) == baseline(group)
                && compared(known[0]) == compared(group)
        };
        match families.iter_mut().find(same) {
            Some(known) => known.push(group),
            None => families.push(vec![group]),
        }
    }
    families
}

/// Of very many compared conditions those that a reader wants to see first.
fn telling(view: &View<'_>, family: &[&Group]) -> Option<Vec<usize>> {
    let group = family.first()?;
    if group.rows.len() <= MOST {
        return None;
    }
    view.workloads().iter().find(|one| one.name == group.workload).and_then(|one| view.telling(one))
}

fn figure(view: &View<'_>, family: &[&Group], telling: Option<&[usize]>, ids: &mut Ids) -> Option<Figure> {
    let first = family.first()?;
    let baseline = first.rows.first()?.comparison.baseline;
    let names = Names::of(view, first, baseline);
    let is_shown = |row: &&Row| telling.is_none_or(|few| few.contains(&row.comparison.condition));
    let shown: Vec<(&Group, Vec<&Row>)> =
        family.iter().map(|group| (*group, group.rows.iter().filter(is_shown).collect())).collect();
    let is_shared = is_shared(&shown);
    let reach: Vec<f64> = shown.iter().flat_map(|(_, rows)| ends(rows)).filter(|_| is_shared).collect();
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for (group, rows) in shown.iter().filter(|(_, rows)| !rows.is_empty()) {
        let metric = metric_name(&group.metric);
        let base = format!("of {}", names.baseline);
        let measure = Measure::percent(&format!("difference of {metric}"), &base);
        seen.push(format!("{}: {}", capital(&metric), words(rows, &names)));
        let plot = forest(measure.reaching(reach.iter().copied()).quantity, group, rows, &names);
        panels.push(Panel { title: capital(&metric), plot: Box::new(plot) });
    }
    if let [only] = panels.as_mut_slice() {
        only.title.clear();
    }
    if panels.len() > 1 && !is_shared {
        seen.push("The metrics differ so much in size that each panel has a scale of its own".to_owned());
    }
    let of = if view.workloads().len() > 1 { format!(" of {}", first.workload) } else { String::new() };
    let all = if telling.is_none() && first.rows.len() > MOST { super::ALL } else { "" };
    let id = format!("effects {} against {}{all}", first.workload, names.baseline);
    (!panels.is_empty()).then(|| Figure {
        id: ids.unique(&view.titled(&id)),
        title: view.titled(&format!("Effects{of} against {}{all}", names.baseline)),
        description: paragraph(seen),
        panels,
    })
}

/// The names of a group's conditions among each other.
struct Names {
    baseline: String,
    others: Vec<(usize, String)>,
}

impl Names {
    fn of(view: &View<'_>, group: &Group, baseline: usize) -> Self {
        let members = group.rows.iter().map(|row| row.comparison.condition).chain([baseline]);
        let members: Vec<usize> = members.collect();
        let mut names = view.names(&members);
        let baseline = names.pop().unwrap_or_default();
        Self { baseline, others: members.into_iter().zip(names).collect() }
    }

    fn name(&self, row: &Row) -> String {
        let own = self.others.iter().find(|(condition, _)| *condition == row.comparison.condition);
        own.map_or_else(|| row.label.clone(), |(_, name)| name.clone())
    }
}

/// What an axis of these rows must reach, in %.
fn ends(rows: &[&Row]) -> Vec<f64> {
    rows.iter().filter_map(|row| size(&row.comparison)).flatten().collect()
}

/// Whether one scale suits all panels.
fn is_shared(shown: &[(&Group, Vec<&Row>)]) -> bool {
    let sizes = shown.iter().map(|(_, rows)| ends(rows).into_iter().map(f64::abs).fold(0.0, f64::max));
    let sizes: Vec<f64> = sizes.filter(|size| *size > 0.0).collect();
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    sizes.iter().all(|size| *size <= APART * least)
}

fn forest(quantity: Quantity, group: &Group, rows: &[&Row], names: &Names) -> Forest {
    let effect = |row: &&Row| Effect {
        name: names.name(row),
        interval: interval(&row.comparison),
        verdict: verdict(row, group),
    };
    let interval = match group.resolution {
        Some(resolution) => format!("counts without noise: a difference above {resolution} % is real"),
        None => format!("{} % interval, for all comparisons together", stats::confidence(group.level)),
    };
    let margin = rows.iter().find_map(|row| margin(&row.comparison));
    Forest { quantity, interval, margin, effects: rows.iter().map(effect).collect() }
}

/// The difference in % of the baseline with its ends, by the means or else by the ratio of geometric
/// means; none where there is neither, or no interval.
fn size(comparison: &Comparison) -> Option<[f64; 3]> {
    let by_ratio = comparison.ratio.map(|ratio| {
        let (low, high) = ratio.interval;
        [ratio.value, low, high].map(|times| 100.0 * (times - 1.0))
    });
    let Some(estimate) = comparison.relative else { return by_ratio };
    match (comparison.relative_interval, comparison.resolution) {
        (Some((low, high)), _) => Some([estimate, low, high]),
        (None, Some(_)) => Some([estimate; 3]),
        (None, None) => by_ratio,
    }
}

fn interval(comparison: &Comparison) -> Option<Interval> {
    let [estimate, low, high] = size(comparison)?.map(Finite::new);
    Some(Interval { estimate: estimate?, low, high })
}

/// The largest difference that does not matter, in % of the baseline.
fn margin(comparison: &Comparison) -> Option<Finite> {
    match comparison.margin? {
        Margin::Percent(share) => Finite::new(share),
        Margin::Absolute(size) => Finite::new(100.0 * size / comparison.baseline_mean.abs()),
    }
}

/// What a row proves; with its size where no interval is drawn, and why there is none.
fn verdict(row: &Row, group: &Group) -> String {
    let comparison = &row.comparison;
    let size = match (interval(comparison), comparison.relative) {
        (Some(_), Some(_)) => None,
        (Some(_), None) => Some("by the ratio of geometric means".to_owned()),
        (None, Some(relative)) => Some(format!("{} %", stats::signed(percent(relative)))),
        (None, None) => {
            let measure = Measure::of(&group.metric, std::iter::once(comparison.difference));
            Some(stats::signed(measure.words(comparison.difference)))
        }
    };
    let gap = comparison.gap.map(|gap| gap.as_str().to_owned());
    let parts: Vec<String> = size.into_iter().chain([row.verdict()]).chain(gap).collect();
    parts.join(", ")
}

/// What a panel shows, in words: the largest proven differences, and how many others there are.
fn words(rows: &[&Row], names: &Names) -> String {
    let mut proven: Vec<&Row> = rows.iter().copied().filter(|row| row.is_proven()).collect();
    let share = |row: &Row| size(&row.comparison).map(|[estimate, ..]| estimate);
    let distance = |row: &Row| share(row).map_or(f64::INFINITY, f64::abs);
    proven.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
    let said = |row: &&Row| {
        let size = share(row).map(|share| format!(" {} %", stats::signed(percent(share))));
        let verdict = row.quality.unwrap_or(row.comparison.verdict.as_str());
        format!("{}{} ({verdict})", names.name(row), size.unwrap_or_default())
    };
    let mut parts: Vec<String> = proven.iter().take(NAMED).map(said).collect();
    if proven.len() > NAMED {
        parts.push(format!("{} more differ", proven.len() - NAMED));
    }
    let count = |verdict: Verdict| rows.iter().filter(|row| row.comparison.verdict == verdict).count();
    let others = [
        (Verdict::Equivalent, "equivalent"),
        (Verdict::NoDifferenceProven, "no difference proven"),
        (Verdict::Inconclusive, "inconclusive"),
    ];
    let others = others.into_iter().filter(|(verdict, _)| count(*verdict) > 0);
    parts.extend(others.map(|(verdict, words)| {
        let of: Vec<String> =
            rows.iter().filter(|row| row.comparison.verdict == verdict).map(|row| names.name(row)).collect();
        if of.len() > NAMED { format!("{words}: {}", of.len()) } else { format!("{words}: {}", listed(&of)) }
    }));
    parts.join("; ")
}
