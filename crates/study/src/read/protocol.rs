//! `[protocol]`.

use crate::model::limit;
use crate::model::protocol::Protocol;
use crate::model::stop::{Bounds, Stop};
use crate::model::tables::{PROTOCOL, STOP};
use crate::read::diagnostic::Problem;
use crate::read::problems::Problems;
use crate::read::table::{Entry, Table};
use crate::read::value::Value;

/// The protocol, with defaults for what is not written.
pub(crate) fn read(mut table: Table<'_>, problems: &mut Problems) -> Protocol {
    let default = Protocol::default();
    let mut count = |table: &mut Table<'_>, key, range| {
        let entry = table.take(key)?;
        Value::of(&entry).small(range, problems)
    };
    let boots = count(&mut table, "boots", limit::BOOTS).unwrap_or(default.boots);
    let warmup = count(&mut table, "warmup", limit::WARMUP).unwrap_or(default.warmup);
    let runs = count(&mut table, "runs", limit::RECORDED).unwrap_or(default.runs);
    let order =
        table.take("order").and_then(|entry| Value::of(&entry).word(problems)).unwrap_or(default.order);
    let seed = table.take("seed").and_then(|entry| Value::of(&entry).number(limit::SEED, problems));
    let stop = table.take("stop").and_then(|entry| stop(&entry, boots, problems));
    table.finish(&PROTOCOL.keys(), problems);
    Protocol { boots, warmup, runs, order, seed: seed.unwrap_or(default.seed), stop }
}

/// `stop = { detect = "2%" }`.
fn stop(entry: &Entry<'_>, boots: u32, problems: &mut Problems) -> Option<Stop> {
    let mut table = Table::of("stop = { detect = \"2%\" }", entry, problems)?;
    let detect = table.require("detect", "`detect = \"2%\"`: the smallest difference of interest", problems);
    let detect = detect.and_then(|entry| Value::of(&entry).percent(problems));
    let written = table.take("looks");
    let looks =
        written.as_ref().map_or(Some(Stop::LOOKS), |entry| Value::of(entry).small(limit::LOOKS, problems));
    let bounds = table.take("bounds");
    let bounds = bounds.map_or(Some(Bounds::ObrienFleming), |entry| Value::of(&entry).word(problems));
    table.finish(&STOP.keys(), problems);
    let stop = Stop { detect: detect?, looks: looks?, bounds: bounds? };
    if !Stop::fits(stop.looks, boots) {
        let place = written.map_or(entry.span(), |entry| entry.span());
        let message =
            format!("{} looks need more than {} boots, and there are {boots}", stop.looks, stop.looks);
        let help =
            format!("set `boots = {}` (the most it may take), fewer `looks`, or no `stop`", 2 * stop.looks);
        problems.push(Problem::new(place, message).help(help));
        return None;
    }
    Some(stop)
}
