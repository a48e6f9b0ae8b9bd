//! A table of conditions in one metric, each beside its baseline.

use results::{
    ComparedMetric, ComparisonGroup, ComparisonRow, ConditionLimit, ConditionResult, Results, figure,
    metric_title, plain, workload_prefix,
};
use study::Name;
use study::metric::Better;

use crate::cells;
use crate::document::{Cell, Table};

// The meaning of the short names of limits.
const SIDES: &str = "; tx: transmitter, rx: receiver";

// The columns that are left out where the width does not do, the first of these first.
const OPTIONAL: [usize; 3] = [8, 5, 1];

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
    /// The difference from the baseline, or the word that stands for it; empty where nothing is
    /// compared.
    difference: Result<&'a ComparisonRow, &'static str>,
    limit: Option<&'a ConditionLimit>,
}

/// Where all pairs are compared, the pairs are below the conditions.
pub(super) fn compared(groups: &[&ComparisonGroup], is_whole: bool) -> Table {
    let mut lines = Vec::new();
    for group in groups {
        for one in &group.conditions {
            let row = || group.rows.iter().find(|row| *row.label == *one.label);
            let difference = match &group.baseline {
                None => Err(""),
                Some(baseline) if **baseline == *one.label => Err("baseline"),
                Some(_) => row().ok_or("not measured"),
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
                difference: Ok(row),
                limit: None,
            });
        }
    }
    let ComparisonGroup { workload, metric, better, truth, .. } = groups[0];
    table(&TableMetric { workload, metric, better: *better, truth: *truth }, &lines, is_whole)
}

pub(super) fn uncompared<'c>(results: &Results, conditions: &[&'c ConditionResult], is_whole: bool) -> Table {
    let metric = conditions[0].kind.main_metric(results.stored.plan.exact);
    let line = |own: &&'c ConditionResult| ConditionLine {
        name: own.label.clone(),
        mean: own.mean(metric),
        boots: own.boots,
        difference: Err(if own.runs == 0 { "not measured" } else { "" }),
        limit: own.limited_by.as_ref(),
    };
    let lines: Vec<ConditionLine<'_>> = conditions.iter().map(line).collect();
    let (workload, truth) = (conditions[0].workload.as_str(), results.truth);
    let metric = TableMetric { workload, metric: &metric.into(), better: None, truth };
    table(&metric, &lines, is_whole)
}

fn table(metric: &TableMetric<'_>, lines: &[ConditionLine<'_>], is_whole: bool) -> Table {
    let rows = || lines.iter().filter_map(|line| line.difference.ok());
    // Some differences may be in the metric's unit, or ratios to the baseline.
    let is_percent = rows().all(|row| row.comparison.relative.is_some());
    let judged = rows().find(|row| row.comparison.interval.is_some());
    let interval = judged
        .map_or_else(String::new, |row| format!("{} % interval", stats::confidence(row.comparison.level)));
    let unit = plain(metric.metric.unit());
    let value = if unit.is_empty() { "value" } else { unit };
    let size = if is_percent { "diff. %" } else { "difference" };
    let heads = ["condition", value, "diff.", "interval", size, &interval, "boots", "verdict", "limited by"];
    let mut table = Table::new(heads).optional(&OPTIONAL);
    if is_whole && rows().next().is_some() && !unit.is_empty() {
        table = table.units(["", "", unit, unit]);
    }
    for line in lines {
        table.row(line.cells(metric, is_percent, judged.is_some(), is_whole));
    }
    let better = match metric.better {
        Some(Better::Higher) => ", higher is better",
        Some(Better::Lower) => ", lower is better",
        Some(Better::Neither) | None => "",
    };
    let is_short = |limit: &ConditionLimit| limit.label.short() != limit.label.word();
    let sides = if lines.iter().any(|line| line.limit.is_some_and(is_short)) { SIDES } else { "" };
    table
        .compact()
        .titled(format!("{}{}{better}{sides}", workload_prefix(metric.workload), metric_title(metric.metric)))
        .noted(metric.truth.map(str::to_owned))
}

impl ConditionLine<'_> {
    fn cells(
        &self,
        metric: &TableMetric<'_>,
        is_percent: bool,
        has_intervals: bool,
        is_whole: bool,
    ) -> Vec<Cell> {
        let [by, its_interval, size, interval, verdict] = match self.difference {
            Err("") => [Cell::EMPTY; 5],
            Err(word) => [Cell::Missing, Cell::EMPTY, Cell::Missing, Cell::EMPTY, word.into()],
            Ok(row) => {
                let comparison = &row.comparison;
                let [size, interval] = Cell::difference(comparison, metric.metric.unit(), !is_percent);
                let words = if is_whole { row.verdict() } else { row.short_verdict().to_owned() };
                let [ends, interval] = [Cell::interval(comparison.interval, figure), interval]
                    .map(|one| if has_intervals { one } else { Cell::EMPTY });
                let verdict = Cell::verdict(words, comparison.verdict, metric.better);
                [comparison.difference.into(), ends, size, interval, verdict]
            }
        };
        // In brief the difference in percent says enough.
        let [by, its_interval, boots] =
            [by, its_interval, self.boots.into()].map(|cell| if is_whole { cell } else { Cell::EMPTY });
        let limit = self.limit.map_or(Cell::EMPTY, |limit| limit.short().into());
        cells![&self.name, self.mean, by, its_interval, size, interval, boots, verdict, limit]
    }
}
