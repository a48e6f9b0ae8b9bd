//! The model of all conditions: least squares on the cells' means, each with one vote, and the
//! spread of each condition.

use super::estimate::Estimate;
use super::layout::Layout;
use super::least_squares::{effects, equations};
use super::normal_equations::NormalEquations;
use super::rows::{Row, rows};
use super::spread::{Common, Spread};
use super::weights::Weights;

/// The fitted model. Variances are in the layout's units squared.
#[derive(Clone, Debug)]
pub(crate) struct Additive {
    pub(crate) layout: Layout,
    /// `None` for complete layouts, which need no equations.
    equations: Option<NormalEquations>,
    /// The mean of each row over the boots of its part, less the centre.
    means: Vec<f64>,
    /// The mean square of the cells' residuals, of all conditions.
    residual: Spread,
    rows: Vec<Row>,
    boots: Vec<Boots>,
}

/// The boots of one part.
#[derive(Clone, Debug)]
struct Boots {
    /// The mean square of the estimated effects, which includes some of the cells' spread.
    square: f64,
    spread: Spread,
    count: f64,
    /// The share of each row's variance in a mean square of this part; in complete parts it is
    /// equal for all rows.
    held: Vec<(usize, f64)>,
}

/// The common effects of boots on all conditions; crossed designs only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BootSpread {
    /// The mean square of the boots' effects, in the layout's units squared.
    pub(crate) mean_square: f64,
    pub(crate) df: f64,
    /// The part of it that the spread of cells explains, as a multiple of that.
    pub(crate) error_share: f64,
}

impl Additive {
    /// `baseline`: the condition that all others are compared with.
    pub(crate) fn of(layout: Layout, baseline: Option<usize>) -> Additive {
        let weights = Weights::equal(&layout);
        let equations = equations(&layout, &weights);
        let effects = effects(&layout, equations.as_ref(), &weights);
        let left = layout.left(&effects);
        let df = layout.residual_df() as f64;
        let squares: f64 = left.iter().map(|left| left * left).sum();
        let residual = if df > 0.0 { Spread { variance: squares / df, df } } else { Spread::UNKNOWN };
        let rows = rows(&layout, left, baseline.and_then(|baseline| layout.row(baseline)));
        let boots = boots(&layout, equations.as_ref(), &effects, &rows);
        let means = (0..layout.rows()).map(|row| effects[row] + layout.boot_mean(&effects, row)).collect();
        Additive { layout, equations, means, residual, rows, boots }
    }

    /// The mean square of the cells' residuals.
    pub(crate) fn mean_square(&self) -> Option<Spread> {
        Some(self.residual).filter(|residual| residual.df > 0.0)
    }

    /// The common effects of boots, pooled over the parts.
    pub(crate) fn boots(&self) -> Option<BootSpread> {
        if self.boots.is_empty() {
            return None;
        }
        let df: f64 = self.boots.iter().map(|part| part.count - 1.0).sum();
        let over = |of: &dyn Fn(&Boots) -> f64| {
            let sum: f64 = self.boots.iter().map(|part| of(part) * (part.count - 1.0)).sum();
            if df > 0.0 { sum / df } else { 0.0 }
        };
        let held = |part: &Boots| part.held.iter().map(|(_, share)| share).sum();
        Some(BootSpread { mean_square: over(&|part| part.square), df, error_share: over(&held) })
    }

    /// A row's mean over the boots of its part, in the metric's unit.
    pub(crate) fn mean(&self, row: usize) -> f64 {
        self.layout.restored(self.means[row], 1.0)
    }

