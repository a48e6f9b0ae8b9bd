//! The cells, and how conditions and boots are connected.

use std::collections::BTreeMap;

use crate::observed::{BootCell, Cells};
use crate::question::Design;

#[derive(Clone, Copy, Debug)]
pub(crate) struct CellPosition {
    pub(crate) row: usize,
    /// The boot's column; 0 in a nested design, which has no columns.
    pub(crate) column: usize,
    pub(crate) runs: f64,
    /// The mean, less the centre, in units of the scale.
    pub(crate) mean: f64,
}

/// The cells as a table of conditions (rows) and, in a crossed design, boots (columns), some of
/// them empty.
#[derive(Clone, Debug)]
pub(crate) struct CellLayout {
    pub(crate) design: Design,
    pub(crate) conditions: Vec<usize>,
    pub(crate) places: Vec<CellPosition>,
    /// The part of each row and then of each column. Boots in common connect only rows of the same
    /// part; a nested design has no such need.
    pub(crate) parts: Vec<usize>,
    pub(crate) part_count: usize,
    pub(crate) part_columns: Vec<usize>,
    /// The sum of squares of the runs around their cells' means, in units of the scale squared.
    pub(crate) within: f64,
    pub(crate) runs: f64,
    centre: f64,
    pub(crate) scale: f64,
}

impl CellLayout {
    /// The detected design: crossed if two conditions share a boot.
    pub(crate) fn recognised(cells: &Cells) -> Design {
        let mut boots: Vec<u32> = cells.iter().map(|cell| cell.boot).collect();
        boots.sort_unstable();
        if boots.windows(2).any(|pair| pair[0] == pair[1]) { Design::Crossed } else { Design::Nested }
    }

    pub(crate) fn new(cells: &Cells, design: Design) -> CellLayout {
        let conditions: Vec<usize> = cells.conditions().map(|cells| cells[0].condition).collect();
        // The boots of the columns.
        let mut columns: Vec<u32> = match design {
            Design::Nested => Vec::new(),
            Design::Crossed => cells.iter().map(|cell| cell.boot).collect(),
        };
        columns.sort_unstable();
        columns.dedup();
        // Less the centre a large common level costs no digits; in units of the scale no square
        // overflows or vanishes.
        let (centre, scale) = centre_and_scale(cells);
        let places: Vec<CellPosition> = cells
            .conditions()
            .enumerate()
            .flat_map(|(row, cells)| cells.iter().map(move |cell| (row, cell)))
            .map(|(row, cell)| CellPosition {
                row,
                column: columns.binary_search(&cell.boot).unwrap_or(0),
                runs: cell.runs as f64,
                mean: (cell.mean - centre) / scale,
            })
            .collect();
        let (parts, part_count) = match design {
            Design::Nested => ((0..conditions.len()).collect(), conditions.len()),
            Design::Crossed => parts(&places, conditions.len(), columns.len()),
        };
        let mut part_columns = vec![0; part_count];
        parts[conditions.len()..].iter().for_each(|part| part_columns[*part] += 1);
        CellLayout {
            design,
            parts,
            part_count,
            part_columns,
            within: cells.iter().map(|cell| (cell.root / scale).powi(2)).sum(),
            runs: places.iter().map(|place| place.runs).sum(),
            conditions,
            places,
            centre,
            scale,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.conditions.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.parts.len() - self.rows()
    }

    pub(crate) fn row(&self, condition: usize) -> Option<usize> {
        self.conditions.binary_search(&condition).ok()
    }

    pub(crate) fn part(&self, condition: usize) -> Option<usize> {
        self.parts.get(self.row(condition)?).copied()
    }

    pub(crate) fn residual_df(&self) -> usize {
        let rank =
            if self.design == Design::Nested { self.rows() } else { self.parts.len() - self.part_count };
        self.places.len() - rank
    }

    /// Whether every condition has a cell in each boot of its part; always true if nested.
    pub(crate) fn is_complete(&self) -> bool {
        let mut rows = vec![0; self.part_count];
        self.parts[..self.rows()].iter().for_each(|part| rows[*part] += 1);
        let cells: usize = rows.iter().zip(&self.part_columns).map(|(rows, columns)| rows * columns).sum();
        self.design == Design::Nested || cells == self.places.len()
    }

    pub(crate) fn fitted(&self, effects: &[f64], place: &CellPosition) -> f64 {
        effects[place.row] + effects.get(self.rows() + place.column).copied().unwrap_or(0.0)
    }

    pub(crate) fn residuals(&self, effects: &[f64]) -> Vec<f64> {
        self.places.iter().map(|place| place.mean - self.fitted(effects, place)).collect()
    }

    /// The mean effect of the boots of a row's part; 0 where nested.
    pub(crate) fn boot_mean(&self, effects: &[f64], row: usize) -> f64 {
        let part = self.parts[row];
        let columns = self.rows()..self.parts.len();
        let of_part: f64 =
            columns.filter(|column| self.parts[*column] == part).map(|column| effects[column]).sum();
        if of_part == 0.0 { 0.0 } else { of_part / self.part_columns[part] as f64 }
    }

    /// The sum of each row's squared weights in a combination of effects, from the equations'
    /// solution for it.
    pub(crate) fn squared_weights(&self, solved: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows()];
        self.places.iter().for_each(|place| sums[place.row] += self.fitted(solved, place).powi(2));
        sums
    }

