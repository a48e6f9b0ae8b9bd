//! How far boots and runs spread: what tells whether more boots or more runs would help.

use stats::{Component, Components};

use crate::group::{Row, level, range};
use crate::number::{figure, percent};
use crate::table::Table;

/// The components that the data tell, with their names.
fn named(spread: &Components) -> impl Iterator<Item = (&'static str, &Component)> {
    let all = [
        ("between boots", &spread.boots),
        ("condition x boot", &spread.interaction),
        ("between runs", &spread.runs),
    ];
    all.into_iter().filter_map(|(name, component)| Some((name, component.as_ref()?)))
}

/// Each component in % of `mean`, with its interval; nothing if there is no mean to hold it against.
pub(crate) fn parts(spread: &Components, mean: f64) -> Vec<String> {
    let share = |value: f64| percent(100.0 * value / mean.abs());
    let part = |(name, component): (&str, &Component)| {
        let interval = component
            .interval
            .map_or(String::new(), |interval| format!(" ({})", range(Some(interval), share)));
        format!("{name} {} %{interval}", share(component.sd))
    };
    if mean == 0.0 { Vec::new() } else { named(spread).map(part).collect() }
}

/// The smallest difference that the data would have shown, in a sentence without a full stop: in % where all comparisons
/// have one.
pub(crate) fn seen(rows: &[Row], unit: &str) -> Option<String> {
    let words = |values: Vec<f64>, show: fn(f64) -> String| {
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
        let (low, high) = (show(low), show(high));
        if low == high { low } else { format!("{low} to {high}") }
    };
    let relative: Option<Vec<f64>> = rows.iter().map(|row| row.comparison.detectable_relative).collect();
    let absolute: Vec<f64> = rows.iter().filter_map(|row| row.comparison.detectable).collect();
    let size = match relative {
        Some(relative) if !relative.is_empty() => format!("{} %", words(relative, percent)),
        _ if !absolute.is_empty() => format!("{} {unit}", words(absolute, figure)).trim_end().to_owned(),
        _ => return None,
    };
    Some(format!("a difference of {size} would have been seen with 80 % power"))
}

/// The standard deviations that runs come from, each with its interval, in the metric's unit and in % of `mean`; empty
/// where nothing tells them.
pub(crate) fn of(spread: &Components, unit: &str, mean: f64, confidence: f64) -> String {
    let interval = format!("{} % interval", level(confidence));
    let mut table = Table::new(&["spread (sd)", unit, &interval, "% of mean"]);
    let mut is_empty = true;
    for (name, Component { sd, interval, .. }) in named(spread) {
        let share = if mean == 0.0 { "-".to_owned() } else { percent(100.0 * sd / mean.abs()) };
        table.row(&[name, &figure(*sd), &range(*interval, figure), &share]);
        is_empty = false;
    }
    if is_empty { String::new() } else { table.render() + "\n" }
}
