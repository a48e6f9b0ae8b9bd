//! Condition means whose boots spread unequally: each condition brings its own variance.

use crate::boots::Cell;
use crate::summary::{mean, squares};

use super::estimate::Estimate;

/// A condition's boot means and nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Welch {
    pub(crate) mean: f64,
    pub(crate) boots: usize,
    /// The standard error of the mean; none for a single boot.
    se: Option<f64>,
}

impl Welch {
    pub(crate) fn of(cells: &[Cell]) -> Welch {
        let means: Vec<f64> = cells.iter().map(|cell| cell.mean).collect();
        let (centre, boots) = (mean(&means), means.len());
        let divisor = (boots as f64 - 1.0) * boots as f64;
        let se = (boots > 1).then(|| squares(&means, centre).root_over(divisor));
        Welch { mean: centre, boots, se }
    }

    /// A combination of independent means, with the degrees of freedom of Welch (Biometrika 34, 1947) and Satterthwaite
    /// (Biometrics 2, 1946, equation 17).
    pub(crate) fn combination(terms: &[(Welch, f64)], rounding: f64) -> Estimate {
        let value = terms.iter().map(|(welch, coefficient)| coefficient * welch.mean).sum();
        let errors: Option<Vec<(f64, f64)>> = terms
            .iter()
            .map(|(welch, coefficient)| Some((coefficient.abs() * welch.se?, welch.boots as f64 - 1.0)))
            .collect();
        let Some(errors) = errors else { return Estimate::unsure(value, rounding) };
        let largest = errors.iter().map(|(se, _)| *se).fold(0.0, f64::max);
        if largest == 0.0 {
            let df = errors.iter().map(|(_, df)| *df).fold(f64::INFINITY, f64::min);
            return Estimate { value, se: 0.0, df, rounding };
        }
        let variances = errors.iter().map(|(se, df)| ((se / largest).powi(2), df));
        let (variance, spread) = variances.fold((0.0, 0.0), |(sum, spread), (variance, df)| {
            (sum + variance, spread + variance * variance / df)
        });
        Estimate { value, se: largest * variance.sqrt(), df: variance * variance / spread, rounding }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::is_close;

    fn cells(means: &[f64]) -> Vec<Cell> {
        let cell = |(boot, mean): (u32, &f64)| Cell { condition: 0, boot, runs: 1, mean: *mean, root: 0.0 };
        (0..).zip(means).map(cell).collect()
    }

    #[test]
    fn two_equal_spreads_have_all_the_degrees_of_freedom() {
        let one = Welch::of(&cells(&[1.0, 2.0, 3.0]));
        let other = Welch::of(&cells(&[11.0, 12.0, 13.0]));
        let estimate = Welch::combination(&[(other, 1.0), (one, -1.0)], 0.0);
        assert_eq!((estimate.value, estimate.df), (10.0, 4.0));
        assert!(is_close(estimate.se, (2.0_f64 / 3.0).sqrt(), 1e-15));
        // Only one of them spreads.
        let flat = Welch::of(&cells(&[5.0, 5.0, 5.0, 5.0]));
        assert_eq!(Welch::combination(&[(flat, 1.0), (one, -1.0)], 0.0).df, 2.0);
    }

    #[test]
    fn one_boot_leaves_the_error_unknown() {
        let (one, other) = (Welch::of(&cells(&[1.0])), Welch::of(&cells(&[3.0, 4.0])));
        let estimate = Welch::combination(&[(one, 1.0), (other, -1.0)], 0.0);
        assert_eq!((estimate.value, estimate.is_sure()), (-2.5, false));
        assert_eq!(estimate.interval(0.05), None);
    }
}
