//! The checks of a gate: every condition against every bound of its metric, with one error rate.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::{CaseAnswer, Error, GateCase};
use serde::Serialize;

use crate::gate::acknowledged::Acknowledgement;
use crate::gate::bound::Bound;
use crate::gate::check::{GateCheck, InconclusiveReason};

/// An acknowledgement that has no effect, and why.
#[derive(Debug, Clone, Serialize)]
pub struct UnusedAcknowledgement {
    /// The acknowledgement.
    #[serde(flatten)]
    pub acknowledgement: Acknowledgement,
    /// The reason, as the end of a sentence.
    pub why: String,
}

/// The answers of cases by their place and level; each is computed once.
struct CaseAnswers<'c> {
    cases: &'c [GateCase],
    known: BTreeMap<(usize, u64), Option<CaseAnswer>>,
}

impl CaseAnswers<'_> {
    /// The answer of a case whose intervals have these one-sided error rates at both ends.
    fn answer(&mut self, case: usize, share: f64) -> Result<Option<&CaseAnswer>, Error> {
        let answer = match self.known.entry((case, share.to_bits())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.cases[case].answer(1.0 - 2.0 * share)?),
        };
        Ok(answer.as_ref())
    }

    fn ends(&mut self, case: usize, bound: &Bound, share: f64) -> Result<Option<(f64, f64)>, Error> {
        Ok(self.answer(case, share)?.and_then(|answer| bound.ends(&answer.comparison)))
    }

    /// The reason why an acknowledgement has no effect; `None` if it has one.
    fn why_unused(
        &mut self,
        entry: &Acknowledgement,
        bounds: &[Bound],
        alpha: f64,
    ) -> Result<Option<String>, Error> {
        let key = entry.bound.metric.key;
        let Some(bound) = bounds.iter().find(|bound| bound.is_of_same(&entry.bound)) else {
            let kind = if entry.bound.is_percent() { "in %" } else { "as a difference" };
            return Ok(Some(format!("the gate has no bound of {key} on that side {kind}")));
        };
        if !entry.bound.is_looser_than(bound) {
            return Ok(Some(format!("the gate's own bound, {bound}, allows as much")));
        }
        let own = self.cases.iter().position(|case| case.metric.key == key && entry.is_of(case));
        let Some(own) = own else {
            return Ok(Some("no condition that is judged by that metric has this name".to_owned()));
        };
        let is_kept = self.ends(own, bound, alpha)?.is_some_and(|ends| bound.is_kept_by(ends));
        Ok(is_kept
            .then(|| format!("the condition keeps the gate's own bound, {bound}, again: remove the entry")))
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
    let mut checks: Vec<GateCheck> = Vec::new();
    // The case of each check.
    let mut of: Vec<usize> = Vec::new();
    for bound in bounds {
        for (place, case) in cases.iter().enumerate().filter(|(_, case)| case.metric.key == bound.metric.key)
        {
            checks.push(GateCheck::unjudged(case, *bound, acknowledged));
            of.push(place);
        }
    }
    let mut answers = CaseAnswers { cases, known: BTreeMap::new() };
    let mut alone: Vec<Option<(f64, f64)>> = Vec::new();
    for (check, case) in checks.iter().zip(&of) {
        alone.push(answers.ends(*case, &check.judged_by(), alpha)?);
    }
    let timed = |place: &usize| alone[*place].is_some() && !checks[*place].is_counted;
    let mut open: Vec<usize> = (0..checks.len()).filter(timed).collect();
    let mut together = alone.clone();
    let mut shares = vec![alpha; checks.len()];
    while !open.is_empty() {
        let share = alpha / open.len() as f64;
        let mut left = Vec::new();
        for place in &open {
            let bound = checks[*place].judged_by();
            (together[*place], shares[*place]) = (answers.ends(of[*place], &bound, share)?, share);
            if !together[*place].is_some_and(|ends| bound.is_broken_by(ends)) {
                left.push(*place);
            }
        }
        if left.len() == open.len() {
            break;
        }
        open = left;
    }
    for (place, check) in checks.iter_mut().enumerate() {
        match answers.answer(of[place], alpha)? {
            Some(answer) => {
                let interval = alone[place].map(|alone| joined(&check.judged_by(), alone, together[place]));
                check.settle(answer, interval, [shares[place], alpha]);
            }
            None => {
                let why = cases[of[place]].why_unmeasured().unwrap_or("it was not measured on both sides");
                check.open = Some(InconclusiveReason::NotMeasured(why.to_owned()));
            }
        }
    }
    let mut unused = Vec::new();
    for entry in acknowledged {
        if let Some(why) = answers.why_unused(entry, bounds, alpha)? {
            unused.push(UnusedAcknowledgement { acknowledgement: entry.clone(), why });
        }
    }
    Ok((checks, unused))
}

/// The end that decides a pass of `alone`, and the end that decides a failure of `together`; an end
/// that is not known lies at infinity.
fn joined(bound: &Bound, alone: (f64, f64), together: Option<(f64, f64)>) -> (f64, f64) {
    let (low, high) = together.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    if bound.fails_above { (low, alone.1) } else { (alone.0, high) }
}
