//! Many comparisons at a glance: a table for each metric, with one row for each comparison.

use results::{ComparedMetric, ComparisonGroup, ComparisonRow, grouped, metric_name, plain};
use study::Name;

use crate::cells;
use crate::document::{Block, Cell, Table, Tone};

// Up to this number of comparisons each has a table of its own.
const FEW: usize = 6;

pub(super) fn is_needed(groups: &[ComparisonGroup]) -> bool {
    groups.len() > FEW
}

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
    format!("{}: proven differences{level}", metric_name(&groups[0].metric))
}

fn table(groups: &[&ComparisonGroup]) -> Table {
    let unit = Some(plain(groups[0].metric.unit())).filter(|unit| !unit.is_empty()).unwrap_or("value");
    let has_margin = groups.iter().any(|group| group.rows.iter().any(|row| row.comparison.margin.is_some()));
    let rows = groups.iter().map(|group| {
        let baseline = group.baseline.as_deref().unwrap_or("all pairs");
        let own = group.conditions.iter().find(|one| *one.name == *baseline);
        let name =
            |row: &ComparisonRow| if group.baseline.is_some() { row.label.clone() } else { row.pair() };
        let mut proven: Vec<&ComparisonRow> = group.rows.iter().filter(|row| row.is_proven()).collect();
        proven.sort_by(|one, other| one.comparison.difference.total_cmp(&other.comparison.difference));
        let equal = |row: &&ComparisonRow| row.comparison.verdict == stats::Verdict::Equivalent;
        let size = |row: &ComparisonRow| row.comparison.difference.abs();
        let largest = proven.iter().max_by(|one, other| size(one).total_cmp(&size(other))).copied();
        let tone = largest.map(|row| Tone::from_verdict(row.comparison.verdict, group.better));
        cells![
            baseline,
            own.map(|own| own.estimate.mean),
            Cell::measure(format!("{} of {}", proven.len(), group.rows.len())),
            differences(&proven, group.metric.unit()).map(|differences| Cell::Measure(differences, tone)),
            largest.map_or(Cell::EMPTY, |row| Cell::from(&Name::from(name(row).as_str()))),
            if has_margin { group.rows.iter().filter(equal).count().into() } else { Cell::EMPTY },
        ]
    });
    let head = ["baseline", unit, "proven", "differences", "largest for", "equivalent"];
    Table::with_rows(head, rows).compact()
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
