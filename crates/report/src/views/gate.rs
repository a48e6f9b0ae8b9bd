//! The decision of a gate as blocks.

use results::gate::{Bound, GateCheck, GateDecision, GateOutcome, InconclusiveReason, SettlingBoots};
use results::{GateBaseline, counted, figure, first_of, percent, range};
use stats::signed;
use study::Name;

use crate::cells;
use crate::document::{Block, Cell, Table};

// The largest number of differences between studies that are named.
const NAMED: usize = 5;

/// The outcome, a table for each bound, a sentence for each check that does not plainly pass, and
/// how it was judged.
pub fn gate(gate: &GateDecision) -> Vec<Block<'static>> {
    let mut blocks = vec![
        Block::Heading(format!("Gate: {}", gate.outcome.word())),
        Block::Text(subject(gate)),
        Block::Text(counts(gate)),
    ];
    let boots = if gate.is_over_pairs() { "pairs" } else { "boots" };
    for checks in gate.checks.chunk_by(|one, next| one.bound == next.bound) {
        blocks.push(Block::Table(table(checks, boots).titled(format!("fails if {}", checks[0].bound))));
    }
    let has_sentence =
        |check: &&GateCheck| check.outcome != GateOutcome::Pass || check.acknowledged.is_some();
    // The table says enough of a check that plainly passes.
    let mut checks: Vec<&GateCheck> = gate.checks.iter().filter(has_sentence).collect();
    checks.sort_by_key(|check| check.outcome);
    let sentence = |check: &GateCheck| {
        let (condition, key) = (&check.condition, check.bound.metric);
        format!("{}: {condition}, {key}: {}.", check.outcome.word(), check_sentence(gate, check))
    };
    // What keeps the study from being complete may keep the gate from passing.
    let so =
        if gate.is_kept_back() { "; a complete study is required, so the gate does not pass" } else { "" };
    let unused = gate.unused.iter().filter_map(|entry| {
        let (bound, condition, line) = (&entry.bound, &entry.condition, entry.line);
        let why = entry.unused.as_ref()?;
        Some(format!("the acknowledgement of {bound} for {condition} in line {line} has no effect: {why}"))
    });
    let notes = difference_sentence(gate).into_iter().chain(gate.notes.iter().cloned());
    let method = [
        ("Incomplete", gate.lacks.iter().map(|lack| format!("{lack}{so}")).collect::<Vec<_>>()),
        ("Unused", unused.collect()),
        ("Note", notes.collect()),
        ("Method", gate.method.clone()),
    ];
    let method = method.into_iter().flat_map(|(head, all)| all.into_iter().map(move |one| (head, one)));
    blocks.extend(Block::list(checks.into_iter().map(sentence).collect()));
    blocks.extend(Block::list(method.map(|(head, one)| format!("{head}: {one}.")).collect()));
    blocks
}

/// `boots`: the word for the units of replication.
fn table(checks: &[GateCheck], boots: &str) -> Table {
    let row = |check: &GateCheck| {
        let bound = check.judged_by();
        let known = if check.acknowledged.is_some() { " (acknowledged)" } else { "" };
        cells![
            &Name::from(check.condition.as_str()),
            check.difference.map(|difference| Cell::measure(size(&bound, difference))),
            check.interval.map(|ends| Cell::measure(interval(&bound, ends))),
            check.boots,
            format!("{}{known}", check.outcome.word()),
        ]
    };
    let head = ["condition", "difference", "interval", boots, "outcome"];
    Table::with_rows(head, checks.iter().map(row)).optional(&[3, 2])
}

/// The studies: `study 6 (quick) against study 3 (quick, tagged main)`.
pub(super) fn subject(gate: &GateDecision) -> String {
    let against = match &gate.baseline {
        GateBaseline::Study(baseline) => baseline.description(),
        GateBaseline::Conditions(word) => format!("its own {word}"),
    };
    format!("{} against {against}", gate.study.description())
}

/// The number of checks by outcome: `8 checks: 1 fail, 1 inconclusive, 6 pass`.
fn counts(gate: &GateDecision) -> String {
    let outcomes = [GateOutcome::Fail, GateOutcome::Inconclusive, GateOutcome::Pass];
    let counts = outcomes.map(|outcome| (gate.count(outcome), outcome.word()));
    let parts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    format!("{}: {}", counted(gate.checks.len(), "check"), parts.join(", "))
}

