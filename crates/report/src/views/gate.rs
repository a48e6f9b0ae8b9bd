//! The decision of a gate as blocks.

use crate::document::Block;
use crate::document::{Table, TitledTable};
use results::gate::{Bound, Gate, GateCheck, GateOutcome, InconclusiveReason, SettlingBoots};
use results::{GateBaseline, counted, figure, first_of, percent};
use stats::signed;

// The largest number of differences between studies that are named.
const NAMED: usize = 5;

/// The outcome, a table for each bound, a sentence for each check that does not plainly pass, and
/// how it was judged.
#[must_use]
pub fn gate(gate: &Gate) -> Vec<Block<'static>> {
    let mut blocks = vec![
        Block::Heading(format!("Gate: {}", gate.outcome.as_str())),
        Block::Text(subject(gate)),
        Block::Text(counts(gate)),
    ];
    for checks in gate.checks.chunk_by(|one, next| one.bound == next.bound) {
        let title = format!("fails if {}", checks[0].bound);
        blocks.push(Block::Table(TitledTable { title, table: table(checks), notes: Vec::new() }));
    }
    let has_sentence =
        |check: &&GateCheck| check.outcome != GateOutcome::Pass || check.acknowledged.is_some();
    let mut checks: Vec<&GateCheck> = gate.checks.iter().filter(has_sentence).collect();
    checks.sort_by_key(|check| check.outcome);
    let sentence = |check: &GateCheck| {
        let (condition, key) = (&check.condition, check.bound.metric);
        format!("{}: {condition}, {key}: {}.", check.outcome.as_str(), check_sentence(check))
    };
    // What keeps the study from being complete may keep the gate from passing.
    let so =
        if gate.is_kept_back() { "; a complete study is required, so the gate does not pass" } else { "" };
    let unused = gate.unused.iter().map(|unused| {
        let entry = &unused.acknowledgement;
        format!(
            "the acknowledgement of {} for {} in line {} has no effect: {}",
            entry.bound, entry.condition, entry.line, unused.why
        )
    });
    let notes = difference_sentence(gate).into_iter().chain(gate.notes.iter().cloned());
    let method = [
        ("Incomplete", gate.lacks.iter().map(|lack| format!("{lack}{so}")).collect::<Vec<_>>()),
        ("Unused", unused.collect()),
        ("Note", notes.collect()),
        ("Method", gate.method.clone()),
    ];
    let method = method.into_iter().flat_map(|(head, all)| all.into_iter().map(move |one| (head, one)));
    let lists = [
        checks.into_iter().map(sentence).collect::<Vec<_>>(),
        method.map(|(head, one)| format!("{head}: {one}.")).collect(),
    ];
    blocks.extend(lists.into_iter().filter(|list| !list.is_empty()).map(Block::List));
    blocks
}

fn table(checks: &[GateCheck]) -> Table {
    let mut table =
        Table::new(&["condition", "difference", "interval", "boots", "outcome"]).named(0).optional(&[3, 2]);
    for check in checks {
        let bound = check.judged_by();
        let none = || "-".to_owned();
        let known = if check.acknowledged.is_some() { " (acknowledged)" } else { "" };
        table.row(&[
            &check.condition,
            &check.difference.map_or_else(none, |difference| size(&bound, difference)),
            &check.interval.map_or_else(none, |ends| interval(&bound, ends)),
            &check.boots.map_or_else(none, |boots| boots.to_string()),
            &format!("{}{known}", check.outcome.as_str()),
        ]);
    }
    table
}

/// The studies: `study 6 (quick) against study 3 (quick, tagged main)`.
pub(super) fn subject(gate: &Gate) -> String {
    let against = match &gate.baseline {
        GateBaseline::Study(baseline) => baseline.words(),
        GateBaseline::Conditions(word) => format!("its own {word}"),
    };
    format!("{} against {against}", gate.study.words())
}

/// The number of checks by outcome: `8 checks: 1 fails, 1 is inconclusive, 6 pass`.
fn counts(gate: &Gate) -> String {
    let parts: Vec<(usize, &str)> = [
        (GateOutcome::Fail, "fails", "fail"),
        (GateOutcome::Inconclusive, "is inconclusive", "are inconclusive"),
        (GateOutcome::Pass, "passes", "pass"),
    ]
    .into_iter()
    .map(|(outcome, one, several)| (gate.count(outcome), one, several))
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, several)| (count, if count == 1 { one } else { several }))
    .collect();
    match (gate.checks.len(), parts.as_slice()) {
        (1, [(_, words)]) => format!("the one check {words}"),
        (all, [(_, words)]) => format!("all {all} checks {words}"),
        (all, _) => {
            let parts: Vec<String> = parts.iter().map(|(count, words)| format!("{count} {words}")).collect();
            format!("{}: {}", counted(all, "check"), parts.join(", "))
        }
    }
}

