//! The normal equations of the model, and their solution.

use super::cholesky::Factor;
use super::layout::Layout;

/// X' X of the model with one effect per row and column of the layout, factored.
///
/// A cell ties one row to one column, so the effects of the longer side are eliminated by hand and
/// only the shorter side needs a dense (Cholesky) factor: the work grows with cells x shorter side,
/// not with the cube of the whole. The first effect of the shorter side in each part is zero by
/// convention; differences inside a part do not depend on that.
#[derive(Clone, Debug)]
pub(crate) struct NormalEquations {
    /// Each cell's eliminated and kept effect, grouped by eliminated effect.
    ties: Vec<(usize, Option<usize>)>,
    rows: usize,
    is_row_eliminated: bool,
    /// The index of each effect of the shorter side among the kept; `None` for those set to zero.
    kept: Vec<Option<usize>>,
    eliminated_diagonal: Vec<f64>,
    factor: Factor,
}

impl NormalEquations {
    pub(crate) fn new(layout: &Layout) -> NormalEquations {
        let (rows, columns) = (layout.rows(), layout.columns());
        let is_row_eliminated = rows >= columns;
        let kept = kept(layout, is_row_eliminated);
        let size = kept.iter().flatten().count();
        let eliminated_count = if is_row_eliminated { rows } else { columns };
        let mut ties: Vec<(usize, Option<usize>)> = layout
            .places
            .iter()
            .map(|place| {
                let (eliminated, other) =
                    if is_row_eliminated { (place.row, place.column) } else { (place.column, place.row) };
                (eliminated, kept.get(other).copied().flatten())
            })
            .collect();
        let mut eliminated_diagonal = vec![0.0; eliminated_count];
        let mut matrix = vec![0.0; size * size];
        for (eliminated, other) in &ties {
            eliminated_diagonal[*eliminated] += 1.0;
            if let Some(other) = other {
                matrix[other * size + other] += 1.0;
            }
        }
        ties.sort_by_key(|tie| tie.0);
        for cells in ties.chunk_by(|one, next| one.0 == next.0) {
            let diagonal = eliminated_diagonal[cells[0].0];
            for one in cells.iter().filter_map(|cell| cell.1) {
                for other in cells.iter().filter_map(|cell| cell.1) {
                    matrix[one * size + other] -= 1.0 / diagonal;
                }
            }
        }
        let factor = Factor::of(matrix, size);
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
        let shares: Vec<f64> = eliminated
            .iter()
            .zip(&self.eliminated_diagonal)
            .map(|(value, diagonal)| value / diagonal)
            .collect();
        for (from, to) in &self.ties {
            if let Some(to) = to {
                reduced[*to] -= shares[*from];
            }
        }
        self.factor.solve(&mut reduced);
        let mut solved = eliminated.to_vec();
        for (to, from) in &self.ties {
            if let Some(from) = from {
                solved[*to] -= reduced[*from];
            }
        }
        for (value, diagonal) in solved.iter_mut().zip(&self.eliminated_diagonal) {
            *value /= diagonal;
        }
        let other = self.kept.iter().map(|place| place.map_or(0.0, |place| reduced[place]));
        if self.is_row_eliminated {
            solved.extend(other);
            return solved;
        }
        other.chain(solved).collect()
    }
}

/// Numbers the effects of the shorter side, less the first in each part.
fn kept(layout: &Layout, is_row_eliminated: bool) -> Vec<Option<usize>> {
    let parts =
        if is_row_eliminated { &layout.parts[layout.rows()..] } else { &layout.parts[..layout.rows()] };
    let mut is_settled = vec![false; layout.part_count];
    let mut next = 0;
    parts
        .iter()
        .map(|part| {
            if !std::mem::replace(&mut is_settled[*part], true) {
                return None;
            }
            next += 1;
            Some(next - 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{Cells, Observation};
    use crate::question::Design;

    fn layout(conditions: usize, boots: u32, is_missing: impl Fn(usize, u32) -> bool) -> Layout {
        let mut runs = Vec::new();
        for condition in 0..conditions {
            for boot in 0..boots {
                if !is_missing(condition, boot) {
                    let value = (condition * 7 + boot as usize * 3) as f64;
                    runs.push(Observation { condition, boot, value });
                }
            }
        }
        Layout::of(&Cells::of(&runs).unwrap(), Design::Crossed)
    }

    /// X' X times the solution is the right side again, whichever side is longer.
    #[test]
    fn the_solution_solves() {
        for (conditions, boots) in [(3, 5), (5, 3), (4, 4), (1, 3), (3, 1)] {
            let layout = layout(conditions, boots, |condition, boot| condition == 1 && boot == 2);
            let equations = NormalEquations::new(&layout);
            let product = |effects: &[f64]| {
                let mut right = vec![0.0; layout.parts.len()];
                for place in &layout.places {
                    let fitted = layout.fitted(effects, place);
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