    /// A value of the model in the metric's unit: a combination of means whose coefficients add up
    /// to `weight`.
    pub(crate) fn restored(&self, value: f64, weight: f64) -> f64 {
        value * self.scale + weight * self.centre
    }
}

/// The middle of the range of the means, and the largest deviation from it or inside a cell.
fn centre_and_scale(cells: &Cells) -> (f64, f64) {
    let extreme = |best: fn(f64, f64) -> f64| cells.iter().map(|cell| cell.mean).reduce(best).unwrap_or(0.0);
    let (low, high) = (extreme(f64::min), extreme(f64::max));
    let centre = low.midpoint(high);
    let reach = |cell: &BootCell| (cell.mean - centre).abs().max(cell.root);
    let scale = cells.iter().map(reach).fold(0.0, f64::max);
    (centre, if scale > 0.0 && scale.is_finite() { scale } else { 1.0 })
}

/// Numbers the parts of rows and columns that cells connect, and counts them.
fn parts(places: &[CellPosition], rows: usize, columns: usize) -> (Vec<usize>, usize) {
    let mut leader: Vec<usize> = (0..rows + columns).collect();
    for place in places {
        let (one, other) = (find(&mut leader, place.row), find(&mut leader, rows + place.column));
        leader[one.max(other)] = one.min(other);
    }
    let mut numbers = BTreeMap::new();
    let mut parts = Vec::with_capacity(leader.len());
    for node in 0..leader.len() {
        let next = numbers.len();
        parts.push(*numbers.entry(find(&mut leader, node)).or_insert(next));
    }
    (parts, numbers.len())
}

/// The leader of a node's part; halves the path to it.
fn find(leader: &mut [usize], mut node: usize) -> usize {
    while leader[node] != node {
        leader[node] = leader[leader[node]];
        node = leader[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::Observation;

    fn cells(places: &[(usize, u32)]) -> Cells {
        let runs: Vec<Observation> = places
            .iter()
            .enumerate()
            .map(|(value, (condition, boot))| Observation {
                condition: *condition,
                boot: *boot,
                value: value as f64,
            })
            .collect();
        Cells::from_observations(&runs).unwrap()
    }

    #[test]
    fn the_design_shows_in_the_data() {
        assert_eq!(CellLayout::recognised(&cells(&[(0, 1), (0, 2), (1, 3), (1, 4)])), Design::Nested);
        assert_eq!(CellLayout::recognised(&cells(&[(0, 1), (0, 2), (1, 2), (1, 3)])), Design::Crossed);
        assert_eq!(CellLayout::recognised(&cells(&[])), Design::Nested);
    }

    #[test]
    fn parts_that_share_no_boot_are_distinguished() {
        // 0 and 1 meet in boot 1, 1 and 2 in boot 2; 7 and 9 only in boot 5.
        let layout =
            CellLayout::new(&cells(&[(0, 1), (1, 1), (1, 2), (2, 2), (7, 5), (9, 5)]), Design::Crossed);
        assert_eq!(layout.conditions, [0, 1, 2, 7, 9]);
        assert_eq!(layout.parts, [0, 0, 0, 1, 1, 0, 0, 1]);
        assert_eq!((layout.places.len(), layout.residual_df()), (6, 0));
        assert_eq!(layout.part_columns, [2, 1]);
    }

    #[test]
    fn nested_rows_need_no_boots_in_common() {
        let layout = CellLayout::new(&cells(&[(3, 1), (3, 2), (5, 1)]), Design::Nested);
        assert_eq!(
            (layout.rows(), layout.columns(), layout.places.len(), layout.residual_df()),
            (2, 0, 3, 1)
        );
        assert_eq!((layout.row(5), layout.row(4)), (Some(1), None));
    }
}
