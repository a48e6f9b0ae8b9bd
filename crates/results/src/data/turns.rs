//! Conditions that took turns in one flow: how they answered to a switch, and what a turn left to
//! the next one.

use std::collections::BTreeSet;
use std::time::Duration;

use record::{CountedTurn, Slice, TENTHS, Turns};
use stats::distribution::student;
use store::{StoredRun, StoredStudy};
use study::Alternate;

use crate::data::means::mean_by_boot;
use crate::words::number::{counted, percent, spaced_duration};
use crate::words::phrases::listed;

/// Parts of a turn for people, in tenths.
pub const PARTS: [(&str, [usize; 2]); 4] =
    [("1st tenth", [0, 1]), ("2nd", [1, 2]), ("3rd to 5th", [2, 5]), ("6th to 10th", [5, TENTHS])];

// A share of the effect that is small: half of it is in the difference.
const SMALL: f64 = 0.1;

// The error rate of one carry-over's interval, and of all notes of a study together.
const ALPHA: f64 = 0.05;

/// One condition's turns, over all boots.
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct TurnsOfCondition {
    condition: usize,
    pub label: String,
    pub flows: usize,
    pub turns: usize,
    /// The rate after others' turns against after its own, in %, by [`PARTS`]; `None` without work.
    pub parts: [Option<f64>; PARTS.len()],
    /// The carry-over in the counted part: the mean of boots, and its interval from two boots on.
    pub carry_over: f64,
    boots: Vec<f64>,
    effect: f64,
    pub interval: Option<(f64, f64)>,
}

impl TurnsOfCondition {
    /// Whether a turn is proven to affect the next one by more than a small part of the largest
    /// difference in the flow.
    fn leaves_much(&self, conditions: usize) -> bool {
        // The error rate is shared out over all conditions (Bonferroni).
        let interval = interval(&self.boots, ALPHA / conditions as f64);
        let is_proven = interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        is_proven && self.carry_over.abs() > SMALL * self.effect
    }
}

/// The turns of each condition that took any.
pub fn in_turns(stored: &StoredStudy) -> Vec<TurnsOfCondition> {
    let rate_of = |index| {
        let own = stored.measurements_of(index).filter_map(|run| run.detail.turns());
        rate(own.flat_map(|turns| turns.turns.iter().map(slice)))
    };
    let rates: Vec<Option<f64>> = (0..stored.plan.conditions.len()).map(rate_of).collect();
    let flows = stored.plan.flows();
    let of_condition = |(index, condition): (usize, &study::Condition)| {
        let runs = || stored.measurements_of(index);
        let all: Vec<&Turns> = runs().filter_map(|run| run.detail.turns()).collect();
        let shares = runs().filter_map(|run| Some((run.boot, share(run.detail.turns()?)?)));
        let boots: Vec<f64> = mean_by_boot(shares).into_values().collect();
        (!boots.is_empty()).then(|| TurnsOfCondition {
            condition: index,
            label: condition.label.to_string(),
            flows: all.len(),
            turns: all.iter().map(|one| one.turns.len()).sum(),
            parts: PARTS.map(|(_, [first, last])| response(&all, first..last)),
            carry_over: stats::mean(&boots),
            effect: effect(flows.containing(index), &rates),
            interval: interval(&boots, ALPHA),
            boots,
        })
    };
    stored.plan.conditions.iter().enumerate().filter_map(of_condition).collect()
}

pub(crate) fn notes(stored: &StoredStudy) -> Vec<String> {
    let Some(Alternate { turn, .. }) = stored.plan.asked.protocol.alternate else { return Vec::new() };
    let all = in_turns(stored);
    let names: Vec<&str> = all.iter().map(|one| one.label.as_str()).collect();
    let mut notes = Vec::new();
    if !all.is_empty() {
        notes.push(format!(
            "{} took turns of {} in shared flows, of which the first {} were not counted; latencies and losses are counted for whole flows only",
            listed(&names),
            spaced_duration(turn),
            uncounted(stored).unwrap_or_default()
        ));
    }
    let protocol = &stored.plan.asked.protocol;
    let flows = stored.plan.flows();
    let own = stored
        .measurements()
        .filter(|run| run.detail.turns().is_none() && flows.containing(run.condition).len() > 1);
    let (planned, apart): (Vec<&StoredRun>, Vec<&StoredRun>) =
        own.partition(|run| protocol.is_apart(run.boot, run.block));
    let (planned, apart) = (planned.len(), apart.len());
    if planned > 0 {
        notes.push(format!(
            "{} of the same conditions had flows of their own, as planned (`apart`): figures here are of both together, and `netassay run --aa --from {}` compares them",
            counted(planned, "run"),
            stored.row.id
        ));
    }
    if apart > 0 {
        notes.push(format!(
            "{} of conditions that were to take turns had flows of their own, because turns were not possible, or what was measured in a condition's turns was not proven to be its own",
            counted(apart, "run")
        ));
    }
    for one in leaving(&all) {
        notes.push(format!(
            "{}: after a turn of another condition its rate differs by {} % from that after one of its own, which is not small against the differences here: nothing is concluded from its turns; `alternate = \"off\"` gives each condition runs of its own",
            one.label,
            percent(one.carry_over)
        ));
    }
    notes
}

