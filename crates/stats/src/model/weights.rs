//! The weights of conditions in the effects of the boots that they share.
//!
//! The effect of a boot on all conditions is estimated from all of them. With equal weights the
//! residuals of each condition include 1 / conditions of the others' mean variance, so that a few
//! noisy conditions make all quiet ones look noisy. The best weights are inverse variances. These
//! are estimated from the same few boots, and a condition that looks quiet by chance must not get
//! most of the weight: so each is moderated towards their median, by fixed degrees of freedom.

use super::layout::Layout;
use super::spread::Spread;
use crate::question::Design;

/// A weight for each row of a layout.
#[derive(Clone, Debug)]
pub(super) struct Weights(Vec<f64>);

impl Weights {
    /// The degrees of freedom of the median in each variance. With 4 families of three conditions
    /// err in up to 6.1 % of studies instead of 5.2, and few more differences are found (simulated
    /// as in `bench verdict --families`).
    const OF_MEDIAN: f64 = 8.0;
    /// The residuals of two conditions are equal except for the sign.
    const FEWEST: usize = 3;
    /// The least weight beside the largest, so that the equations can be solved.
    const LEAST: f64 = 1e-9;

    pub(super) fn equal(layout: &Layout) -> Weights {
        Weights(vec![1.0; layout.rows()])
    }

    /// Weights by the estimated variances of the rows. `None` if all weights are equal.
    pub(super) fn of_spreads(layout: &Layout, spreads: &[Spread]) -> Option<Weights> {
        if layout.design == Design::Nested {
            return None;
        }
        let mut weights = Weights::equal(layout);
        let mut are_equal = true;
        for part in 0..layout.part_count {
            let rows: Vec<usize> = (0..layout.rows()).filter(|row| layout.parts[*row] == part).collect();
            let of_rows: Vec<Spread> = rows.iter().map(|row| spreads[*row]).collect();
            if let Some(of_part) = Weights::of_part(&of_rows) {
                rows.iter().zip(of_part).for_each(|(row, weight)| weights.0[*row] = weight);
                are_equal = false;
            }
        }
        (!are_equal).then_some(weights)
    }

    /// The weights of rows that share boots. `None` for few of them, or if half of them do not
    /// vary.
    fn of_part(spreads: &[Spread]) -> Option<Vec<f64>> {
        let mut variances: Vec<f64> =
            spreads.iter().filter(|one| one.is_estimated()).map(|one| one.variance).collect();
        if variances.len() < Weights::FEWEST {
            return None;
        }
        variances.sort_by(f64::total_cmp);
        let median = variances[variances.len() / 2];
        if median <= 0.0 {
            return None;
        }
        let inverse = |one: &Spread| {
            let df = if one.is_estimated() { one.df } else { 0.0 };
            (df + Weights::OF_MEDIAN) / (df * one.variance / median + Weights::OF_MEDIAN)
        };
        let weights: Vec<f64> = spreads.iter().map(inverse).collect();
        let all: f64 = weights.iter().sum();
        let least = Weights::LEAST * weights.iter().copied().fold(0.0, f64::max);
        // No condition counts more than all others together: two quiet ones among noisy ones are
        // then compared by the differences inside their boots.
        Some(weights.into_iter().map(|weight| weight.min(all - weight).max(least)).collect())
    }

    pub(super) fn of_row(&self, row: usize) -> f64 {
        self.0[row]
    }

    /// The sum of the weights of each boot's cells; none where nested.
    pub(super) fn on_columns(&self, layout: &Layout) -> Vec<f64> {
        let mut sums = vec![0.0; layout.columns()];
        if !sums.is_empty() {
            layout.places.iter().for_each(|place| sums[place.column] += self.of_row(place.row));
        }
        sums
    }
}

#[cfg(test)]
impl From<Vec<f64>> for Weights {
    fn from(weights: Vec<f64>) -> Weights {
        Weights(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::is_close;

    fn weights(variances: &[f64], df: f64) -> Option<Vec<f64>> {
        Weights::of_part(
            &variances.iter().map(|variance| Spread { variance: *variance, df }).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn equal_variances_weigh_equally_and_noisy_ones_little() {
        assert_eq!(weights(&[2.0; 5], 4.0), Some(vec![1.0; 5]));
        let found = weights(&[1.0, 1.0, 100.0, 1.0], 16.0).unwrap();
        // (16 + 8) / (16 * 100 + 8).
        assert!(is_close(found[2], 24.0 / 1608.0, 1e-12) && is_close(found[0], 1.0, 1e-12), "{found:?}");
    }

    #[test]
    fn few_boots_do_not_make_a_condition_count_for_many() {
        let largest = |df| weights(&[1e-9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], df).unwrap()[0];
        assert!(is_close(largest(2.0), 10.0 / 8.0, 1e-6));
        // All others together.
        assert!(is_close(largest(1000.0), 6.0, 1e-6));
    }

    #[test]
    fn two_quiet_conditions_beside_a_noisy_one_are_a_pair() {
        let found = weights(&[1.0, 1.0, 1e12], 19.0).unwrap();
        assert!(is_close(found[0], found[1], 1e-6) && found[2] < 1e-6 * found[0], "{found:?}");
    }

    #[test]
    fn two_conditions_and_constant_ones_have_no_weights() {
        assert_eq!(weights(&[1.0, 5.0], 4.0), None);
        assert_eq!(weights(&[0.0, 0.0, 1.0], 4.0), None);
        let unknown = [Spread::UNKNOWN, Spread::NONE, Spread { variance: 1.0, df: 4.0 }];
        assert_eq!(Weights::of_part(&unknown), None);
    }
}
