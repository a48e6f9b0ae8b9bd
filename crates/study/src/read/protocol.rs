//! `[protocol]`.

use words::Field;

use crate::model::limit;
use crate::model::protocol::Protocol;
use crate::model::stop::{Bounds, Stop};
use crate::model::tables::{PROTOCOL, STOP};
use crate::read::part::{self, Written};
use crate::read::problems::Problems;
use crate::read::table::{Entry, Table};
use crate::read::value::Value;

pub(crate) fn read(mut table: Table<'_>, problems: &mut Problems) -> Protocol {
    let mut protocol = Protocol::default();
    let looks = table.take("stop");
    for Written { key, value, .. } in part::rows(table, &PROTOCOL, problems) {
        let field: &mut dyn Field = match key {
            "boots" => &mut protocol.boots,
            "warmup" => &mut protocol.warmup,
            "runs" => &mut protocol.runs,
            "order" => &mut protocol.order,
            "seed" => &mut protocol.seed,
            key => unreachable!("`{key}` is in the table of keys and is not read"),
        };
        value.iter().for_each(|value| field.set(value));
    }
    protocol.stop = looks.and_then(|entry| stop(&entry, protocol.boots, problems));
    protocol
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
            format!("set more boots, such as `boots = {}`, fewer `looks`, or no `stop`", 2 * stop.looks);
        problems.report(place, message, help);
        return None;
    }
    Some(stop)
}
