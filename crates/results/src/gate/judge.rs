//! The checks of a gate: every condition against every bound of its metric, with one error rate.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::{CaseAnswer, Error, GateCase};
use serde::Serialize;

use crate::gate::acknowledged::Acknowledgement;
use crate::gate::bound::{Bound, FailingSide};
use crate::gate::check::{ErrorShares, GateCheck};

/// An acknowledgement that has no effect, and why.
#[derive(Debug, Clone, Serialize)]
pub struct UnusedAcknowledgement {
    /// The acknowledgement.
    #[serde(flatten)]
    pub acknowledgement: Acknowledgement,
    /// The reason, as the end of a sentence.
    pub why: String,
}

struct BoundCase<'c> {
    place: usize,
    case: &'c GateCase,
    bound: Bound,
    known: Option<&'c Acknowledgement>,
}

impl BoundCase<'_> {
    fn judged_by(&self) -> Bound {
        self.known.map_or(self.bound, |known| known.bound)
    }
}

/// The answers of cases by their place and level; each is computed once.
#[derive(Default)]
struct CaseAnswers(BTreeMap<(usize, u64), Option<CaseAnswer>>);

impl CaseAnswers {
    /// The answer whose intervals have these one-sided error rates at both ends.
    fn answer(&mut self, item: &BoundCase<'_>, share: f64) -> Result<Option<&CaseAnswer>, Error> {
        let answer = match self.0.entry((item.place, share.to_bits())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(item.case.answer(1.0 - 2.0 * share)?),
        };
        Ok(answer.as_ref())
    }

    fn ends(&mut self, item: &BoundCase<'_>, share: f64) -> Result<Option<(f64, f64)>, Error> {
        Ok(self.answer(item, share)?.and_then(|answer| item.judged_by().ends(&answer.comparison)))
    }
}

/// Judges every case by the bounds of its metric.
///
/// `alpha` is the one-sided error rate. The end of an interval that decides a failure has it for
/// all timed checks together, by Holm's steps (Scandinavian Journal of Statistics 6, 1979), which
/// hold however checks depend on each other. The end that decides a pass has it for each check: the
/// gate passes only if all checks do, so it errs only if that very check errs which should not have
/// passed (an intersection-union test: Berger, Technometrics 24, 1982).
pub(crate) fn judge(
    cases: &[GateCase],
    bounds: &[Bound],
    acknowledged: &[Acknowledgement],
    alpha: f64,
) -> Result<(Vec<GateCheck>, Vec<UnusedAcknowledgement>), Error> {
    let items: Vec<BoundCase<'_>> = bounds
        .iter()
        .flat_map(|bound| {
            let own = cases.iter().enumerate().filter(|(_, case)| case.metric == bound.metric);
            own.map(|(place, case)| BoundCase {
                place,
                case,
                bound: *bound,
                known: acknowledged
                    .iter()
                    .find(|entry| is_of(entry, case) && entry.bound.is_looser_than(bound)),
            })
        })
        .collect();
    let mut answers = CaseAnswers::default();
    let mut alone: Vec<Option<(f64, f64)>> = Vec::new();
    for item in &items {
        alone.push(answers.ends(item, alpha)?);
    }
    let timed = |place: &usize| alone[*place].is_some() && !items[*place].case.is_counted();
    let mut open: Vec<usize> = (0..items.len()).filter(timed).collect();
    let mut together = alone.clone();
    let mut shares = vec![alpha; items.len()];
    while !open.is_empty() {
        let share = alpha / open.len() as f64;
        let mut left = Vec::new();
        for place in &open {
            let item = &items[*place];
            (together[*place], shares[*place]) = (answers.ends(item, share)?, share);
            if !together[*place].is_some_and(|ends| item.judged_by().is_broken_by(ends)) {
                left.push(*place);
            }
        }
        if left.len() == open.len() {
            break;
        }
        open = left;
    }
    let mut checks = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let known = item.known.cloned();
        let check = match answers.answer(item, alpha)? {
            None => {
                let why = item.case.why_unmeasured().unwrap_or("it was not measured on both sides");
                GateCheck::unmeasured(item.case, item.bound, known, why)
            }
            Some(answer) => {
                let interval = alone[place].map(|alone| joined(&item.judged_by(), alone, together[place]));
                let shares = ErrorShares { fail: shares[place], pass: alpha };
                GateCheck::from_answer(item.case, item.bound, known, (answer, interval), shares)
            }
        };
        checks.push(check);
    }
    let mut unused = Vec::new();
    for entry in acknowledged {
        if let Some(why) = why_unused(entry, bounds, &items, &mut answers, alpha)? {
            unused.push(UnusedAcknowledgement { acknowledgement: entry.clone(), why });
        }
    }
    Ok((checks, unused))
}

/// Whether an acknowledgement is of the condition of a case.
fn is_of(entry: &Acknowledgement, case: &GateCase) -> bool {
    entry.condition == case.label || entry.condition == case.slug
}

/// The end that decides a pass of `alone`, and the end that decides a failure of `together`; an end
/// that is not known lies at infinity.
fn joined(bound: &Bound, alone: (f64, f64), together: Option<(f64, f64)>) -> (f64, f64) {
    let (low, high) = together.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    match bound.fails {
        FailingSide::Below => (alone.0, high),
        FailingSide::Above => (low, alone.1),
    }
}

/// The reason why an acknowledgement has no effect; `None` if it has one.
fn why_unused(
    entry: &Acknowledgement,
    bounds: &[Bound],
    items: &[BoundCase<'_>],
    answers: &mut CaseAnswers,
    alpha: f64,
) -> Result<Option<String>, Error> {
    let Some(bound) = bounds.iter().find(|bound| bound.is_of_same(&entry.bound)) else {
        let kind = if entry.bound.is_percent() { "in %" } else { "as a difference" };
        return Ok(Some(format!("the gate has no bound of {} on that side {kind}", entry.bound.metric)));
    };
    if !entry.bound.is_looser_than(bound) {
        return Ok(Some(format!("the gate's own bound, {bound}, allows as much")));
    }
    let Some(item) = items.iter().find(|item| is_of(entry, item.case) && item.bound == *bound) else {
        return Ok(Some("no condition that is judged by that metric has this name".to_owned()));
    };
    let own = answers.answer(item, alpha)?.and_then(|answer| bound.ends(&answer.comparison));
    Ok(own
        .is_some_and(|ends| bound.is_kept_by(ends))
        .then(|| format!("the condition keeps the gate's own bound, {bound}, again: remove the entry")))
}
