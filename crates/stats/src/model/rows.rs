//! The spread of each condition's cells: their residuals.

use super::layout::Layout;
use super::least_squares::{effects, equations};
use super::spread::{Common, Spread};
use super::weights::Weights;

/// Three conditions in a boot share a half; with fewer, the spreads can hardly be separated.
const MOST_SHARED: f64 = 0.5;
/// The passes in which residuals are computed with the weights from the last pass: with equal
/// weights quiet conditions look noisy beside noisy ones.
const PASSES: usize = 3;

/// The spread of one condition: its cells' residuals.
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
pub(super) fn rows(layout: &Layout, left: Vec<f64>) -> (Vec<ConditionSpread>, Option<Common>) {
    let first = Sums::new(layout, &left, &Weights::equal(layout));
    let mut rows = first.rows(layout);
    // Two conditions alone in their boots have the same residuals except for the sign: they
    // are one estimate.
    let is_one =
        |part: usize| rows.iter().zip(&layout.parts).any(|(row, of)| *of == part && row.shared > MOST_SHARED);
    let are_one: Vec<bool> = (0..layout.part_count).map(is_one).collect();
    for _ in 0..PASSES {
        let spreads: Vec<Spread> = rows.iter().map(|row| row.spread).collect();
        let Some(weights) = Weights::of_spreads(layout, &spreads) else { break };
        let effects = effects(layout, equations(layout, &weights).as_ref(), &weights);
        rows = Sums::new(layout, &layout.residuals(&effects), &weights).rows(layout);
    }
    let each = rows.iter().zip(&layout.parts).filter(|(_, part)| !are_one[**part]).map(|(row, _)| row.spread);
    let whole = are_one.iter().enumerate().filter(|(_, is_one)| **is_one);
    let whole = whole.map(|(part, _)| first.of_part(layout, part));
    let common = Common::from_estimates(each.chain(whole));
    (rows, common)
}

struct Sums {
    rows: Vec<RowSums>,
    /// In incomplete layouts the shares are those of a complete one, scaled to the known total.
    scale: f64,
}

impl Sums {
    fn new(layout: &Layout, left: &[f64], weights: &Weights) -> Sums {
        let on_columns = weights.on_columns(layout);
        let mut rows = vec![RowSums::default(); layout.rows()];
        for (place, left) in layout.places.iter().zip(left) {
            let share = on_columns.get(place.column).map_or(0.0, |all| weights.of_row(place.row) / all);
            rows[place.row].add(*left, share);
        }
        let kept: f64 = rows.iter().map(RowSums::df).sum();
        Sums { rows, scale: layout.residual_df() as f64 / kept }
    }

    fn rows(&self, layout: &Layout) -> Vec<ConditionSpread> {
        // The variance of a boot's effect, from the mixed variances.
        let mut of_boots = vec![0.0; layout.part_count];
        for (row, sum) in self.rows.iter().enumerate() {
            of_boots[layout.parts[row]] += sum.share().powi(2) * sum.mixed(self.scale);
        }
        let row = |(row, sum): (usize, &RowSums)| ConditionSpread {
            spread: sum.spread(self.scale, of_boots[layout.parts[row]]),
            shared: sum.shared(),
            cells: sum.cells,
        };
        self.rows.iter().enumerate().map(row).collect()
    }

    /// The mean square of a part.
    fn of_part(&self, layout: &Layout, part: usize) -> Spread {
        let of_it = self.rows.iter().zip(&layout.parts).filter(|(_, of)| **of == part);
        let (squares, df) = of_it
            .fold((0.0, 0.0), |(squares, df), (sum, _)| (squares + sum.squares, df + sum.df() * self.scale));
        Spread { variance: squares / df, df }
    }
}

/// Sums over a row's cells.
#[derive(Clone, Copy, Debug, Default)]
struct RowSums {
    cells: f64,
    /// Cells in boots that measured other conditions too; nested: all.
    told: f64,
    squares: f64,
    /// The sum of the cells' shares in the effects of their boots.
    shares: f64,
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

    /// The degrees of freedom that cells keep.
    fn df(&self) -> f64 {
        if self.told > 0.0 { (self.told - self.shares) * (1.0 - 1.0 / self.told) } else { 0.0 }
    }

    /// The mean share in the effect of a boot.
    fn share(&self) -> f64 {
        if self.told > 0.0 { self.shares / self.told } else { 0.0 }
    }

    fn shared(&self) -> f64 {
        self.share() / (1.0 - self.share())
    }

    /// The mean square of the residuals, which include some of the others' spread.
    fn mixed(&self, scale: f64) -> f64 {
        if self.told >= 2.0 && scale > 0.0 { self.squares / (self.df() * scale) } else { 0.0 }
    }

    /// `of_boot` is the variance of the effect of a boot.
    fn spread(&self, scale: f64, of_boot: f64) -> Spread {
        if self.told == 0.0 {
            return Spread::NONE;
        }
        // No scale: there are as many effects as cells.
        if self.told < 2.0 || scale <= 0.0 {
            return Spread::UNKNOWN;
        }
        let mixed = self.mixed(scale);
        // A cell's residual includes the others' spread, by their share in its boot's effect. That
        // is subtracted where it made the variance too small, so that a noisy condition is not
        // hidden by quiet ones: E mixed = (1 - shared) own + of_boot / (1 - share).
        let own = (mixed - of_boot / (1.0 - self.share())) / (1.0 - self.shared());
        let variance = if self.shared() <= MOST_SHARED { mixed.max(own) } else { mixed };
        Spread { variance, df: self.told - 1.0 }
    }
}
