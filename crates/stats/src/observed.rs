//! The data: runs gathered into boots, and summaries of values.

use serde::{Deserialize, Serialize};

use crate::question::{StatsError, require_finite};

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
pub(crate) struct BootCell {
    pub(crate) condition: usize,
    pub(crate) boot: u32,
    pub(crate) runs: usize,
    pub(crate) mean: f64,
    /// The root of the sum of squares around the mean; squares of large values would overflow.
    pub(crate) root: f64,
}

pub(crate) fn in_common<'a>(
    one: &'a [BootCell],
    other: &'a [BootCell],
) -> impl Iterator<Item = (&'a BootCell, &'a BootCell)> {
    one.iter().filter_map(|cell| {
        let place = other.binary_search_by_key(&cell.boot, |other| other.boot).ok()?;
        Some((cell, &other[place]))
    })
}

/// All cells, ordered by condition and then by boot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cells(Vec<BootCell>);

impl Cells {
    /// Gathers `observations`, in any order.
    ///
    /// # Errors
    /// [`StatsError::NotFinite`], which names the value's place.
    pub(crate) fn from_observations(observations: &[Observation]) -> Result<Cells, StatsError> {
        require_finite(observations.iter().map(|observation| observation.value))?;
        Ok(Cells::gathered(observations, |values| {
            let mean = mean(values);
            (values.len(), mean, deviation(values, mean, 1.0))
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
            BootCell { condition: own[0].condition, boot: own[0].boot, runs, mean, root }
        };
        Cells(cells.map(cell).collect())
    }

    /// Each cell as one run; only of conditions with all cells above zero.
    pub(crate) fn logarithms(&self) -> Cells {
        let above_zero = self.conditions().filter(|cells| cells.iter().all(|cell| cell.mean > 0.0));
        let logarithm = |cell: &BootCell| BootCell { mean: cell.mean.ln(), runs: 1, root: 0.0, ..*cell };
        Cells(above_zero.flatten().map(logarithm).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BootCell> {
        self.0.iter()
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = &[BootCell]> {
        self.0.chunk_by(|one, next| one.condition == next.condition)
    }

    pub(crate) fn up_to(&self, boot: u32) -> Cells {
        Cells(self.0.iter().filter(|cell| cell.boot <= boot).copied().collect())
    }

    /// A condition's cells, in the order of the boots; empty if it was not measured.
    pub(crate) fn condition(&self, condition: usize) -> &[BootCell] {
        let start = self.0.partition_point(|cell| cell.condition < condition);
        let end = self.0.partition_point(|cell| cell.condition <= condition);
        &self.0[start..end]
    }
}

/// The mean, by Welford's running update (Technometrics 4, 1962), which cannot overflow as a sum
/// can, and one correction by the mean of the residuals. 0 for no values.
pub fn mean(values: &[f64]) -> f64 {
    let running = |centre: f64| {
        values.iter().zip(1_u32..).fold(0.0, |mean: f64, (value, count)| {
            // Each term is divided alone, since the difference of two large values may overflow.
            let count = f64::from(count);
            mean + ((value - centre) / count - mean / count)
        })
    };
    let first = running(0.0);
    first + running(first)
}

/// The median of at least one value: the middle one, or the mean of the two middle ones.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    sorted[(n - 1) / 2].midpoint(sorted[n / 2])
}

/// The root of the sum of squares of `values` around `centre`, over `divisor`: a standard deviation
/// for the number of values less one.
pub(crate) fn deviation(values: &[f64], centre: f64, divisor: f64) -> f64 {
    let residuals = values.iter().map(|value| value - centre);
    // In units of the largest residual no square can overflow or underflow.
    let scale = residuals.clone().fold(0.0, |most: f64, residual| most.max(residual.abs()));
    if scale == 0.0 {
        return 0.0;
    }
    // The sum of the residuals corrects for the rounding of the centre (Chan, Golub and LeVeque,
    // 1983, eq. 1.7).
    let (squares, sum, count) = residuals.fold((0.0, 0.0, 0.0), |(squares, sum, count), residual| {
        let unit = residual / scale;
        (squares + unit * unit, sum + unit, count + 1.0)
    });
    let squares: f64 = squares - sum * sum / count;
    scale * (squares.max(0.0) / divisor).sqrt()
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
                BootCell { condition: 2, boot: 1, runs: 2, mean: 4.0, root: 8.0_f64.sqrt() },
                BootCell { condition: 2, boot: 3, runs: 1, mean: 7.0, root: 0.0 }
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

#[cfg(test)]
mod values_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracles;
    use crate::oracles::is_close;

    fn sd(values: &[f64]) -> f64 {
        deviation(values, mean(values), values.len() as f64 - 1.0)
    }

    #[test]
    fn equals_exact_arithmetic() {
        for expected in &oracles::oracles().summaries {
            let (values, name) = (&expected.values, format!("{:?}…", &expected.values[..2]));
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let (median, mean, sd) = (median_of_sorted(&sorted), mean(values), sd(values));
            assert!(is_close(median, expected.median, 1e-15), "{name}: median {median}");
            assert!(is_close(mean, expected.mean, 1e-15), "{name}: mean {mean}");
            assert!(is_close(sd, expected.sd, 1e-12), "{name}: sd {sd} not {}", expected.sd);
        }
    }

    proptest! {
        #[test]
        fn order_hardly_matters_and_huge_values_have_a_mean(
            values in proptest::collection::vec(-1e300..1e300f64, 1..40),
            turn in 0..40usize,
        ) {
            let mut turned = values.clone();
            turned.rotate_left(turn % values.len());
            let range = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            prop_assert!((mean(&values) - mean(&turned)).abs() <= 1e-13 * range);
        }

        #[test]
        fn shifting_and_scaling_act_as_they_must(
            values in proptest::collection::vec(-1e3..1e3f64, 2..40),
            shift in -1e6..1e6f64,
        ) {
            let moved: Vec<f64> = values.iter().map(|value| 2.0 * value + shift).collect();
            prop_assert!((mean(&moved) - (2.0 * mean(&values) + shift)).abs() < 1e-8);
            prop_assert!((sd(&moved) - 2.0 * sd(&values)).abs() < 1e-8);
        }
    }
}
