//! The spread of each condition's cells: their residuals.

use crate::model::layout::CellLayout;
use crate::model::normal_equations::{effects, equations};
use crate::model::spread::{Common, Spread};
use crate::question::Design;

// Three conditions in a boot share a half; with fewer, the spreads can hardly be separated.
const MOST_SHARED: f64 = 0.5;
// The passes in which residuals are computed with the weights from the last pass: with equal
// weights quiet conditions look noisy beside noisy ones.
const PASSES: usize = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct ConditionSpread {
    pub(super) spread: Spread,
    /// The square of the correlation of two estimates is the product of these: h / (1 - h) for a
    /// condition with the share h in the effects of its boots, so 1 / (a - 1) for `a` conditions of
    /// equal weights; 0 where nested.
    pub(super) shared: f64,
    pub(super) cells: f64,
}

/// Each row's variance from its residuals, and the variances' common part. `left` are the residuals
/// with equal weights.
pub(super) fn rows(layout: &CellLayout, left: Vec<f64>) -> (Vec<ConditionSpread>, Option<Common>) {
    let first = row_sums(layout, &left, &vec![1.0; layout.rows()]);
    let mut rows = condition_spreads(layout, &first);
    // Two conditions alone in their boots have the same residuals except for the sign: they
    // are one estimate.
    let is_one =
        |part: usize| rows.iter().zip(&layout.parts).any(|(row, of)| *of == part && row.shared > MOST_SHARED);
    let are_one: Vec<bool> = (0..layout.part_count).map(is_one).collect();
    for _ in 0..PASSES {
        let spreads: Vec<Spread> = rows.iter().map(|row| row.spread).collect();
        let Some(weights) = weights(layout, &spreads) else { break };
        let effects = effects(layout, equations(layout, &weights).as_ref(), &weights);
        rows = condition_spreads(layout, &row_sums(layout, &layout.residuals(&effects), &weights));
    }
    let each = rows.iter().zip(&layout.parts).filter(|(_, part)| !are_one[**part]).map(|(row, _)| row.spread);
    let whole = are_one.iter().enumerate().filter(|(_, is_one)| **is_one);
    let whole = whole.map(|(part, _)| spread_of_part(layout, &first, part));
    let common = Common::from_estimates(each.chain(whole));
    (rows, common)
}

fn row_sums(layout: &CellLayout, left: &[f64], weights: &[f64]) -> Vec<RowSums> {
    // The sum of the weights of each boot's cells; none where nested.
    let mut on_columns = vec![0.0; layout.columns()];
    if !on_columns.is_empty() {
        layout.places.iter().for_each(|place| on_columns[place.column] += weights[place.row]);
    }
    let mut rows = vec![RowSums::default(); layout.rows()];
    for (place, left) in layout.places.iter().zip(left) {
        let share = on_columns.get(place.column).map_or(0.0, |all| weights[place.row] / all);
        rows[place.row].add(*left, share);
    }
    let scale = layout.residual_df() as f64 / rows.iter().map(RowSums::df).sum::<f64>();
    rows.iter_mut().for_each(|row| row.scale = scale);
    rows
}

fn condition_spreads(layout: &CellLayout, rows: &[RowSums]) -> Vec<ConditionSpread> {
    // The variance of a boot's effect, from the mixed variances.
    let mut of_boots = vec![0.0; layout.part_count];
    for (sum, part) in rows.iter().zip(&layout.parts) {
        of_boots[*part] += sum.share().powi(2) * sum.mixed();
    }
    let spread = |(sum, part): (&RowSums, &usize)| ConditionSpread {
        spread: sum.spread(of_boots[*part]),
        shared: sum.shared(),
        cells: sum.cells,
    };
    rows.iter().zip(&layout.parts).map(spread).collect()
}

fn spread_of_part(layout: &CellLayout, rows: &[RowSums], part: usize) -> Spread {
    let of_it = rows.iter().zip(&layout.parts).filter(|(_, of)| **of == part);
    let (squares, df) =
        of_it.fold((0.0, 0.0), |(squares, df), (sum, _)| (squares + sum.squares, df + sum.df() * sum.scale));
    Spread { variance: squares / df, df }
}

#[derive(Clone, Copy, Debug, Default)]
struct RowSums {
    cells: f64,
    /// Cells in boots that measured other conditions too; nested: all.
    told: f64,
    squares: f64,
    /// The sum of the cells' shares in the effects of their boots.
    shares: f64,
    /// In incomplete layouts the shares are those of a complete one, scaled to the known total.
    scale: f64,
}

