//! `[protocol]`.

use std::ops::Range;
use std::time::Duration;

use toml::de::DeValue;
use words::{Field, Scenario, Value as Read, format_duration};

use crate::model::protocol::afresh;
use crate::model::tables::{BOOTS, PROTOCOL, STOP};
use crate::model::{Alternate, BootKind, Bounds, Protocol, Stop, WhetherTurns, limit};
use crate::read::{Entry, Problems, Table, Written, part};

/// The testbeds of a study, by which a kind of boot is possible or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosts<'s> {
    pub(crate) scenarios: &'s [Scenario],
    pub(crate) inside_guest: bool,
}

/// The protocol, and whether its conditions take turns only if they can (`alternate = "auto"`).
pub(crate) fn read(mut table: Table<'_>, hosts: Hosts<'_>, problems: &mut Problems) -> (Protocol, bool) {
    let mut protocol = Protocol::default();
    let looks = table.take("stop");
    if let Some(entry) = table.take("boots") {
        boots(&entry, hosts, &mut protocol, problems);
    }
    let mut whether = WhetherTurns::default();
    let (mut turn, mut settle): (Option<Duration>, Option<Duration>) = (None, None);
    let written = part::rows(table, &PROTOCOL, problems);
    for Written { key, value, .. } in &written {
        if *key == "apart" {
            protocol.apart = *value == Some(Read::Switch(true));
            continue;
        }
        let field: &mut dyn Field = match *key {
            "alternate" if matches!(value, Some(Read::Text(_))) => &mut whether,
            "alternate" => &mut turn,
            "settle" => &mut settle,
            "warmup" => &mut protocol.warmup,
            "runs" => &mut protocol.runs,
            "order" => &mut protocol.order,
            "seed" => &mut protocol.seed,
            key => unreachable!("`{key}` is in the table of keys and is not read"),
        };
        value.iter().for_each(|value| field.set(value));
    }
    // `apart` asks for both ways, and so for turns.
    let is_auto = turn.is_none() && whether == WhetherTurns::Auto && !protocol.apart;
    if whether == WhetherTurns::Auto {
        turn.get_or_insert(Alternate::TURN);
    }
    protocol.alternate = alternate(turn, settle, &written, problems);
    if let Some(place) = part::place_of(&written, "apart").filter(|_| protocol.apart) {
        check_apart(&protocol, place, problems);
    }
    protocol.stop = looks.and_then(|entry| stop(&entry, protocol.boots, problems));
    (protocol, is_auto)
}

/// Turns of this length, with `settle = "20ms"`.
fn alternate(
    turn: Option<Duration>,
    settle: Option<Duration>,
    written: &[Written],
    problems: &mut Problems,
) -> Option<Alternate> {
    let place = part::place_of(written, "settle");
    let Some(turn) = turn else {
        if let Some(place) = place {
            settles_nothing(place, problems);
        }
        return None;
    };
    if let (Some(settle), Some(place)) = (settle.filter(|settle| *settle > turn / 2), place) {
        let message = format!(
            "`settle` must be at most half of a turn: {} of {}",
            format_duration(settle),
            format_duration(turn)
        );
        problems.report(place, message, "write a longer `alternate`, or a shorter `settle`");
    }
    Some(Alternate::with_turn(turn, settle))
}

/// Reports a `settle` where no conditions take turns.
pub(crate) fn settles_nothing(place: Range<usize>, problems: &mut Problems) {
    let help = "write `alternate = \"100ms\"`, the length of a turn, or remove it";
    problems.report(place, "`settle` is a part of a turn, and no conditions take turns", help);
}

/// `apart = true` is about turns, and needs a block of either kind in each boot.
fn check_apart(protocol: &Protocol, place: Range<usize>, problems: &mut Problems) {
    if protocol.alternate.is_none() {
        let help = "write `alternate = \"100ms\"`, the length of a turn, or remove it";
        problems.report(place, "`apart` compares runs with turns, and no conditions take turns", help);
    } else if protocol.runs < 2 {
        let help = "write `runs = 2` or more";
        problems.report(
            place,
            "`apart` needs two blocks in each boot: one with turns, and one without",
            help,
        );
    }
}

/// `boots = 3` or `boots = { how = "reboot", count = 3 }`.
fn boots(entry: &Entry<'_>, hosts: Hosts<'_>, protocol: &mut Protocol, problems: &mut Problems) {
    if !matches!(entry.value.get_ref(), DeValue::Table(_)) {
        if let Some(count) = entry.small(limit::BOOTS, problems) {
            protocol.boots = count;
        }
        return;
    }
    let Some(table) = Table::from_entry("boots = { how = \"reboot\", count = 3 }", entry, problems) else {
        return;
    };
    for Written { key, value, place } in part::rows(table, &BOOTS, problems) {
        let field: &mut dyn Field = if key == "how" { &mut protocol.how } else { &mut protocol.boots };
        value.iter().for_each(|value| field.set(value));
        if key == "how" {
            possible(protocol.how, place, hosts, problems);
        }
    }
}

/// Reports a kind of boot that a testbed of this machine has not.
fn possible(how: BootKind, place: Range<usize>, hosts: Hosts<'_>, problems: &mut Problems) {
    let local = hosts.scenarios.iter().find(|scenario| !scenario.has_machines());
    let Some(scenario) = local.filter(|_| !how.is_reset()) else { return };
    let what = afresh(*scenario, hosts.inside_guest);
    let message = format!(
        "`how = \"{how}\"` needs machines that are reached over ssh, and scenario \"{scenario}\" has none"
    );
    let help = format!(
        "in this scenario {what} at each boot, which is `how = \"{}\"`: write that, or run the study between two machines (--transmitter and --receiver)",
        BootKind::Reset.word()
    );
    problems.report(place, message, help);
}

/// `stop = { detect = "2%" }`.
fn stop(entry: &Entry<'_>, boots: u32, problems: &mut Problems) -> Option<Stop> {
    let mut table = Table::from_entry("stop = { detect = \"2%\" }", entry, problems)?;
    let detect = table.require("detect", "`detect = \"2%\"`: the smallest difference of interest", problems);
    let detect = detect.and_then(|entry| entry.percent(problems));
    let written = table.take("looks");
    let looks = written.as_ref().map_or(Some(Stop::LOOKS), |entry| entry.small(limit::LOOKS, problems));
    let bounds = table.take("bounds");
    let bounds = bounds.map_or(Some(Bounds::ObrienFleming), |entry| entry.word(problems));
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
