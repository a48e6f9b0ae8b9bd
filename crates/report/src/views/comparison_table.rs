//! A table of conditions in one metric, each beside its baseline.

use crate::document::{Table, TitledTable, Tone};
use results::{
    ComparedMetric, ComparisonGroup, ComparisonRow, ConditionLimit, ConditionResult, Results, figure,
    metric_title, plain, range, workload_prefix,
};
use study::Name;
use study::metric::Better;

// The meaning of the short names of limits.
const SIDES: &str = "; tx: transmitter, rx: receiver";

// The number of columns after the name; those that only a table with every figure has; those that
// are left out where the width does not do, the first of these first; the verdict.
const COLUMNS: usize = 8;
const ONLY_FULL: [usize; 3] = [1, 2, 5];
const OPTIONAL: [usize; 3] = [7, 4, 0];
const VERDICT: usize = 6;

/// The metric of a table.
struct TableMetric<'a> {
    workload: &'a str,
    metric: &'a ComparedMetric,
    better: Option<Better>,
    truth: Option<&'static str>,
}

/// One condition, or one pair.
struct ConditionLine<'a> {
    name: Name,
    mean: Option<f64>,
    boots: usize,
    difference: ConditionDifference<'a>,
    limit: Option<&'a ConditionLimit>,
}

/// The difference of a condition from its baseline.
enum ConditionDifference<'a> {
    NotCompared,
    Baseline,
    NotMeasured,
    Found(&'a ComparisonRow),
}

/// The conditions of comparisons that share a metric; where all pairs are compared, the pairs below
/// them.
pub(super) fn compared(groups: &[&ComparisonGroup], is_whole: bool) -> TitledTable {
    let mut lines = Vec::new();
    for group in groups {
        for one in &group.conditions {
            let row = || group.rows.iter().find(|row| *row.label == *one.label);
            let difference = match &group.baseline {
                None => ConditionDifference::NotCompared,
                Some(baseline) if **baseline == *one.label => ConditionDifference::Baseline,
                Some(_) => row().map_or(ConditionDifference::NotMeasured, ConditionDifference::Found),
            };
            lines.push(ConditionLine {
                name: one.label.clone(),
                mean: Some(one.estimate.mean),
                boots: one.estimate.boots,
                difference,
                limit: one.limit.as_ref(),
            });
        }
        for row in group.rows.iter().filter(|_| group.baseline.is_none()) {
            lines.push(ConditionLine {
                name: Name::from(format!("{} against {}", row.label, row.against).as_str()),
                mean: None,
                boots: row.comparison.boots,
                difference: ConditionDifference::Found(row),
                limit: None,
            });
        }
    }
    let ComparisonGroup { workload, metric, better, truth, .. } = groups[0];
    table(&TableMetric { workload, metric, better: *better, truth: *truth }, &lines, is_whole)
}

/// Conditions of a workload without a comparison, in the main metric of their traffic.
pub(super) fn uncompared(results: &Results, conditions: &[&ConditionResult], is_whole: bool) -> TitledTable {
    let metric = conditions[0].kind.main_metric(results.stored.plan.exact);
    let mut lines: Vec<ConditionLine<'_>> = Vec::new();
    for own in conditions {
        let difference =
            if own.runs == 0 { ConditionDifference::NotMeasured } else { ConditionDifference::NotCompared };
        let (mean, limit) = (own.means.get(metric), own.limited_by.as_ref());
        lines.push(ConditionLine { name: own.label.clone(), mean, boots: own.boots, difference, limit });
    }
    let (workload, truth) = (conditions[0].workload.as_str(), results.truth);
    table(&TableMetric { workload, metric: &metric.into(), better: None, truth }, &lines, is_whole)
}

