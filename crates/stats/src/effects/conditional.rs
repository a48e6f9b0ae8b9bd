//! The effect of one switch given the level of another.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::effects::{DesignMatrix, EffectsError, Estimated, Estimator};
use crate::observed::Observation;

/// The effect of switching a factor on, with another factor on and with it off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionalEffect {
    /// The index of the other factor.
    pub other: usize,
    /// The change with the other factor off, then with it on; percentages are of the factor off.
    pub on: [Estimated; 2],
    /// The reverse changes; percentages are of the factor on.
    pub off: [Estimated; 2],
    /// The change with the other factor on less that with it off, in % of the mean of all states
    /// that are compared: twice the interaction effect of [`super::Effect`].
    pub interaction: Estimated,
    /// The conditions that are compared with the other factor off, then with it on.
    pub conditions: [Vec<usize>; 2],
}

/// The effect of `factor` (off is level 0, on is level 1) given the level of each other factor of
/// `layout`, with intervals of confidence `level`.
///
/// Each is the mean over the states of all remaining factors in which the four combinations of both
/// factors were measured, with equal weight, so that both levels are compared over the same states.
/// A factor without such a state is left out: its kernel refuses one of the combinations, or it was
/// not measured.
///
/// # Errors
/// [`EffectsError`] for conditions without levels of their own, and conditions that no boot
/// measured together.
pub fn effects_given(
    observations: &[Observation],
    layout: &DesignMatrix,
    factor: usize,
    level: f64,
) -> Result<Vec<ConditionalEffect>, EffectsError> {
    let estimator = Estimator::new(observations, level)?;
    let states = layout.states(estimator.fit.conditions())?;
    let others = (0..layout.factors.len()).filter(|other| *other != factor);
    let found = others.filter_map(|other| {
        let squares = squares(&states, factor, other);
        (!squares.is_empty()).then(|| of_squares(&estimator, layout, factor, other, &squares))
    });
    found.collect()
}

/// The conditions of one state of the remaining factors: by the level of the other factor, then by
/// that of the factor.
type Square = [[usize; 2]; 2];

fn squares(states: &BTreeMap<&[bool], usize>, factor: usize, other: usize) -> Vec<Square> {
    let of_state = |levels: &[bool]| -> Option<Square> {
        let condition = |of_other: bool, of_factor: bool| {
            let mut levels = levels.to_vec();
            (levels[factor], levels[other]) = (of_factor, of_other);
            states.get(levels.as_slice()).copied()
        };
        Some([
            [condition(false, false)?, condition(false, true)?],
            [condition(true, false)?, condition(true, true)?],
        ])
    };
    let corners = states.keys().filter(|levels| !levels[factor] && !levels[other]);
    corners.filter_map(|levels| of_state(levels)).collect()
}

fn of_squares(
    estimator: &Estimator,
    layout: &DesignMatrix,
    factor: usize,
    other: usize,
    squares: &[Square],
) -> Result<ConditionalEffect, EffectsError> {
    let share = 1.0 / squares.len() as f64;
    let mean = |of_other: usize, of_factor: usize, scale: f64| -> Vec<(usize, f64)> {
        squares.iter().map(|square| (square[of_other][of_factor], scale * share)).collect()
    };
    let what = || format!("the effect of {} by {}", layout.factors[factor], layout.factors[other]);
    let change = |of_other: usize, to: usize| {
        let terms = [mean(of_other, to, 1.0), mean(of_other, 1 - to, -1.0)].concat();
        estimator.estimate(&terms, &mean(of_other, 1 - to, 1.0), what).map(Estimated::of_non_negative)
    };
    let interaction = [mean(1, 1, 1.0), mean(1, 0, -1.0), mean(0, 1, -1.0), mean(0, 0, 1.0)].concat();
    let all = [mean(1, 1, 0.25), mean(1, 0, 0.25), mean(0, 1, 0.25), mean(0, 0, 0.25)].concat();
    Ok(ConditionalEffect {
        other,
        on: [change(0, 1)?, change(1, 1)?],
        off: [change(0, 0)?, change(1, 0)?],
        interaction: estimator.estimate(&interaction, &all, what)?,
        conditions: [0, 1].map(|of_other| squares.iter().flat_map(|square| square[of_other]).collect()),
    })
}
