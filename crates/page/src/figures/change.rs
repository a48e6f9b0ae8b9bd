//! A change that a design credits, as it is drawn.

use chart::{Finite, Interval};
use report::Credit;
use stats::effects::Estimated;

/// The context of a credit: its workload and the levels of the other factors.
pub(super) fn place(credit: &Credit) -> String {
    let parts = [credit.workload.as_str(), credit.at.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A change in % with its interval; a count without noise needs none. `None` where there is no
/// percentage, or too few boots for an interval.
pub(super) fn percentage(credit: &Credit, change: &Estimated) -> Option<Interval> {
    let estimate = change.relative?;
    let exact = credit.exact.then_some((estimate, estimate));
    let (low, high) = change.relative_interval.or(exact)?;
    Some(Interval { estimate: Finite::new(estimate)?, low: Finite::new(low), high: Finite::new(high) })
}

pub(super) fn proven(credit: &Credit, change: &Estimated) -> &'static str {
    match (credit.is_proven(change), change.value > 0.0, change.interval.is_some() || credit.exact) {
        (true, true, _) => "higher",
        (true, false, _) => "lower",
        (false, _, true) => "no difference proven",
        (false, _, false) => "too few boots for an interval",
    }
}
