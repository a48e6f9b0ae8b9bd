//! The effects of conditions and boots, by weighted least squares.

use super::layout::Layout;
use super::normal_equations::NormalEquations;
use super::weights::Weights;
use crate::question::Design;

/// The normal equations of a layout; `None` for a complete one, which needs none.
pub(super) fn equations(layout: &Layout, weights: &Weights) -> Option<NormalEquations> {
    (!layout.is_complete()).then(|| NormalEquations::new(layout, weights))
}

/// The effects of rows and then columns, from the layout's [`equations`] with the same weights.
pub(super) fn effects(layout: &Layout, equations: Option<&NormalEquations>, weights: &Weights) -> Vec<f64> {
    let mut sums = vec![0.0; layout.parts.len()];
    let mut counts = vec![0.0; layout.parts.len()];
    let mut parts = vec![(0.0, 0.0); layout.part_count];
    let is_nested = layout.design == Design::Nested;
    for place in &layout.places {
        let weight = weights.of_row(place.row);
        let column = (!is_nested).then_some(layout.rows() + place.column);
        for effect in [Some(place.row), column].into_iter().flatten() {
            sums[effect] += weight * place.mean;
            counts[effect] += weight;
        }
        let part = &mut parts[layout.parts[place.row]];
        *part = (part.0 + weight * place.mean, part.1 + weight);
    }
    if let Some(equations) = equations {
        return equations.solve(&sums);
    }
    // The columns' effects are around the mean of their part.
    let effect = |(effect, (sum, count)): (usize, (&f64, &f64))| {
        let (all, cells) = parts[layout.parts[effect]];
        sum / count - if effect < layout.rows() { 0.0 } else { all / cells }
    };
    sums.iter().zip(&counts).enumerate().map(effect).collect()
}
