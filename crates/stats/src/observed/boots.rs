//! Runs gathered into cells: one condition in one boot, the unit of replication.

use serde::{Deserialize, Serialize};

use super::summary::{mean, median_of_sorted, squares};
use crate::error::{StatsError, require_finite};

/// One recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The condition's index in the plan.
    pub condition: usize,
    /// The planned boot. Both parts of a resumed boot have the same number: they are one unit.
    /// Conditions that were measured in the same boot share its number; separate boots have
    /// different numbers.
    pub boot: u32,
    /// The value, in the metric's unit.
    pub value: f64,
}

/// The runs of one condition in one boot, reduced for inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) condition: usize,
    pub(crate) boot: u32,
    pub(crate) runs: usize,
    pub(crate) mean: f64,
    /// The root of the sum of squares around the mean; squares of large values would overflow.
    pub(crate) root: f64,
}

/// All cells, ordered by condition and then by boot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cells(Vec<Cell>);

impl Cells {
    /// Gathers `observations`, in any order.
    ///
    /// # Errors
    /// [`StatsError::NotFinite`], which names the value's place.
    pub(crate) fn from_observations(observations: &[Observation]) -> Result<Cells, StatsError> {
        require_finite(observations.iter().map(|observation| observation.value))?;
        Ok(Cells::gathered(observations, |values| {
            let mean = mean(values);
            (values.len(), mean, squares(values, mean).root_over(1.0))
        }))
    }

    /// The medians of the cells' runs, each cell as one run. All values must be finite.
    pub(crate) fn medians(observations: &[Observation]) -> Cells {
        Cells::gathered(observations, |sorted| (1, median_of_sorted(sorted), 0.0))
    }

    /// Gathers cells, with the runs, mean and root that `reduce` computes from ascending values.
    fn gathered(observations: &[Observation], reduce: impl Fn(&[f64]) -> (usize, f64, f64)) -> Cells {
        let mut sorted = observations.to_vec();
        // By value too, so that the order of the runs does not change the last digit.
        sorted.sort_unstable_by(|one, other| {
            let place = |run: &Observation| (run.condition, run.boot);
            place(one).cmp(&place(other)).then_with(|| one.value.total_cmp(&other.value))
        });
        let mut values = Vec::new();
        let cells = sorted.chunk_by(|one, next| (one.condition, one.boot) == (next.condition, next.boot));
        let cell = |own: &[Observation]| {
            values.clear();
            values.extend(own.iter().map(|run| run.value));
            let (runs, mean, root) = reduce(&values);
            Cell { condition: own[0].condition, boot: own[0].boot, runs, mean, root }
        };
        Cells(cells.map(cell).collect())
    }

    /// The logarithms of the cells' means, each cell as one run; of conditions with all cells above
    /// zero.
    pub(crate) fn logarithms(&self) -> Cells {
        let above_zero = self.conditions().filter(|cells| cells.iter().all(|cell| cell.mean > 0.0));
        let logarithm = |cell: &Cell| Cell { mean: cell.mean.ln(), runs: 1, root: 0.0, ..*cell };
        Cells(above_zero.flatten().map(logarithm).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.0.iter()
    }

    /// The cells of each condition that was measured, in order.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &[Cell]> {
        self.0.chunk_by(|one, next| one.condition == next.condition)
    }

    pub(crate) fn up_to(&self, boot: u32) -> Cells {
        Cells(self.0.iter().filter(|cell| cell.boot <= boot).copied().collect())
    }

    /// A condition's cells, in the order of the boots; empty if it was not measured.
    pub(crate) fn condition(&self, condition: usize) -> &[Cell] {
        let start = self.0.partition_point(|cell| cell.condition < condition);
        let end = self.0.partition_point(|cell| cell.condition <= condition);
        &self.0[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(condition: usize, boot: u32, value: f64) -> Observation {
        Observation { condition, boot, value }
    }

    #[test]
    fn parts_of_a_boot_are_one_unit() {
        let cells =
            Cells::from_observations(&[run(2, 1, 2.0), run(0, 1, 5.0), run(2, 3, 7.0), run(2, 1, 6.0)])
                .unwrap();
        let conditions: Vec<usize> = cells.conditions().map(|cells| cells[0].condition).collect();
        assert_eq!(conditions, [0, 2]);
        assert_eq!(
            cells.condition(2),
            [
                Cell { condition: 2, boot: 1, runs: 2, mean: 4.0, root: 8.0_f64.sqrt() },
                Cell { condition: 2, boot: 3, runs: 1, mean: 7.0, root: 0.0 }
            ]
        );
        assert_eq!(cells.condition(1), []);
        assert_eq!(cells.iter().count(), 3);
    }

    #[test]
    fn huge_means_and_huge_values_keep_their_spread() {
        let cells =
            Cells::from_observations(&[run(0, 0, 1e10 + 0.25), run(0, 0, 1e10), run(0, 0, 1e10 + 0.125)])
                .unwrap();
        let cell = cells.condition(0)[0];
        assert_eq!((cell.mean, cell.root), (1e10 + 0.125, (2.0_f64 * 0.125 * 0.125).sqrt()));
        let cells = Cells::from_observations(&[run(0, 0, 1e300), run(0, 0, -1e300)]).unwrap();
        assert_eq!(cells.condition(0)[0].root, 2.0_f64.sqrt() * 1e300);
    }

    #[test]
    fn a_value_that_is_none_is_named() {
        let error = Cells::from_observations(&[run(0, 0, 1.0), run(0, 0, f64::NAN)]).unwrap_err();
        assert!(error.to_string().starts_with("value 2 is NaN"), "{error}");
    }
}