/// Conditions whose turns prove nothing, because turns of others last into them.
pub(crate) fn carried(stored: &StoredStudy) -> Vec<usize> {
    let all = stored.plan.asked.protocol.alternate.map(|_| in_turns(stored)).unwrap_or_default();
    leaving(&all).map(|one| one.condition).collect()
}

fn leaving(all: &[TurnsOfCondition]) -> impl Iterator<Item = &TurnsOfCondition> {
    all.iter().filter(|one| one.leaves_much(all.len()))
}

/// The first part of turns, which is not counted.
pub(crate) fn uncounted(stored: &StoredStudy) -> Option<String> {
    // More than planned where a switch acted longer.
    let all: BTreeSet<u64> =
        stored.measurements().filter_map(|run| run.detail.turns()).map(|one| one.settle_ns).collect();
    let text = |ns: &u64| spaced_duration(Duration::from_nanos(*ns));
    match (all.first(), all.last()) {
        (Some(least), Some(most)) if least < most => Some(format!("{} to {}", text(least), text(most))),
        (least, _) => least.map(text),
    }
}

/// As the end of a sentence, if all its runs took turns; otherwise empty.
pub(crate) fn not_in_turns(stored: &StoredStudy, condition: usize) -> &'static str {
    let mut own = stored.measurements_of(condition).peekable();
    if own.peek().is_some() && own.all(|run| run.detail.turns().is_some()) {
        ": they took turns, which have no latencies, no losses and no counts of a host; --set alternate=off measures them"
    } else {
        ""
    }
}

/// The difference of the rate after turns of other conditions from that after its own, in %.
fn share(turns: &Turns) -> Option<f64> {
    let rate = |is_of_it: &dyn Fn(&CountedTurn) -> bool| {
        let chosen = turns.turns.iter().filter(|turn| is_of_it(turn));
        rate(chosen.map(slice))
    };
    let itself = rate(&|turn| turn.after == turns.own)?;
    let another = rate(&|turn| turn.after != turns.own)?;
    Some(100.0 * (another / itself - 1.0))
}

fn response(all: &[&Turns], tenths: std::ops::Range<usize>) -> Option<f64> {
    // The rate of all flows together, each weighing by its length.
    let rate_in = |slices: &dyn Fn(&Turns) -> [Slice; TENTHS]| {
        rate(all.iter().flat_map(|turns| slices(turns).into_iter().skip(tenths.start).take(tenths.len())))
    };
    let itself = rate_in(&|turns| turns.response.after_itself)?;
    let another = rate_in(&|turns| turns.response.after_another)?;
    Some(100.0 * (another / itself - 1.0))
}

fn slice(turn: &CountedTurn) -> Slice {
    Slice { ns: turn.ns, work: turn.work }
}

fn effect(together: &[usize], rates: &[Option<f64>]) -> f64 {
    let own = together.iter().filter_map(|one| rates.get(*one).copied().flatten());
    let (least, most) =
        own.fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (rate.min(least), rate.max(most)));
    if most > 0.0 { 100.0 * (most - least) / most } else { 0.0 }
}

fn rate(slices: impl Iterator<Item = Slice>) -> Option<f64> {
    let (work, ns) = slices.fold((0.0, 0.0), |(work, ns), one| (work + one.work as f64, ns + one.ns as f64));
    (work > 0.0 && ns > 0.0).then(|| work / ns)
}

fn interval(boots: &[f64], alpha: f64) -> Option<(f64, f64)> {
    let (mean, count) = (stats::mean(boots), boots.len() as f64);
    let squares: f64 = boots.iter().map(|boot| (boot - mean).powi(2)).sum();
    let reach = student::upper_quantile(alpha / 2.0, count - 1.0)? * (squares / (count - 1.0) / count).sqrt();
    Some((mean - reach, mean + reach))
}

#[cfg(test)]
mod tests;