    /// A combination of the rows' means, each row once. If no boots connect the rows, or for a
    /// single mean, the error includes the spread between boots.
    pub(crate) fn estimate(&self, terms: &[(usize, f64)], rounding: f64) -> Estimate {
        let weight = cancelled(terms.iter().map(|term| term.1));
        let value = terms.iter().map(|(row, coefficient)| coefficient * self.means[*row]).sum();
        let value = self.layout.restored(value, weight);
        match self.variance(&self.factors(terms), terms).variance_and_df() {
            Some((variance, df)) => Estimate { value, se: self.layout.scale * variance.sqrt(), df, rounding },
            None => Estimate::unsure(value, rounding),
        }
    }

    /// The part of a combination's variance from the cells of one row. `None` where nothing varies.
    pub(crate) fn share(&self, row: usize, terms: &[(usize, f64)]) -> Option<f64> {
        let factors = self.factors(terms);
        let all = self.variance(&factors, terms).variance;
        let of_row = factors.iter().filter(|(of, _)| *of == row);
        let part: f64 = of_row.map(|(row, factor)| factor * self.rows[*row].spread.variance).sum();
        (all > 0.0).then_some(part / all)
    }

    /// The coefficient of each row's cell variance in that of a combination.
    fn factors(&self, terms: &[(usize, f64)]) -> Vec<(usize, f64)> {
        match &self.equations {
            None => terms.iter().map(|(row, c)| (*row, c * c / self.rows[*row].cells)).collect(),
            Some(equations) => {
                let solved = equations.solve(&self.coefficients(terms));
                self.layout.squared_weights(&solved).into_iter().enumerate().collect()
            }
        }
    }

    fn variance(&self, factors: &[(usize, f64)], terms: &[(usize, f64)]) -> Satterthwaite {
        let mut sum = Satterthwaite::default();
        for part in 0..self.boots.len().max(1) {
            let is_of_it = |row: usize| self.boots.is_empty() || self.layout.parts[row] == part;
            let of_it = factors.iter().filter(|(row, _)| is_of_it(*row));
            sum.add_cells(of_it.map(|(row, factor)| (&self.rows[*row], *factor)));
            let Some(boots) = self.boots.get(part) else { continue };
            let weight = cancelled(terms.iter().filter(|(row, _)| is_of_it(*row)).map(|term| term.1));
            if weight != 0.0 {
                sum.add_boots(boots, weight * weight / boots.count, &self.rows);
            }
        }
        sum
    }

    /// A condition's mean is its effect and the average of its part's boots, so its coefficient
    /// applies to all of these.
    fn coefficients(&self, terms: &[(usize, f64)]) -> Vec<f64> {
        let layout = &self.layout;
        let mut coefficients = vec![0.0; layout.parts.len()];
        for (row, coefficient) in terms {
            coefficients[*row] += coefficient;
        }
        let of_part = |part: usize| {
            let of_it = terms.iter().filter(move |term| layout.parts[term.0] == part);
            cancelled(of_it.map(|term| term.1)) / layout.part_columns[part] as f64
        };
        let of_parts: Vec<f64> = (0..layout.part_count).map(of_part).collect();
        for column in layout.rows()..layout.parts.len() {
            coefficients[column] = of_parts[layout.parts[column]];
        }
        coefficients
    }
}

/// The sum of coefficients; zero where they cancel except for rounding.
fn cancelled(coefficients: impl Iterator<Item = f64>) -> f64 {
    let (sum, size) =
        coefficients.fold((0.0, 0.0), |(sum, size): (f64, f64), one| (sum + one, size + one.abs()));
    if sum.abs() <= 1e-12 * size { 0.0 } else { sum }
}

/// A variance that is a sum of estimated ones, with the degrees of freedom of Satterthwaite
/// (Biometrics 2, 1946, equation 17).
#[derive(Debug, Default)]
struct Satterthwaite {
    variance: f64,
    /// The sum of each part's square over its degrees of freedom.
    spread: f64,
    least_df: Option<f64>,
    is_unknown: bool,
}

