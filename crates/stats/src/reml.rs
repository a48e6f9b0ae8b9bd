//! Restricted maximum likelihood for cells of unequal numbers of runs.
//!
//! A cell of n runs has variance cell + run / n, so unequal cells deserve unequal weights, and these need both variances.
//! With h(n) = ratio + 1 / n, where ratio = cell / run, the variances are run * h, and run has a closed form for every ratio
//! (Patterson and Thompson, Biometrika 58, 1971; profiled as in Bates and DebRoy, J. Multivar. Anal. 91, 2004). What is
//! left is a search in one dimension.

use crate::model::{Layout, NormalEquations};

/// How near to zero the variance of the largest cell's mean may come, as a share of run / n. Below a ratio of zero the
/// boots differ by less than their runs explain; balanced data then are to give exactly the analysis of variance, so zero
/// is no bound, but weights must stay finite.
const LEAST_SHARE: f64 = 1e-3;
/// From this ratio on, times the runs of a cell, the weights are equal to six digits.
const LARGEST_RATIO: f64 = 1e6;
/// Points of the first, coarse search, which cannot be caught in a local minimum.
const GRID: usize = 32;

/// The variances that the likelihood prefers, and the fit with their weights.
#[derive(Clone, Debug)]
pub(crate) struct Reml {
    /// The variance of a run, in the layout's units squared.
    pub(crate) run: f64,
    /// 1 / h of each cell.
    pub(crate) weights: Vec<f64>,
    pub(crate) equations: NormalEquations,
    /// The estimated effects of rows and columns.
    pub(crate) effects: Vec<f64>,
}

impl Reml {
    /// None when the data have no spread inside cells or no cells beyond the effects, and so cannot tell the two apart.
    pub(crate) fn of(layout: &Layout) -> Option<Reml> {
        if layout.run_df() <= 0.0 || layout.within <= 0.0 || layout.residual_df() == 0 {
            return None;
        }
        let most = layout.places.iter().map(|place| place.runs).fold(1.0, f64::max);
        let ratio = |log: f64| log.exp() - 1.0 / most;
        let (low, high) = ((LEAST_SHARE / most).ln(), LARGEST_RATIO.ln());
        let log = least(low, high, |log| Reml::at(layout, ratio(log)).1);
        Some(Reml::at(layout, ratio(log)).0)
    }

    /// The fit for one ratio, and -2 times its restricted log likelihood but for a constant.
    fn at(layout: &Layout, ratio: f64) -> (Reml, f64) {
        let weights: Vec<f64> = layout.places.iter().map(|place| 1.0 / (ratio + 1.0 / place.runs)).collect();
        let equations = NormalEquations::new(layout, &weights);
        let effects = equations.solve(&weighted_sums(layout, &weights));
        let residual = residual_squares(layout, &weights, &effects);
        let df = layout.runs - layout.rank() as f64;
        let run = (layout.within + residual) / df;
        let ln_weights: f64 = weights.iter().map(|weight| weight.ln()).sum();
        let deviance = df * run.ln() - ln_weights + equations.ln_determinant();
        (Reml { run, weights, equations, effects }, deviance)
    }
}

/// X' W y.
pub(crate) fn weighted_sums(layout: &Layout, weights: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; layout.parts.len()];
    for (place, weight) in layout.places.iter().zip(weights) {
        sums[place.row] += weight * place.mean;
        if let Some(of_column) = sums.get_mut(layout.rows() + place.column) {
            *of_column += weight * place.mean;
        }
    }
    sums
}

/// The weighted sum of squares around the fitted means.
pub(crate) fn residual_squares(layout: &Layout, weights: &[f64], effects: &[f64]) -> f64 {
    let squares = layout.places.iter().zip(weights).map(|(place, weight)| {
        let residual = place.mean - fitted(layout, effects, place.row, place.column);
        weight * residual * residual
    });
    squares.sum()
}

/// The sum of a row's and a column's effect.
pub(crate) fn fitted(layout: &Layout, effects: &[f64], row: usize, column: usize) -> f64 {
    effects[row] + effects.get(layout.rows() + column).copied().unwrap_or(0.0)
}

/// The place of the least value between `low` and `high`: the best point of a grid, then golden sections around it.
fn least(low: f64, high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let step = (high - low) / GRID as f64;
    let place = |index: usize| low + step * index as f64;
    let best = (0..=GRID)
        .map(|index| (index, value(place(index))))
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .map_or(0, |(index, _)| index);
    let (mut from, mut to) = (place(best.saturating_sub(1)), place((best + 1).min(GRID)));
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (to - golden * (to - from), from + golden * (to - from));
    let (mut at_left, mut at_right) = (value(left), value(right));
    while to - from > 1e-9 * (1.0 + from.abs()) {
        if at_left < at_right {
            (to, right, at_right) = (right, left, at_left);
            left = to - golden * (to - from);
            at_left = value(left);
        } else {
            (from, left, at_left) = (left, right, at_right);
            right = from + golden * (to - from);
            at_right = value(right);
        }
    }
    from.midpoint(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_several_minima_is_found() {
        let value = |x: f64| (x - 2.0).powi(2) - 30.0 * (-(x - 11.0).powi(2)).exp();
        let place = least(-20.0, 20.0, value);
        assert!(value(place) <= value(2.0) && (place - 2.0).abs() > 1.0 || (place - 2.0).abs() < 1e-6);
    }
}