/// A difference in the unit of a bound: `-2.1 %`, `+20 us`.
fn size(bound: &Bound, value: f64) -> String {
    let factor = bound.unit.map_or(1.0, |(_, factor)| factor);
    with_unit(number(bound, value / factor), bound)
}

/// An interval in the unit of a bound: `-3.0 to -0.7 %`; `at least -3.0 %` with one end.
fn interval(bound: &Bound, (low, high): (f64, f64)) -> String {
    let factor = bound.unit.map_or(1.0, |(_, factor)| factor);
    with_unit(range(Some((low / factor, high / factor)), |end| number(bound, end)), bound)
}

/// A number in the unit of a bound.
fn number(bound: &Bound, value: f64) -> String {
    signed(if bound.unit.is_some() { figure(value) } else { percent(value) })
}

fn with_unit(shown: String, bound: &Bound) -> String {
    results::with_unit(shown, bound.unit.map_or("%", |(word, _)| word))
}

pub(super) fn check_sentence(gate: &GateDecision, check: &GateCheck) -> String {
    let bound = check.judged_by();
    let limit = bound.limit_in_words();
    let boots = if gate.is_over_pairs() { "pairs of machines" } else { "boots" };
    let ends = check.interval.map_or_else(String::new, |ends| format!(" ({})", interval(&bound, ends)));
    let measured = check.difference.map_or_else(String::new, |difference| size(&bound, difference) + &ends);
    let said = match (check.outcome, &check.open) {
        (GateOutcome::Fail, _) => format!("{measured}, all of it beyond {limit}"),
        (GateOutcome::Pass, _) => format!("{measured}, none of it beyond {limit}"),
        (_, Some(InconclusiveReason::Includes { settled_by })) => {
            let boots = if gate.is_over_pairs() { boots } else { "boots of each" };
            format!("{measured}, which includes {limit}{}", settled(*settled_by, check.boots, boots))
        }
        (_, Some(InconclusiveReason::WithinResolution)) => format!(
            "{measured}, which includes {limit}: counts are known no better, and more {boots} do not change that; choose a bound that is farther from the count"
        ),
        (_, Some(InconclusiveReason::NotMeasured(why))) => format!("not measured: {why}"),
        (_, Some(InconclusiveReason::NoInterval(why))) => {
            let measured = if measured.is_empty() { measured } else { format!("{measured}: ") };
            format!("{measured}no interval: {why}")
        }
        (_, Some(InconclusiveReason::NoPercentage)) => format!(
            "no percentage, because zero is within the baseline's interval: state the bound of {} as a difference, or measure more {boots}",
            bound.metric
        ),
        (_, None) => measured,
    };
    let known = check.acknowledged.as_ref().map_or_else(String::new, |known| {
        let [own, planned] = [&known.bound, &check.bound].map(Bound::limit_in_words);
        format!("; {own} is acknowledged until {} in place of {planned}: {}", known.expires, known.reason)
    });
    format!("{said}{known}")
}

/// `of`: the units of replication, in words.
fn settled(by: Option<SettlingBoots>, now: Option<usize>, of: &str) -> String {
    let condition = "if difference and spread are as measured";
    let now = now.unwrap_or(0);
    match by {
        Some(SettlingBoots::About(boots)) => format!(
            ": about {boots} {of} ({now} now) would settle it with {:.0} % power, {condition}",
            100.0 * SettlingBoots::POWER
        ),
        Some(SettlingBoots::TooMany) => {
            let boots = of.split(' ').next().unwrap_or(of);
            format!(": more than {} {boots} would be needed to settle it, {condition}", SettlingBoots::MOST)
        }
        None => String::new(),
    }
}

fn difference_sentence(gate: &GateDecision) -> Option<String> {
    let named: Vec<&str> = gate.differences.iter().map(|one| one.what.as_str()).collect();
    let GateBaseline::Study(baseline) = &gate.baseline else { return None };
    let (one, other, shown) = (baseline.study, gate.study.study, first_of(&named, NAMED));
    let sentence = || format!("the studies differ in {shown}: `netassay compare {one} {other}` shows them");
    (!named.is_empty()).then(sentence)
}
