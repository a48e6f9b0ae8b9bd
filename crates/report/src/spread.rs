//! How far boots and runs spread: what tells whether more boots or more runs would help.

use stats::{Component, Components};

use crate::group::{level, range};
use crate::number::{figure, percent};
use crate::table::Table;

/// The standard deviations that runs come from, each with its interval, in the metric's unit and in % of `mean`; empty
/// where nothing tells them.
pub(crate) fn of(spread: &Components, unit: &str, mean: f64, confidence: f64) -> String {
    let parts = [
        ("between boots", &spread.boots),
        ("condition x boot", &spread.interaction),
        ("between runs", &spread.runs),
    ];
    let interval = format!("{} % interval", level(confidence));
    let mut table = Table::new(&["spread (sd)", unit, &interval, "% of mean"]);
    let mut is_empty = true;
    for (name, component) in parts {
        let Some(Component { sd, interval, .. }) = component else { continue };
        let share = if mean == 0.0 { "-".to_owned() } else { percent(100.0 * sd / mean.abs()) };
        table.row(&[name, &figure(*sd), &range(*interval, figure), &share]);
        is_empty = false;
    }
    if is_empty { String::new() } else { table.render() + "\n" }
}
