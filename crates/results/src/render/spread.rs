//! The spread of boots and runs: whether more boots or more runs would help.

use stats::{Comparison, Component, Components, Seen};

use crate::render::comparison_row::ComparisonRow;
use crate::words::layout::Layout;
use crate::words::number::{counted, figure, percent, range};
use crate::words::table::Table;

/// The components that the data allow, with their names.
fn named(spread: &Components) -> impl Iterator<Item = (&'static str, &Component)> {
    let all = [
        ("between boots", &spread.boots),
        ("condition x boot", &spread.interaction),
        ("between runs", &spread.runs),
    ];
    all.into_iter().filter_map(|(name, component)| Some((name, component.as_ref()?)))
}

/// Each component in % of `mean`, with its interval; empty without a mean.
pub(crate) fn parts(spread: &Components, mean: f64) -> Vec<String> {
    let share = |value: f64| 100.0 * value / mean.abs();
    let part = |(name, component): (&str, &Component)| {
        let interval = component.interval.map_or(String::new(), |(low, high)| {
            format!(" ({})", range(Some((share(low), share(high))), percent))
        });
        format!("{name} {} %{interval}", percent(share(component.sd)))
    };
    if mean == 0.0 { Vec::new() } else { named(spread).map(part).collect() }
}

/// The smallest difference that the data could show, in a sentence without a full stop: in % if all
/// comparisons have one.
pub(crate) fn seen(rows: &[ComparisonRow], unit: &str) -> Option<String> {
    type Ends = Option<(f64, f64)>;
    let all = |of: fn(&Comparison) -> (Option<f64>, Ends)| -> Vec<(f64, Ends)> {
        let seen = rows.iter().map(|row| of(&row.comparison));
        seen.filter_map(|(size, interval)| Some((size?, interval))).collect()
    };
    let relative = all(|one| (one.detectable_relative, one.detectable_relative_interval));
    let absolute = all(|one| (one.detectable, one.detectable_interval));
    let is_relative = !relative.is_empty() && relative.len() == rows.len();
    let (sizes, show, unit): (_, fn(f64) -> String, _) = if is_relative {
        (relative, percent, " %".to_owned())
    } else {
        (absolute, figure, if unit.is_empty() { String::new() } else { format!(" {unit}") })
    };
    let seen = Seen {
        sizes: ends(sizes.iter().map(|(size, _)| (*size, *size)))?,
        interval: ends(sizes.iter().filter_map(|(_, interval)| *interval)),
        possible: rows
            .iter()
            .map(|row| row.comparison.possible_sizes(is_relative))
            .fold((f64::INFINITY, f64::INFINITY), |(fall, rise), one| (fall.min(one.0), rise.min(one.1))),
    };
    let boots = rows.iter().filter(|row| row.comparison.detectable.is_some()).map(|row| row.comparison.boots);
    let (least, most) = ends(boots.map(|boots| (boots as f64, boots as f64)))?;
    let boots =
        if least == most { counted(most as usize, "boot") } else { format!("{least} to {most} boots") };
    Some(seen.sentence(show, &unit, &boots))
}

/// The lowest of the first and the highest of the second; `None` if empty.
fn ends(ranges: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    ranges.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)))
}

/// The standard deviations between and inside boots, each with its interval, in the metric's unit
/// and in % of `mean`; empty if unknown.
pub(crate) fn text(spread: &Components, unit: &str, mean: f64, confidence: f64, layout: Layout) -> String {
    let table = table(spread, unit, mean, confidence);
    if table.is_empty() { String::new() } else { table.fit(layout) + "\n" }
}

/// The spread as a table; without a row if unknown.
pub(crate) fn table(spread: &Components, unit: &str, mean: f64, confidence: f64) -> Table {
    let interval = format!("{} % interval", stats::confidence(confidence));
    let mut table = Table::new(&["spread (sd)", unit, &interval, "% of mean"]);
    for (name, Component { sd, interval, .. }) in named(spread) {
        let share = if mean == 0.0 { "-".to_owned() } else { percent(100.0 * sd / mean.abs()) };
        table.row(&[name, &figure(*sd), &range(*interval, figure), &share]);
    }
    table
}
