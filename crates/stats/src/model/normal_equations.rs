//! The normal equations of the model, and their solution.

use crate::model::layout::{CellLayout, CellPosition};
use crate::question::Design;

/// X' W X of the model with one effect per row and column of the layout, factored; W holds the
/// weights of the cells' rows.
#[derive(Clone, Debug)]
pub(crate) struct NormalEquations {
    /// Each cell, grouped by eliminated effect.
    ties: Vec<Tie>,
    rows: usize,
    is_row_eliminated: bool,
    /// The index of each effect of the shorter side among the kept; `None` for those set to zero.
    kept: Vec<Option<usize>>,
    eliminated_diagonal: Vec<f64>,
    factor: CholeskyFactor,
}

#[derive(Clone, Copy, Debug)]
struct Tie {
    eliminated: usize,
    kept: Option<usize>,
    weight: f64,
}

impl NormalEquations {
    pub(crate) fn new(layout: &CellLayout, weights: &[f64]) -> NormalEquations {
        let (rows, columns) = (layout.rows(), layout.columns());
        // A cell ties one row to one column, so the effects of the longer side are eliminated by
        // hand and only the shorter side needs a dense (Cholesky) factor: the work grows with cells
        // x shorter side, not with the cube of the whole.
        let is_row_eliminated = rows >= columns;
        let kept = effect_numbers(layout, is_row_eliminated);
        let size = kept.iter().flatten().count();
        let eliminated_count = if is_row_eliminated { rows } else { columns };
        let tie = |place: &CellPosition| {
            let (eliminated, other) =
                if is_row_eliminated { (place.row, place.column) } else { (place.column, place.row) };
            Tie { eliminated, kept: kept.get(other).copied().flatten(), weight: weights[place.row] }
        };
        let mut ties: Vec<Tie> = layout.places.iter().map(tie).collect();
        let mut eliminated_diagonal = vec![0.0; eliminated_count];
        let mut matrix = vec![0.0; size * size];
        for tie in &ties {
            eliminated_diagonal[tie.eliminated] += tie.weight;
            if let Some(other) = tie.kept {
                matrix[other * size + other] += tie.weight;
            }
        }
        ties.sort_by_key(|tie| tie.eliminated);
        for cells in ties.chunk_by(|one, next| one.eliminated == next.eliminated) {
            let diagonal = eliminated_diagonal[cells[0].eliminated];
            let kept = || cells.iter().filter_map(|cell| Some((cell.kept?, cell.weight)));
            for (one, weight) in kept() {
                for (other, of_other) in kept() {
                    matrix[one * size + other] -= weight * of_other / diagonal;
                }
            }
        }
        let factor = CholeskyFactor::decompose(matrix, size);
        NormalEquations { ties, rows, is_row_eliminated, kept, eliminated_diagonal, factor }
    }

    /// Solves for the effects of the rows and then the columns, for a right side in the same order.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (of_rows, of_columns) = right.split_at(self.rows);
        let (eliminated, other) =
            if self.is_row_eliminated { (of_rows, of_columns) } else { (of_columns, of_rows) };
        let mut reduced = vec![0.0; self.kept.iter().flatten().count()];
        for (effect, place) in other.iter().zip(&self.kept) {
            if let Some(place) = place {
                reduced[*place] = *effect;
            }
        }
        let with_diagonal = eliminated.iter().zip(&self.eliminated_diagonal);
        let shares: Vec<f64> = with_diagonal.map(|(value, diagonal)| value / diagonal).collect();
        for tie in &self.ties {
            if let Some(to) = tie.kept {
                reduced[to] -= tie.weight * shares[tie.eliminated];
            }
        }
        self.factor.solve(&mut reduced);
        let mut solved = eliminated.to_vec();
        for tie in &self.ties {
            if let Some(from) = tie.kept {
                solved[tie.eliminated] -= tie.weight * reduced[from];
            }
        }
        solved.iter_mut().zip(&self.eliminated_diagonal).for_each(|(value, diagonal)| *value /= diagonal);
        let other = self.kept.iter().map(|place| place.map_or(0.0, |place| reduced[place]));
        if self.is_row_eliminated {
            solved.extend(other);
            return solved;
        }
        other.chain(solved).collect()
    }
}

/// Numbers the effects of the shorter side, less the first in each part.
fn effect_numbers(layout: &CellLayout, is_row_eliminated: bool) -> Vec<Option<usize>> {
    let parts =
        if is_row_eliminated { &layout.parts[layout.rows()..] } else { &layout.parts[..layout.rows()] };
    let mut is_settled = vec![false; layout.part_count];
    let mut numbers = 0..;
    let number = |part: &usize| {
        // The first effect of each part is zero by convention; differences inside a part do not
        // depend on that.
        if std::mem::replace(&mut is_settled[*part], true) { numbers.next() } else { None }
    };
    parts.iter().map(number).collect()
}

