//! Plans that may stop early.

use crate::sequential::{Schedule, crossings};

/// The number of boots to be expected if the true difference is `drift` times its standard error at
/// the last look, each look tested at `alpha` overall: by the normal distribution, so a little less
/// than with the few boots of a t-adjusted design. `None` where the schedule has no looks or
/// `drift` is not finite.
pub fn expected_boots(schedule: Schedule, alpha: f64, drift: f64) -> Option<f64> {
    let fractions = schedule.fractions();
    let stops = crossings(&fractions, &schedule.bounds.z(&fractions, alpha), drift);
    let last = f64::from(schedule.boots);
    let spared: f64 =
        stops.iter().zip(schedule.after()).map(|(stop, boots)| stop * (last - f64::from(boots))).sum();
    (!stops.is_empty()).then_some(last - spared)
}
