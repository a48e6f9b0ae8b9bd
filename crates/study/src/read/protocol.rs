//! `[protocol]`.

use std::ops::Range;
use std::time::Duration;

use toml::de::DeValue;
use words::{Field, Scenario, Shape, format_duration};

use crate::model::tables::{BOOTS, PROTOCOL, STOP};
use crate::model::{Alternate, Bounds, Protocol, Stop, WhetherTurns, limit};
use crate::read::{Problem, Problems, Section, TomlEntry, part};

/// The protocol, and whether its conditions take turns only if they can (`alternate = "auto"`).
pub(crate) fn read(
    mut table: Section<'_>,
    scenarios: &[Scenario],
    problems: &mut Problems,
) -> (Protocol, bool) {
    let mut protocol = Protocol::default();
    let looks = table.take("stop");
    if let Some(entry) = table.take("boots") {
        boots(&entry, scenarios, &mut protocol, problems);
    }
    let mut whether = WhetherTurns::default();
    let (mut turn, mut settle): (Option<Duration>, Option<Duration>) = (None, None);
    let places = part::fill(table, &PROTOCOL, problems, |key, value| match key {
        "warmup" => protocol.warmup.set(value),
        "runs" => protocol.runs.set(value),
        "order" => protocol.order.set(value),
        "seed" => protocol.seed.set(value),
        "settle" => settle.set(value),
        "apart" => protocol.apart.set(value),
        // A duration or a word.
        _ => {
            turn.set(value);
            whether.set(value);
        }
    });
    let place_of = |key: &str| places.get(key).cloned();
    // `apart` asks for both ways, and so for turns.
    let is_auto = turn.is_none() && whether == WhetherTurns::Auto && !protocol.apart;
    if whether == WhetherTurns::Auto {
        turn.get_or_insert(Alternate::TURN);
    }
    if turn.is_none() {
        settles_nothing(place_of("settle"), problems);
    } else if let Some((settle, turn)) = settle.zip(turn).filter(|(settle, turn)| *settle > *turn / 2) {
        let (settled, turn) = (format_duration(settle), format_duration(turn));
        let message = format!("`settle` must be at most half of a turn: {settled} of {turn}");
        problems.report(place_of("settle"), message, "write a longer `alternate`, or a shorter `settle`");
    }
    protocol.alternate = turn.map(|turn| Alternate::with_turn(turn, settle));
    if protocol.apart && protocol.alternate.is_none() {
        let help = "write `alternate = \"100ms\"`, the length of a turn, or remove it";
        let message = "`apart` compares runs with turns, and no conditions take turns";
        problems.report(place_of("apart"), message, help);
    } else if protocol.apart && protocol.runs < 2 {
        let message = "`apart` needs two blocks in each boot: one with turns, and one without";
        problems.report(place_of("apart"), message, "write `runs = 2` or more");
    }
    protocol.stop = looks.and_then(|entry| stop(&entry, protocol.boots, problems));
    (protocol, is_auto)
}

pub(crate) fn settles_nothing(place: Option<Range<usize>>, problems: &mut Problems) {
    let help = "write `alternate = \"100ms\"`, the length of a turn, or remove it";
    problems.report(place, "`settle` is a part of a turn, and no conditions take turns", help);
}

/// `boots = 3` or `boots = { how = "reboot", count = 3 }`.
fn boots(entry: &TomlEntry<'_>, scenarios: &[Scenario], protocol: &mut Protocol, problems: &mut Problems) {
    if !matches!(entry.value.get_ref(), DeValue::Table(_)) {
        protocol.boots = entry.get(limit::BOOTS, problems).unwrap_or(protocol.boots);
        return;
    }
    let Some(table) = Section::from_entry("boots = { how = \"reboot\", count = 3 }", entry, problems) else {
        return;
    };
    let places = part::fill(table, &BOOTS, problems, |key, value| match key {
        "how" => protocol.how.set(value),
        _ => protocol.boots.set(value),
    });
    let local = scenarios.iter().find(|scenario| !scenario.has_machines());
    if let Some(scenario) = local.filter(|_| !protocol.how.is_reset()) {
        let how = protocol.how;
        let message = format!(
            "`how = \"{how}\"` needs machines that are reached over ssh, and scenario \"{scenario}\" has none"
        );
        let help = "remove it, or run the study between two machines (--transmitter and --receiver)";
        problems.report(places.get("how").cloned(), message, help);
    }
}

/// `stop = { detect = "2%" }`.
fn stop(entry: &TomlEntry<'_>, boots: u32, problems: &mut Problems) -> Option<Stop> {
    let mut table = Section::from_entry("stop = { detect = \"2%\" }", entry, problems)?;
    let detect = table.require("detect", "`detect = \"2%\"`: the smallest difference of interest", problems);
    let detect = detect.and_then(|entry| entry.get(Shape::Share, problems));
    let written = table.take("looks");
    let looks = written.as_ref().map_or(Some(Stop::LOOKS), |entry| entry.get(limit::LOOKS, problems));
    let bounds = table.take("bounds");
    let bounds = bounds.map_or(Some(Bounds::ObrienFleming), |entry| entry.word(problems));
    table.finish(&STOP.keys(), problems);
    let stop = Stop { detect: detect?, looks: looks?, bounds: bounds? };
    // The first look needs two boots, and each later one needs one more.
    if boots <= stop.looks {
        let place = written.map_or(entry.span(), |entry| entry.span());
        let message =
            format!("{} looks need more than {} boots, and there are {boots}", stop.looks, stop.looks);
        let help = format!(
            "set more boots, such as `boots = {}`, fewer `looks`, or no `stop` (`--set stop=`)",
            2 * stop.looks
        );
        return Problem::new(place, message).help(help).reject(problems);
    }
    Some(stop)
}