// A smaller pivot, as a share of its column's diagonal, is only rounding.
const SINGULAR: f64 = 1e-9;

/// The factor of a symmetric positive definite matrix, by rows.
#[derive(Clone, Debug)]
pub(crate) struct CholeskyFactor {
    size: usize,
    lower: Vec<f64>,
    /// The first column that depends on those before it.
    pub(crate) dependent: Option<usize>,
}

impl CholeskyFactor {
    /// The factor of a matrix of `size` rows; its upper triangle is not read.
    pub(crate) fn decompose(mut matrix: Vec<f64>, size: usize) -> CholeskyFactor {
        let mut dependent = None;
        for row in 0..size {
            let largest = matrix[row * size + row];
            for column in 0..=row {
                let (before, from_row) = matrix.split_at(row * size);
                let of_column = if column < row { &before[column * size..] } else { from_row };
                let product: f64 =
                    from_row[..column].iter().zip(&of_column[..column]).map(|(one, other)| one * other).sum();
                let value = matrix[row * size + column] - product;
                matrix[row * size + column] = if column < row {
                    value / matrix[column * size + column]
                } else {
                    if value <= SINGULAR * largest {
                        dependent = dependent.or(Some(row));
                    }
                    // Rounding must not give the root of a negative number.
                    value.max(largest * f64::EPSILON).max(f64::MIN_POSITIVE).sqrt()
                };
            }
        }
        CholeskyFactor { size, lower: matrix, dependent }
    }

    pub(crate) fn solve(&self, right: &mut [f64]) {
        let size = self.size;
        for row in 0..size {
            let line = &self.lower[row * size..row * size + row];
            let known: f64 = line.iter().zip(right.iter()).map(|(one, other)| one * other).sum();
            right[row] = (right[row] - known) / self.lower[row * size + row];
        }
        for row in (0..size).rev() {
            right[row] /= self.lower[row * size + row];
            let value = right[row];
            let line = &self.lower[row * size..row * size + row];
            for (earlier, factor) in right.iter_mut().zip(line) {
                *earlier -= factor * value;
            }
        }
    }
}

/// The normal equations of a layout; `None` for a complete one, which needs none.
pub(super) fn equations(layout: &CellLayout, weights: &[f64]) -> Option<NormalEquations> {
    (!layout.is_complete()).then(|| NormalEquations::new(layout, weights))
}

/// The effects of rows and then columns, from the layout's [`equations`] with the same weights.
pub(super) fn effects(layout: &CellLayout, equations: Option<&NormalEquations>, weights: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; layout.parts.len()];
    let mut counts = vec![0.0; layout.parts.len()];
    let mut parts = vec![(0.0, 0.0); layout.part_count];
    let is_nested = layout.design == Design::Nested;
    for place in &layout.places {
        let weight = weights[place.row];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{Cells, Observation};
    use crate::question::Design;

    fn layout(conditions: usize, boots: u32, is_missing: impl Fn(usize, u32) -> bool) -> CellLayout {
        let mut runs = Vec::new();
        for condition in 0..conditions {
            for boot in 0..boots {
                if !is_missing(condition, boot) {
                    let value = (condition * 7 + boot as usize * 3) as f64;
                    runs.push(Observation { condition, boot, value });
                }
            }
        }
        CellLayout::new(&Cells::from_observations(&runs).unwrap(), Design::Crossed)
    }

    /// X' W X times the solution is the right side again, whichever side is longer.
    #[test]
    fn the_solution_solves() {
        for (conditions, boots) in [(3, 5), (5, 3), (4, 4), (1, 3), (3, 1)] {
            let layout = layout(conditions, boots, |condition, boot| condition == 1 && boot == 2);
            let weights: Vec<f64> = (1..=conditions).map(|row| 1.0 / row as f64).collect();
            let equations = NormalEquations::new(&layout, &weights);
            let product = |effects: &[f64]| {
                let mut right = vec![0.0; layout.parts.len()];
                for place in &layout.places {
                    let fitted = weights[place.row] * layout.fitted(effects, place);
                    right[place.row] += fitted;
                    right[layout.rows() + place.column] += fitted;
                }
                right
            };
            let effects: Vec<f64> = (0..layout.parts.len()).map(|effect| (effect as f64).sin()).collect();
            let right = product(&effects);
            for (again, right) in product(&equations.solve(&right)).iter().zip(&right) {
                assert!((again - right).abs() < 1e-12, "{conditions} x {boots}: {again} and {right}");
            }
        }
    }
}
