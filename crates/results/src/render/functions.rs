//! The functions that explain a difference in the CPU time of a message, as text.

use stats::Comparison;

use crate::data::profiled::{LEAST, ProfilePair};
use crate::render::explained::{self, answer, ranked};
use crate::words::number::counted;
use crate::words::phrases::listed;
use crate::words::table::Table;

// The number of functions that are shown, those that explain most; the rest is in the JSON.
const SHOWN: usize = 15;

pub(crate) fn head(pair: &ProfilePair, unit: &str) -> String {
    let (condition, baseline) = (&pair.rest.condition, &pair.rest.baseline);
    let whose = if pair.rest.one_end { "at the transmitter" } else { "at both ends" };
    format!(
        "functions, readers {}: {condition} against {baseline}; {unit} of CPU for a message {whose}",
        pair.reader
    )
}

pub(crate) fn table(pair: &ProfilePair) -> Table {
    let whole = &pair.explained.whole;
    let mut table = explained::table("function", &pair.explained);
    let mut row = |name: &str, one: &Comparison| explained::row(&mut table, name, one, &pair.explained);
    let ranked = ranked(&pair.explained);
    for place in ranked.iter().take(SHOWN) {
        row(&pair.rest.functions[*place], &pair.explained.parts[*place]);
    }
    row("smaller ones", &pair.explained.unexplained);
    row("whole", whole);
    table
}

pub(crate) fn sentences(pair: &ProfilePair, unit: &str) -> Vec<String> {
    let mut said =
        vec![answer(&pair.explained, &pair.rest.functions, ["a message", "function", unit], pair.rest.runs)];
    let beyond = pair.rest.functions.len().saturating_sub(SHOWN);
    let mut rest = vec![format!(
        "smaller ones: {} with less than {} % of the samples each",
        counted(pair.rest.smaller, "function"),
        100.0 * LEAST
    )];
    if beyond > 0 {
        rest.push(format!("{} that explain less are not shown", counted(beyond, "function")));
    }
    said.push(listed(&rest));
    said.push(format!("{} of each condition at least", counted(pair.rest.samples as usize, "sample")));
    said
}