/// A difference in the unit of a bound: `-2.1 %`, `+20 us`.
fn size(bound: &Bound, value: f64) -> String {
    let (shown, unit) = number(bound, value);
    if unit.is_empty() { shown } else { format!("{shown} {unit}") }
}

/// An interval in the unit of a bound: `-3.0 to -0.7 %`; `at least -3.0 %` with one end.
fn interval(bound: &Bound, (low, high): (f64, f64)) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", number(bound, low).0, size(bound, high)),
        (true, false) => format!("at least {}", size(bound, low)),
        (false, true) => format!("at most {}", size(bound, high)),
        (false, false) => "-".to_owned(),
    }
}

fn number(bound: &Bound, value: f64) -> (String, &'static str) {
    match bound.unit {
        None => (signed(percent(value)), "%"),
        Some((word, factor)) => (signed(figure(value / factor)), word),
    }
}

/// The outcome of a check and its reason.
pub(super) fn check_sentence(check: &GateCheck) -> String {
    let bound = check.judged_by();
    let limit = bound.limit_in_words();
    let measured = match (check.difference, check.interval) {
        (Some(difference), Some(ends)) => {
            format!("{} ({})", size(&bound, difference), interval(&bound, ends))
        }
        (Some(difference), None) => size(&bound, difference),
        (None, _) => String::new(),
    };
    let said = match (check.outcome, &check.open) {
        (GateOutcome::Fail, _) => format!("{measured}, all of it beyond {limit}"),
        (GateOutcome::Pass, _) => format!("{measured}, none of it beyond {limit}"),
        (_, Some(InconclusiveReason::Includes { settled_by })) => {
            format!("{measured}, which includes {limit}{}", settled(*settled_by, check.boots))
        }
        (_, Some(InconclusiveReason::WithinResolution)) => format!(
            "{measured}, which includes {limit}: counts are known no better, and more boots do not change that; choose a bound that is farther from the count"
        ),
        (_, Some(InconclusiveReason::NotMeasured(why))) => format!("not measured: {why}"),
        (_, Some(InconclusiveReason::NoInterval(why))) => {
            let measured = if measured.is_empty() { measured } else { format!("{measured}: ") };
            format!("{measured}no interval: {why}")
        }
        (_, Some(InconclusiveReason::NoPercentage)) => format!(
            "no percentage, because zero is within the baseline's interval: state the bound of {} as a difference, or measure more boots",
            bound.metric
        ),
        (_, None) => measured,
    };
    let known = check.acknowledged.as_ref().map_or_else(String::new, |known| {
        format!(
            "; {} is acknowledged until {} in place of {}: {}",
            known.bound.limit_in_words(),
            known.expires,
            check.bound.limit_in_words(),
            known.reason
        )
    });
    format!("{said}{known}")
}

fn settled(by: Option<SettlingBoots>, now: Option<usize>) -> String {
    let condition = "if difference and spread are as measured";
    let now = now.unwrap_or(0);
    match by {
        Some(SettlingBoots::About(boots)) => format!(
            ": about {boots} boots of each ({now} now) would settle it with {:.0} % power, {condition}",
            100.0 * SettlingBoots::POWER
        ),
        Some(SettlingBoots::TooMany) => {
            format!(": more than {} boots would be needed to settle it, {condition}", SettlingBoots::MOST)
        }
        None => String::new(),
    }
}

/// The other differences between the studies, in one sentence; `None` if there are none.
fn difference_sentence(gate: &Gate) -> Option<String> {
    let named: Vec<&str> = gate.differences.iter().map(|one| one.what.as_str()).collect();
    let GateBaseline::Study(baseline) = &gate.baseline else { return None };
    let (one, other, shown) = (baseline.study, gate.study.study, first_of(&named, NAMED));
    let sentence = || format!("the studies differ in {shown}: netassay compare {one} {other} shows them");
    (!named.is_empty()).then(sentence)
}
