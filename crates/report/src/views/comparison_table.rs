//! A table of conditions in one metric, each beside its baseline.

use results::{
    ComparedMetric, ComparisonGroup, ComparisonRow, ConditionLimit, ConditionResult, NamedEstimate, Results,
    figure, metric_name, plain, short_verdict, workload_prefix,
};
use stats::signed;
use study::Name;
use study::metric::Better;

use crate::cells;
use crate::document::{Cell, Table};

// The meaning of the short names of limits.
const SIDES: &str = "; tx: transmitter, rx: receiver";

/// Where all pairs are compared, the pairs are below the conditions.
pub(super) fn compared(groups: &[&ComparisonGroup], is_whole: bool) -> Table {
    let ComparisonGroup { workload, metric, better, truth, .. } = groups[0];
    let rows = || groups.iter().flat_map(|group| &group.rows);
    // Some differences may be in the metric's unit, or ratios to the baseline: then no heading can
    // have the percent sign, and each of them has its own.
    let is_percent = rows().all(|row| row.comparison.relative.is_some());
    let judged = rows().find(|row| row.comparison.interval.is_some());
    // In brief the difference in percent says enough.
    let in_full = |cell: Cell| if is_whole { cell } else { Cell::EMPTY };
    let difference = |row: &ComparisonRow| {
        let comparison = &row.comparison;
        let [size, its_interval] = Cell::difference(comparison, metric.unit(), !is_percent);
        let short = short_verdict(comparison, row.quality);
        let words = if is_whole { row.verdict() } else { short.to_owned() };
        let intervals = [Cell::signed_interval(comparison.interval, figure), its_interval];
        // Where nothing has an interval a column of `-` would only take room.
        let [interval, its_interval] = intervals.map(|one| if judged.is_some() { one } else { Cell::EMPTY });
        let verdict = Cell::verdict(words, comparison.verdict, *better);
        let difference = Cell::Number(signed(figure(comparison.difference)));
        [in_full(difference), in_full(interval), size, its_interval, verdict]
    };
    let without = |word: &str| [in_full(Cell::Missing), Cell::EMPTY, Cell::Missing, Cell::EMPTY, word.into()];
    let line = |name: &Name, mean: Option<f64>, boots: usize, compared: [Cell; 5], limit: Cell| {
        let [difference, interval, size, its_interval, verdict] = compared;
        let boots = in_full(boots.into());
        cells![name, mean, difference, interval, size, its_interval, boots, verdict, limit]
    };
    let unit = plain(metric.unit());
    let interval = judged
        .map_or_else(String::new, |row| format!("{} % interval", stats::confidence(row.comparison.level)));
    let size = if is_percent { "diff. %" } else { "difference" };
    let value = value_head(unit);
    let heads = ["condition", value, "diff.", "interval", size, &interval, "boots", "verdict", "limited by"];
    let mut table = Table::new(heads).optional(&[8, 5, 1]);
    if is_whole && rows().next().is_some() && !unit.is_empty() {
        table = table.units(["", "", unit, unit]);
    }
    for group in groups {
        for NamedEstimate { name, estimate: one } in &group.conditions {
            let compared = match &group.baseline {
                None => [Cell::EMPTY; 5],
                Some(baseline) if **baseline == **name => without("baseline"),
                Some(_) => {
                    let row = group.rows.iter().find(|row| *row.label == **name);
                    row.map_or_else(|| without("not measured"), difference)
                }
            };
            let limit = limited_by(group.limits.get(&one.condition));
            table.row(line(name, Some(one.mean), one.boots, compared, limit));
        }
        for row in group.rows.iter().filter(|_| group.baseline.is_none()) {
            let name = Name::from(row.pair().as_str());
            table.row(line(&name, None, row.comparison.boots, difference(row), Cell::EMPTY));
        }
    }
    let better = match better {
        Some(Better::Higher) => ", higher is better",
        Some(Better::Lower) => ", lower is better",
        Some(Better::Neither) | None => "",
    };
    let sides = sides(groups.iter().flat_map(|group| group.limits.values()));
    let title = format!("{}{}{better}{sides}", workload_prefix(workload), metric_name(metric));
    table.compact().titled(title).noted(truth.map(str::to_owned))
}

pub(super) fn uncompared(results: &Results, conditions: &[&ConditionResult], is_whole: bool) -> Table {
    let main = conditions[0].kind.main_metric(results.stored.plan.exact);
    let metric = ComparedMetric::from(main);
    let row = |own: &&ConditionResult| {
        let boots = if is_whole { own.boots.into() } else { Cell::EMPTY };
        let verdict = if own.runs == 0 { "not measured" } else { "" };
        cells![&own.label, own.mean(main), boots, verdict, limited_by(own.limited_by.as_ref())]
    };
    let heads = ["condition", value_head(plain(metric.unit())), "boots", "verdict", "limited by"];
    let table = Table::with_rows(heads, conditions.iter().map(row)).optional(&[4, 1]);
    let sides = sides(conditions.iter().filter_map(|own| own.limited_by.as_ref()));
    let title = format!("{}{}{sides}", workload_prefix(&conditions[0].workload), metric_name(&metric));
    table.compact().titled(title).noted(results.truth.map(str::to_owned))
}

fn value_head(unit: &str) -> &str {
    if unit.is_empty() { "value" } else { unit }
}

fn limited_by(limit: Option<&ConditionLimit>) -> Cell {
    limit.map_or(Cell::EMPTY, |limit| limit.short().into())
}

fn sides<'l>(mut limits: impl Iterator<Item = &'l ConditionLimit>) -> &'static str {
    let is_short = |limit: &ConditionLimit| limit.label.short() != limit.label.word();
    if limits.any(is_short) { SIDES } else { "" }
}
