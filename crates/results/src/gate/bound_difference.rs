//! The difference of a check, in the unit of its bound, with the ends of its interval.

use stats::Comparison;

use crate::gate::bound::Bound;

/// The ends of the difference's interval, in the unit of the bound; `None` without an interval. For
/// counts, whose spread is not estimated, the interval is the resolution within which counts
/// repeat.
pub(crate) fn ends(bound: &Bound, comparison: &Comparison) -> Option<(f64, f64)> {
    let Some(resolution) = comparison.resolution else {
        return if bound.is_percent() { comparison.relative_interval } else { comparison.interval };
    };
    if comparison.gap.is_some() {
        return None;
    }
    let difference = difference(bound, comparison)?;
    let reach =
        if bound.is_percent() { resolution } else { resolution / 100.0 * comparison.baseline_mean.abs() };
    Some((difference - reach, difference + reach))
}

/// The difference in the unit of the bound: in % of the baseline, or in the metric's unit.
pub(crate) fn difference(bound: &Bound, comparison: &Comparison) -> Option<f64> {
    match (bound.is_percent(), comparison.relative) {
        (false, _) => Some(comparison.difference),
        // Two counts of zero.
        (true, None) if comparison.resolution.is_some() && comparison.difference == 0.0 => Some(0.0),
        (true, relative) => relative,
    }
}

/// The one-sided error rates of the two ends of an interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorShares {
    /// The rate of the end that must lie beyond the bound for a failure.
    pub(crate) fail: f64,
    /// The rate of the end that must lie within the bound for a pass.
    pub(crate) pass: f64,
}
