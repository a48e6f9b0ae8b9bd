//! The checks of a gate: every condition against every bound of its metric, with one error rate.

use crate::{Error, GateCase};

use crate::gate::acknowledged::Acknowledgement;
use crate::gate::bound::Bound;
use crate::gate::check::{GateCheck, InconclusiveReason};

/// The ends of a case's difference with these one-sided error rates at both.
fn ends(case: &GateCase, bound: &Bound, share: f64) -> Result<Option<(f64, f64)>, Error> {
    Ok(case.answer(share, bound.is_percent())?.and_then(|answer| bound.ends(&answer.comparisons[0])))
}

fn why_unused(
    cases: &[GateCase],
    entry: &Acknowledgement,
    bounds: &[Bound],
    alpha: f64,
) -> Result<Option<String>, Error> {
    let metric = entry.bound.metric;
    let Some(bound) = bounds.iter().find(|bound| bound.is_of_same(&entry.bound)) else {
        let kind = if entry.bound.is_percent() { "in %" } else { "as a difference" };
        return Ok(Some(format!("the gate has no bound of {metric} on that side {kind}")));
    };
    if !entry.bound.is_looser_than(bound) {
        return Ok(Some(format!("the gate's own bound, {bound}, allows as much")));
    }
    let Some(own) = cases.iter().find(|case| case.metric == metric && entry.is_of(case)) else {
        return Ok(Some("no condition that is judged by that metric has this name".to_owned()));
    };
    let is_kept = ends(own, bound, alpha)?.is_some_and(|ends| bound.is_kept_by(ends));
    Ok(is_kept.then(|| format!("the condition keeps the gate's own bound, {bound}, again: remove the entry")))
}

/// Judges every case by the bounds of its metric. `alpha` is the one-sided error rate.
pub(crate) fn judge(
    cases: &[GateCase],
    bounds: &[Bound],
    acknowledged: &[Acknowledgement],
    alpha: f64,
) -> Result<(Vec<GateCheck>, Vec<Acknowledgement>), Error> {
    let of_bound = |bound: &Bound| {
        let own = cases.iter().filter(|case| case.metric == bound.metric);
        own.map(|case| (case, GateCheck::unjudged(case, *bound, acknowledged))).collect::<Vec<_>>()
    };
    let mut checks: Vec<(&GateCase, GateCheck)> = bounds.iter().flat_map(of_bound).collect();
    // The end of an interval that decides a pass has the error rate for each check: the gate passes
    // only if all checks do, so it errs only if that very check errs which should not have passed
    // (an intersection-union test: Berger, Technometrics 24, 1982).
    let alone = checks.iter().map(|(case, check)| ends(case, &check.judged_by(), alpha));
    let alone = alone.collect::<Result<Vec<Option<(f64, f64)>>, Error>>()?;
    let timed = |place: &usize| alone[*place].is_some() && !checks[*place].1.is_counted;
    let mut open: Vec<usize> = (0..checks.len()).filter(timed).collect();
    let mut together = alone.clone();
    let mut shares = vec![alpha; checks.len()];
    // The end that decides a failure has it for all timed checks together, by Holm's steps
    // (Scandinavian Journal of Statistics 6, 1979), which hold however checks depend on each other.
    while !open.is_empty() {
        let share = alpha / open.len() as f64;
        let mut left = Vec::new();
        for place in &open {
            let (case, check) = &checks[*place];
            let bound = check.judged_by();
            (together[*place], shares[*place]) = (ends(case, &bound, share)?, share);
            if !together[*place].is_some_and(|ends| bound.is_broken_by(ends)) {
                left.push(*place);
            }
        }
        if left.len() == open.len() {
            break;
        }
        open = left;
    }
    for (place, (case, check)) in checks.iter_mut().enumerate() {
        match case.answer(alpha, check.judged_by().is_percent())? {
            Some(answer) => {
                let interval = alone[place].map(|alone| joined(&check.judged_by(), alone, together[place]));
                check.settle(case, &answer, interval, [shares[place], alpha]);
            }
            None => {
                let why = case.why_unmeasured().unwrap_or("it was not measured on both sides");
                check.open = Some(InconclusiveReason::NotMeasured(why.to_owned()));
            }
        }
    }
    let mut unused = Vec::new();
    for entry in acknowledged {
        let why = why_unused(cases, entry, bounds, alpha)?;
        unused.extend(why.map(|why| Acknowledgement { unused: Some(why), ..entry.clone() }));
    }
    Ok((checks.into_iter().map(|(_, check)| check).collect(), unused))
}

/// The end that decides a pass of `alone`, and the end that decides a failure of `together`.
fn joined(bound: &Bound, alone: (f64, f64), together: Option<(f64, f64)>) -> (f64, f64) {
    // An end that is not known proves no failure.
    let (low, high) = together.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    if bound.fails_above { (low, alone.1) } else { (alone.0, high) }
}
