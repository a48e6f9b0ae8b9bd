//! The spread of boots and runs: whether more boots or more runs would help.

use stats::{Component, Components};

use crate::words::layout::Layout;
use crate::words::number::{figure, percent, range};
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

/// The standard deviations between and inside boots, each with its interval, in the metric's unit
/// and in % of `mean`; empty if unknown.
pub(crate) fn text(spread: &Components, unit: &str, mean: f64, confidence: f64, layout: Layout) -> String {
    let table = table(spread, unit, mean, confidence);
    if table.is_empty() { String::new() } else { table.fit(layout) + "\n" }
}

/// The spread as a table; without a row if unknown.
fn table(spread: &Components, unit: &str, mean: f64, confidence: f64) -> Table {
    let interval = format!("{} % interval", stats::confidence(confidence));
    let mut table = Table::new(&["spread (sd)", unit, &interval, "% of mean"]);
    for (name, Component { sd, interval, .. }) in named(spread) {
        let share = if mean == 0.0 { "-".to_owned() } else { percent(100.0 * sd / mean.abs()) };
        table.row(&[name, &figure(*sd), &range(*interval, figure), &share]);
    }
    table
}