impl RowSums {
    /// Adds the residual of a cell with a share in the effect of its boot; 0: nested.
    fn add(&mut self, left: f64, share: f64) {
        self.cells += 1.0;
        // Alone in its boot.
        if share == 1.0 {
            return;
        }
        self.told += 1.0;
        self.squares += left * left;
        self.shares += share;
    }

    fn df(&self) -> f64 {
        if self.told > 0.0 { (self.told - self.shares) * (1.0 - 1.0 / self.told) } else { 0.0 }
    }

    fn share(&self) -> f64 {
        if self.told > 0.0 { self.shares / self.told } else { 0.0 }
    }

    fn shared(&self) -> f64 {
        self.share() / (1.0 - self.share())
    }

    /// The mean square of the residuals, which include some of the others' spread.
    fn mixed(&self) -> f64 {
        if self.told >= 2.0 && self.scale > 0.0 { self.squares / (self.df() * self.scale) } else { 0.0 }
    }

    /// `of_boot` is the variance of the effect of a boot.
    fn spread(&self, of_boot: f64) -> Spread {
        if self.told == 0.0 {
            return Spread::NONE;
        }
        // No scale: there are as many effects as cells.
        if self.told < 2.0 || self.scale <= 0.0 {
            return Spread::UNKNOWN;
        }
        let mixed = self.mixed();
        // A cell's residual includes the others' spread, by their share in its boot's effect. That
        // is subtracted where it made the variance too small, so that a noisy condition is not
        // hidden by quiet ones: E mixed = (1 - shared) own + of_boot / (1 - share).
        let own = (mixed - of_boot / (1.0 - self.share())) / (1.0 - self.shared());
        let variance = if self.shared() <= MOST_SHARED { mixed.max(own) } else { mixed };
        Spread { variance, df: self.told - 1.0 }
    }
}

// The weights of conditions in the effects of the boots that they share.
//
// The effect of a boot on all conditions is estimated from all of them. With equal weights the
// residuals of each condition include 1 / conditions of the others' mean variance, so that a few
// noisy conditions make all quiet ones look noisy. The best weights are inverse variances. These
// are estimated from the same few boots, and a condition that looks quiet by chance must not get
// most of the weight: so each is moderated towards their median, by fixed degrees of freedom.

// The degrees of freedom of the median in each variance. With 4 families of three conditions err
// in up to 6.1 % of studies instead of 5.2, and few more differences are found (simulated as in
// `bench verdict --families`).
const OF_MEDIAN: f64 = 8.0;
// The residuals of two conditions are equal except for the sign.
const FEWEST: usize = 3;
// The least weight beside the largest, so that the equations can be solved.
const LEAST: f64 = 1e-9;

/// Weights of a layout's rows by their estimated variances. `None` if all weights are equal.
fn weights(layout: &CellLayout, spreads: &[Spread]) -> Option<Vec<f64>> {
    if layout.design == Design::Nested {
        return None;
    }
    let mut weights = vec![1.0; layout.rows()];
    let mut are_equal = true;
    for part in 0..layout.part_count {
        let rows: Vec<usize> = (0..layout.rows()).filter(|row| layout.parts[*row] == part).collect();
        let of_rows: Vec<Spread> = rows.iter().map(|row| spreads[*row]).collect();
        if let Some(of_part) = weights_of_part(&of_rows) {
            rows.iter().zip(of_part).for_each(|(row, weight)| weights[*row] = weight);
            are_equal = false;
        }
    }
    (!are_equal).then_some(weights)
}

/// The weights of rows that share boots. `None` for few of them, or if half of them do not vary.
fn weights_of_part(spreads: &[Spread]) -> Option<Vec<f64>> {
    let mut variances: Vec<f64> =
        spreads.iter().filter(|one| one.is_estimated()).map(|one| one.variance).collect();
    variances.sort_by(f64::total_cmp);
    let median = *variances.get(variances.len() / 2).filter(|_| variances.len() >= FEWEST)?;
    if median <= 0.0 {
        return None;
    }
    let inverse = |one: &Spread| {
        let df = if one.is_estimated() { one.df } else { 0.0 };
        (df + OF_MEDIAN) / (df * one.variance / median + OF_MEDIAN)
    };
    let weights: Vec<f64> = spreads.iter().map(inverse).collect();
    let all: f64 = weights.iter().sum();
    let least = LEAST * weights.iter().copied().fold(0.0, f64::max);
    // No condition counts more than all others together: two quiet ones among noisy ones are then
    // compared by the differences inside their boots.
    Some(weights.into_iter().map(|weight| weight.min(all - weight).max(least)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::is_close;

    fn weights(variances: &[f64], df: f64) -> Option<Vec<f64>> {
        weights_of_part(
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
        assert_eq!(weights_of_part(&unknown), None);
    }
}