fn table(of: &TableMetric<'_>, lines: &[ConditionLine<'_>], is_whole: bool) -> TitledTable {
    let rows = || {
        lines.iter().filter_map(|line| match line.difference {
            ConditionDifference::Found(row) => Some(row),
            _ => None,
        })
    };
    // Some differences may be in the metric's unit, or ratios to the baseline.
    let is_percent = rows().all(|row| row.comparison.relative.is_some());
    let judged = rows().find(|row| row.comparison.interval.is_some());
    let interval = judged
        .map_or_else(String::new, |row| format!("{} % interval", stats::confidence(row.comparison.level)));
    let cells: Vec<[String; COLUMNS]> =
        lines.iter().map(|line| line.cells(of.metric.unit(), is_percent, judged.is_some(), is_whole)).collect();
    let shown: Vec<usize> = (0..COLUMNS)
        .filter(|column| is_whole || !ONLY_FULL.contains(column))
        .filter(|column| {
            *column == 0 || cells.iter().any(|cells| !["", "-"].contains(&cells[*column].as_str()))
        })
        .collect();
    let place = |column: usize| shown.iter().position(|own| *own == column).map(|place| place + 1);
    let unit = plain(of.metric.unit());
    let value = if unit.is_empty() { "value" } else { unit };
    let size = if is_percent { "diff. %" } else { "difference" };
    let heads = [value, "diff.", "interval", size, &interval, "boots", "verdict", "limited by"];
    let mut table = Table::new(&chosen("condition", heads, &shown));
    if place(ONLY_FULL[0]).is_some() && !unit.is_empty() {
        table = table.units(&chosen("", ["", unit, unit, "", "", "", "", ""], &shown));
    }
    table = table.named(0).optional(&OPTIONAL.into_iter().filter_map(place).collect::<Vec<_>>());
    for (line, cells) in lines.iter().zip(&cells) {
        table.row(&chosen(&line.name, cells.each_ref().map(String::as_str), &shown));
        table.is_of(&line.name);
        if let (Some(column), ConditionDifference::Found(row)) = (place(VERDICT), &line.difference) {
            table.paint(column, Some(Tone::from_verdict(row.comparison.verdict, of.better)));
        }
    }
    let better = match of.better {
        Some(Better::Higher) => ", higher is better",
        Some(Better::Lower) => ", lower is better",
        Some(Better::Neither) | None => "",
    };
    let is_short = |limit: &ConditionLimit| limit.label.short() != limit.label.word();
    let sides = if lines.iter().any(|line| line.limit.is_some_and(is_short)) { SIDES } else { "" };
    TitledTable {
        title: format!("{}{}{better}{sides}", workload_prefix(of.workload), metric_title(of.metric)),
        table,
        notes: of.truth.iter().map(|truth| (*truth).to_owned()).collect(),
    }
}

impl ConditionLine<'_> {
    fn cells(&self, unit: &str, is_percent: bool, has_intervals: bool, is_whole: bool) -> [String; COLUMNS] {
        let words = |words: [&str; 5]| words.map(str::to_owned);
        let [by, its_interval, size, interval, verdict] = match self.difference {
            ConditionDifference::NotCompared => words(["", "", "", "", ""]),
            ConditionDifference::Baseline => words(["-", "", "-", "", "baseline"]),
            ConditionDifference::NotMeasured => words(["-", "", "-", "", "not measured"]),
            ConditionDifference::Found(row) => {
                let [size, interval] = row.size(unit, !is_percent);
                let (difference, ends) = (row.comparison.difference, row.comparison.interval);
                let verdict = if is_whole { row.verdict() } else { row.short_verdict().to_owned() };
                let [ends, interval] = [range(ends, figure), interval]
                    .map(|one| if has_intervals { one } else { String::new() });
                [figure(difference), ends, size, interval, verdict]
            }
        };
        let mean = self.mean.map_or_else(|| "-".to_owned(), figure);
        let limit = self.limit.map_or_else(String::new, ConditionLimit::short);
        [mean, by, its_interval, size, interval, self.boots.to_string(), verdict, limit]
    }
}

/// The cells of the columns that a table has, after the first.
fn chosen<'c>(first: &'c str, cells: [&'c str; COLUMNS], shown: &[usize]) -> Vec<&'c str> {
    [first].into_iter().chain(shown.iter().map(|column| cells[*column])).collect()
}
