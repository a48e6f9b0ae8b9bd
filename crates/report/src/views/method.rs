//! The method of comparisons: how differences are judged, and the spread of boots and runs, which
//! says whether more boots or more runs would help.

use results::{
    ComparisonGroup, ComparisonRow, capital, distinct, figure, grouped, metric_name, percent, plain,
    workload_prefix,
};
use stats::{Comparison, Component, Components, power_sentence};

use crate::cells;
use crate::document::{Block, Cell, Table};

pub(crate) fn method(groups: &[ComparisonGroup]) -> Vec<Block<'static>> {
    let sentences = |group: &ComparisonGroup| -> Vec<String> {
        let judged = group.method.iter().map(|one| format!("{}.", capital(one)));
        let seen = seen(&group.rows, plain(group.metric.unit())).map(|seen| format!("Power: {seen}."));
        judged.chain(seen).chain(group.flags.iter().map(|flag| format!("Flag: {flag}."))).collect()
    };
    let by_metric = grouped(groups.iter().map(|group| ((&group.workload, &group.metric), group)));
    let of_metric = |(_, same): (_, Vec<&ComparisonGroup>)| {
        blocks(same[0], distinct(same.iter().flat_map(|group| sentences(group))))
    };
    by_metric.into_iter().flat_map(of_metric).collect()
}

fn blocks(group: &ComparisonGroup, sentences: Vec<String>) -> Vec<Block<'static>> {
    let of = format!("{}{}", workload_prefix(&group.workload), metric_name(&group.metric));
    let meaning = group.metric.known().map(|metric| format!(" ({})", metric.meaning));
    let mut blocks =
        vec![Block::Text(format!("{of}{}:", meaning.unwrap_or_default())), Block::List(sentences)];
    // Counts without noise have no spread.
    if group.resolution.is_none() {
        let table = spread(&group.spread, plain(group.metric.unit()), group.mean(), group.level);
        blocks.extend(table.titled(format!("{of}, spread of boots and runs")).filled().map(Block::Table));
    }
    blocks
}

/// In the metric's unit and in % of `mean`; without a row if unknown.
pub(super) fn spread(spread: &Components, unit: &str, mean: f64, level: f64) -> Table {
    let Components { boots, interaction, runs, .. } = spread;
    let interval = format!("{} % interval", stats::confidence(level));
    let named = [("between boots", boots), ("condition x boot", interaction), ("between runs", runs)];
    let rows = named.into_iter().filter_map(|(name, component)| {
        let Component { sd, interval, .. } = component.as_ref()?;
        let share = (mean != 0.0).then(|| Cell::percent(100.0 * sd / mean.abs()));
        Some(cells![name, *sd, Cell::interval(*interval, figure), share])
    });
    Table::with_rows(["spread (sd)", unit, &interval, "% of mean"], rows)
}

/// Without a full stop: in % if all comparisons have one.
fn seen(rows: &[ComparisonRow], unit: &str) -> Option<String> {
    let all = |of: fn(&Comparison) -> Option<f64>| -> Vec<f64> {
        rows.iter().filter_map(|row| of(&row.comparison)).collect()
    };
    let relative = all(|one| one.detectable_relative);
    let is_relative = !relative.is_empty() && relative.len() == rows.len();
    let (sizes, show, unit): (_, fn(f64) -> String, _) = if is_relative {
        (relative, percent, " %".to_owned())
    } else {
        (all(|one| one.detectable), figure, if unit.is_empty() { String::new() } else { format!(" {unit}") })
    };
    let least = sizes.iter().copied().reduce(f64::min)?;
    let most = sizes.into_iter().fold(least, f64::max);
    let possible = rows.iter().map(|row| row.comparison.possible_sizes(is_relative));
    let possible =
        possible.reduce(|(fall, rise), one| (fall.min(one.0), rise.min(one.1))).unwrap_or_default();
    Some(power_sentence((least, most), possible, show, &unit))
}
