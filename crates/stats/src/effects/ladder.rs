//! A ladder: conditions in sequence, and the gain of each step.

use serde::Serialize;

use super::EffectsError;
use super::estimated::{Estimated, Estimator};
use crate::observed::Observation;
use crate::question::Design;

/// A note for readers of a ladder.
pub const REMARK: &str = "a step's credit depends on its place: on another rung the same change may bring more or less; Shapley shares \
     average over the places";

/// The steps of a ladder. They add up to the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ladder {
    /// The steps from each rung to the next.
    pub steps: Vec<Step>,
    /// The change from the first rung to the last; percentages are of the first.
    pub total: Estimated,
    /// The change from the last rung to the first: the total with the other sign; percentages are
    /// of the last.
    pub back: Estimated,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The condition below.
    pub from: usize,
    /// The condition above.
    pub to: usize,
    /// The mean above less the mean below; percentages are of the mean below.
    pub change: Estimated,
}

/// The steps between `rungs` (conditions), with intervals of confidence `level`. `design`: `None`
/// detects it from the data.
///
/// # Errors
/// [`EffectsError`] for fewer than two rungs, a rung without runs, a value that is not finite, or
/// an invalid level.
pub fn ladder(
    observations: &[Observation],
    rungs: &[usize],
    design: Option<Design>,
    level: f64,
) -> Result<Ladder, EffectsError> {
    let (Some(first), Some(last), true) = (rungs.first(), rungs.last(), rungs.len() > 1) else {
        return Err(EffectsError::ShortLadder(rungs.len()));
    };
    let estimator = Estimator::new(observations, design, level)?;
    if let Some(condition) = rungs.iter().find(|rung| !estimator.is_measured(**rung)) {
        return Err(EffectsError::Unmeasured(*condition));
    }
    let change = |from: usize, to: usize| {
        // A step to the same condition is no change; its condition counts once.
        let terms = if from == to { [(to, 0.0), (from, 0.0)] } else { [(to, 1.0), (from, -1.0)] };
        estimator.estimate(&terms, &[(from, 1.0)], || format!("the step from condition {from} to {to}"))
    };
    let step = |pair: &[usize]| Ok(Step { from: pair[0], to: pair[1], change: change(pair[0], pair[1])? });
    let steps = rungs.windows(2).map(step).collect::<Result<Vec<Step>, EffectsError>>()?;
    Ok(Ladder { steps, total: change(*first, *last)?, back: change(*last, *first)? })
}
