//! Many comparisons at a glance: a table for each metric, with one row for each comparison.

use results::{ComparedMetric, ComparisonGroup, ComparisonRow, grouped, metric_title, plain};
use study::Name;

use crate::cells;
use crate::document::{Block, Cell, Table, Tone};

// Up to this number of comparisons each has a table of its own.
const FEW: usize = 6;

/// Are there too many for a table each?
pub(super) fn is_needed(groups: &[ComparisonGroup]) -> bool {
    groups.len() > FEW
}

/// A table for each metric.
pub(super) fn overview(groups: &[ComparisonGroup]) -> Vec<Block<'static>> {
    let of_metric = |(_, own): (&ComparedMetric, Vec<&ComparisonGroup>)| {
        Block::Table(table(&own).titled(title(&own)).noted(own[0].truth.map(str::to_owned)))
    };
    grouped(groups.iter().map(|group| (&group.metric, group))).into_iter().map(of_metric).collect()
}

/// `throughput: proven differences, 98.33 % confidence`.
fn title(groups: &[&ComparisonGroup]) -> String {
    let level = groups[0].level;
    let is_one = groups.iter().all(|group| group.resolution.is_none() && group.level == level);
    let level = if is_one { format!(", {} % confidence", stats::confidence(level)) } else { String::new() };
    format!("{}: proven differences{level}", metric_title(&groups[0].metric))
}

/// One row for each comparison of a metric.
fn table(groups: &[&ComparisonGroup]) -> Table {
    let unit = Some(plain(groups[0].metric.unit())).filter(|unit| !unit.is_empty()).unwrap_or("value");
    let has_margin = groups.iter().any(|group| group.rows.iter().any(|row| row.comparison.margin.is_some()));
    let mut head = vec!["baseline", unit, "proven", "differences", "largest for"];
    if has_margin {
        head.push("equivalent");
    }
    let mut table = Table::new(head);
    for group in groups {
        let baseline = group.baseline.as_deref().unwrap_or("all pairs");
        let own = group.conditions.iter().find(|one| *one.label == *baseline);
        let mut proven: Vec<&ComparisonRow> = group.rows.iter().filter(|row| row.is_proven()).collect();
        proven.sort_by(|one, other| one.comparison.difference.total_cmp(&other.comparison.difference));
        let equal = |row: &&ComparisonRow| row.comparison.verdict == stats::Verdict::Equivalent;
        let size = |row: &ComparisonRow| row.comparison.difference.abs();
        let largest = proven.iter().max_by(|one, other| size(one).total_cmp(&size(other))).copied();
        let tone = largest.map(|row| Tone::from_verdict(row.comparison.verdict, group.better));
        let mut cells = cells![
            baseline,
            own.map(|own| own.estimate.mean),
            Cell::measure(format!("{} of {}", proven.len(), group.rows.len())),
            differences(&proven, group.metric.unit()).map(|differences| Cell::Measure(differences, tone)),
            &Name::from(largest.map_or_else(String::new, |row| beside(row, group)).as_str()),
        ];
        cells.extend(has_margin.then(|| Cell::from(group.rows.iter().filter(equal).count())));
        table.row(cells);
    }
    table
}

/// The lowest and the highest of differences in ascending order; `None` without any.
fn differences(proven: &[&ComparisonRow], unit: &str) -> Option<String> {
    let shown = |row: &ComparisonRow| {
        let [size, _] = Cell::difference(&row.comparison, unit, true);
        size.text().into_owned()
    };
    let (lowest, highest) = (shown(proven.first()?), shown(proven.last()?));
    if proven.len() == 1 {
        return Some(lowest);
    }
    let lowest = if highest.ends_with(" %") { lowest.trim_end_matches(" %") } else { &lowest };
    Some(format!("{lowest} to {highest}"))
}

/// A condition's name without the words that it shares with its baseline from the start.
fn beside(row: &ComparisonRow, group: &ComparisonGroup) -> String {
    if group.baseline.is_none() {
        return format!("{} against {}", row.label, row.against);
    }
    let words = |label: &str| {
        let condition = group.conditions.iter().find(|one| *one.label == *label);
        condition.map_or(&[][..], |one| one.label.words())
    };
    let (own, other) = (words(&row.label), words(&row.against));
    let shared = own.iter().zip(other).take_while(|(own, other)| own == other).count();
    own[shared..].iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