impl Satterthwaite {
    /// Adds multiples of the cell variances of some rows, which may share boots.
    fn add_cells<'a>(&mut self, rows: impl Iterator<Item = (&'a Row, f64)>) {
        // Estimates of conditions that share boots are correlated, by the product of their shares.
        // The square of a sum has each pair twice, and the squares once.
        let (mut shared, mut squares) = (0.0, 0.0);
        for (row, factor) in rows {
            let Spread { variance, df } = row.spread;
            if factor == 0.0 || df == f64::INFINITY {
                continue;
            }
            self.no_more_than(df);
            let part = factor * variance;
            self.variance += part;
            self.spread += part * part / df;
            let correlated = row.shared * part / df.sqrt();
            shared += correlated;
            squares += correlated * correlated;
        }
        self.spread += shared * shared - squares;
    }

    /// Adds a multiple of the variance between boots.
    fn add_boots(&mut self, boots: &Boots, factor: f64, rows: &[Row]) {
        let Spread { variance, df } = boots.spread;
        self.no_more_than(df);
        let held: f64 = boots.held.iter().map(|(row, share)| share * rows[*row].spread.variance).sum();
        // Boots that differ by less than their cells explain have a spread of zero, not a negative
        // one.
        self.variance += factor * (variance - held).max(0.0);
        self.spread += (factor * variance).powi(2) / df;
    }

    fn no_more_than(&mut self, df: f64) {
        self.is_unknown |= df == 0.0;
        self.least_df = Some(self.least_df.map_or(df, |least| least.min(df)));
    }

    /// `None` if the error is unknown.
    fn variance_and_df(&self) -> Option<(f64, f64)> {
        let least = self.least_df.filter(|_| !self.is_unknown)?;
        let df = if self.spread > 0.0 { self.variance * self.variance / self.spread } else { least };
        Some((self.variance, df.max(1.0)))
    }
}

/// The boots of each part, moderated by those of the others.
fn boots(layout: &Layout, equations: Option<&NormalEquations>, effects: &[f64], rows: &[Row]) -> Vec<Boots> {
    if layout.columns() == 0 {
        return Vec::new();
    }
    let mut parts: Vec<Boots> =
        (0..layout.part_count).map(|part| Boots::of(layout, equations, effects, rows, part)).collect();
    if let Some(common) = Common::of(parts.iter().map(|part| part.spread)) {
        parts.iter_mut().for_each(|part| part.spread = common.moderate(part.spread));
    }
    parts
}

impl Boots {
    fn of(
        layout: &Layout,
        equations: Option<&NormalEquations>,
        effects: &[f64],
        rows: &[Row],
        part: usize,
    ) -> Boots {
        let columns: Vec<usize> =
            (layout.rows()..layout.parts.len()).filter(|column| layout.parts[*column] == part).collect();
        let count = columns.len() as f64;
        let mean = columns.iter().map(|column| effects[*column]).sum::<f64>() / count;
        let squares: f64 = columns.iter().map(|column| (effects[*column] - mean).powi(2)).sum();
        let df = count - 1.0;
        let own: Vec<usize> = (0..rows.len()).filter(|row| layout.parts[*row] == part).collect();
        let complete = 1.0 / (own.len() * own.len()) as f64;
        let mut held: Vec<(usize, f64)> = own.iter().map(|row| (*row, complete)).collect();
        if let (Some(equations), true) = (equations, df > 0.0) {
            held.iter_mut().for_each(|share| share.1 = 0.0);
            for column in &columns {
                let mut centred = vec![0.0; layout.parts.len()];
                columns.iter().for_each(|other| centred[*other] = -1.0 / count);
                centred[*column] += 1.0;
                let weights = layout.squared_weights(&equations.solve(&centred));
                held.iter_mut().for_each(|(row, share)| *share += weights[*row] / df);
            }
        }
        if df == 0.0 {
            return Boots { square: 0.0, spread: Spread::UNKNOWN, count, held };
        }
        let square = squares / df;
        Boots { square, spread: Spread { variance: square, df }, count, held }
    }
}
