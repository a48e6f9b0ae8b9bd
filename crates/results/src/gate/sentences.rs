//! The sentences of a gate, without full stops.

use crate::{GateBaseline, counted, figure, first_of, percent};
use stats::signed;

use crate::gate::bound::Bound;
use crate::gate::check::{GateCheck, GateOutcome, InconclusiveReason};
use crate::gate::decision::Gate;
use crate::gate::judge::UnusedAcknowledgement;
use crate::gate::settling_boots::{MOST, POWER, SettlingBoots};

/// The studies: `study 6 (quick) against study 3 (quick, tagged main)`.
pub(crate) fn subject(gate: &Gate) -> String {
    let against = match &gate.baseline {
        GateBaseline::Study(baseline) => baseline.words(),
        GateBaseline::Conditions(word) => format!("its own {word}"),
    };
    format!("{} against {against}", gate.study.words())
}

/// The number of checks by outcome: `8 checks: 1 fails, 1 is inconclusive, 6 pass`.
pub(crate) fn counts(gate: &Gate) -> String {
    let parts: Vec<String> = [
        (GateOutcome::Fail, "fails", "fail"),
        (GateOutcome::Inconclusive, "is inconclusive", "are inconclusive"),
        (GateOutcome::Pass, "passes", "pass"),
    ]
    .into_iter()
    .map(|(outcome, one, several)| (gate.count(outcome), one, several))
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, several)| format!("{count} {}", if count == 1 { one } else { several }))
    .collect();
    match (gate.checks.len(), parts.as_slice()) {
        (1, _) => format!("the one check {}", parts.concat().trim_start_matches("1 ")),
        (all, [_]) => format!(
            "all {all} checks{}",
            parts.concat().trim_start_matches(|digit: char| digit.is_ascii_digit())
        ),
        (all, _) => format!("{}: {}", counted(all, "check"), parts.join(", ")),
    }
}

/// A difference in the unit of a bound: `-2.1 %`, `+20 us`.
pub(crate) fn size(bound: &Bound, value: f64) -> String {
    let (shown, unit) = number(bound, value);
    if unit.is_empty() { shown } else { format!("{shown} {unit}") }
}

/// An interval in the unit of a bound: `-3.0 to -0.7 %`; `at least -3.0 %` with one end.
pub(crate) fn interval(bound: &Bound, (low, high): (f64, f64)) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", number(bound, low).0, size(bound, high)),
        (true, false) => format!("at least {}", size(bound, low)),
        (false, true) => format!("at most {}", size(bound, high)),
        (false, false) => "-".to_owned(),
    }
}

fn number(bound: &Bound, value: f64) -> (String, &'static str) {
    match bound.unit() {
        None => (signed(percent(value)), "%"),
        Some((word, factor)) => (signed(figure(value / factor)), word),
    }
}

/// The outcome of a check and its reason.
pub(crate) fn check_sentence(check: &GateCheck) -> String {
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
            bound.metric.key
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
            100.0 * POWER
        ),
        Some(SettlingBoots::TooMany) => {
            format!(": more than {MOST} boots would be needed to settle it, {condition}")
        }
        None => String::new(),
    }
}

pub(crate) fn unused_sentence(unused: &UnusedAcknowledgement) -> String {
    let entry = &unused.acknowledgement;
    format!(
        "the acknowledgement of {} for {} in line {} has no effect: {}",
        entry.bound, entry.condition, entry.line, unused.why
    )
}

/// The parts that the study lacks, and whether they keep it from passing.
pub(crate) fn lack_sentences(gate: &Gate) -> Vec<String> {
    let so =
        if gate.is_kept_back() { "; a complete study is required, so the gate does not pass" } else { "" };
    gate.lacks.iter().map(|lack| format!("{lack}{so}")).collect()
}

/// The other differences between the studies, in one sentence; `None` if there are none.
pub(crate) fn difference_sentence(gate: &Gate) -> Option<String> {
    // The largest number of differences that are named.
    const TOLD: usize = 5;
    let named: Vec<&str> = gate.differences.iter().map(|one| one.what.as_str()).collect();
    let GateBaseline::Study(baseline) = &gate.baseline else { return None };
    let (one, other) = (baseline.study, gate.study.study);
    (!named.is_empty()).then(|| {
        let named = first_of(&named, TOLD);
        format!("the studies differ in {named}: netassay compare {one} {other} shows them")
    })
}
