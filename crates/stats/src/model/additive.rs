//! The model of all conditions: least squares on the cells' means, each with one vote, and the
//! spread of each condition.
//!
//! A single interval rests on the conditions' own spreads. Borrowing from quiet conditions makes
//! the noisiest one look quiet: with a variance of its own that is not known, Student's t is the
//! only test of one mean that errs equally often whatever that variance is.

use crate::model::fit::Estimate;
use crate::model::layout::CellLayout;
use crate::model::normal_equations::{NormalEquations, effects, equations};
use crate::model::rows::{ConditionSpread, rows};
use crate::model::spread::{Common, Spread};

/// The fitted model. Variances are in the layout's units squared.
#[derive(Clone, Debug)]
pub(crate) struct Additive {
    pub(crate) layout: CellLayout,
    /// `None` for complete layouts, which need no equations.
    equations: Option<NormalEquations>,
    /// The mean of each row over the boots of its part, less the centre.
    means: Vec<f64>,
    /// The mean square of the cells' residuals, of all conditions.
    pub(crate) residual: Option<Spread>,
    own: Spreads,
    moderated: Spreads,
}

#[derive(Clone, Debug)]
struct Spreads {
    rows: Vec<ConditionSpread>,
    boots: Vec<BootEffects>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Borrowing {
    /// Each condition's own, for an interval that has its level by itself.
    None,
    /// Each moderated by the others, for intervals that hold together.
    Moderated,
}

#[derive(Clone, Debug)]
struct BootEffects {
    /// The mean square of the estimated effects, which includes some of the cells' spread.
    spread: Spread,
    count: f64,
    /// The share of each row's variance in a mean square of this part; in complete parts it is
    /// equal for all rows.
    held: Vec<(usize, f64)>,
}

impl Additive {
    pub(crate) fn fit(layout: CellLayout, baseline: Option<usize>) -> Additive {
        let weights = vec![1.0; layout.rows()];
        let equations = equations(&layout, &weights);
        let effects = effects(&layout, equations.as_ref(), &weights);
        let left = layout.residuals(&effects);
        let df = layout.residual_df() as f64;
        let squares: f64 = left.iter().map(|left| left * left).sum();
        let residual = (df > 0.0).then(|| Spread { variance: squares / df, df });
        let (rows, common) = rows(&layout, left);
        let parts = if layout.columns() == 0 { 0 } else { layout.part_count };
        let boots =
            (0..parts).map(|part| BootEffects::new(&layout, equations.as_ref(), &effects, part)).collect();
        let own = Spreads { rows, boots };
        let moderated = own.moderated(common, baseline.and_then(|baseline| layout.row(baseline)));
        let means = (0..layout.rows()).map(|row| effects[row] + layout.boot_mean(&effects, row)).collect();
        Additive { layout, equations, means, residual, own, moderated }
    }

    /// The mean square of the common effects of boots on all conditions, pooled over the parts, and
    /// the part of it that the spread of cells explains, as a multiple of that. `None` in nested
    /// designs, and for single boots.
    pub(crate) fn boots(&self) -> Option<(Spread, f64)> {
        let parts = &self.own.boots;
        let df: f64 = parts.iter().map(|part| part.count - 1.0).sum();
        let over = |of: &dyn Fn(&BootEffects) -> f64| {
            parts.iter().map(|part| of(part) * (part.count - 1.0)).sum::<f64>() / df
        };
        let held = |part: &BootEffects| part.held.iter().map(|(_, share)| share).sum();
        let variance = over(&|part| part.spread.variance);
        (df > 0.0).then(|| (Spread { variance, df }, over(&held)))
    }

    /// A row's mean over the boots of its part, in the metric's unit.
    pub(crate) fn mean(&self, row: usize) -> f64 {
        self.layout.restored(self.means[row], 1.0)
    }

    /// A combination of the rows' means, each row once.
    pub(crate) fn estimate(&self, terms: &[(usize, f64)], borrowing: Borrowing, rounding: f64) -> Estimate {
        let weight = cancelled(terms.iter().map(|term| term.1));
        let value = terms.iter().map(|(row, coefficient)| coefficient * self.means[*row]).sum();
        let value = self.layout.restored(value, weight);
        let known = self.variance(&self.factors(terms), terms, borrowing).total();
        let error = |known: Spread| (self.layout.scale * known.variance.sqrt(), known.df);
        let (se, df) = known.map_or((f64::INFINITY, 0.0), error);
        Estimate { value, se, df, rounding }
    }

    /// The part of a combination's variance, moderated, from the cells of one row. `None` where
    /// nothing varies.
    pub(crate) fn share(&self, row: usize, terms: &[(usize, f64)]) -> Option<f64> {
        let factors = self.factors(terms);
        let all = self.variance(&factors, terms, Borrowing::Moderated).variance;
        let of_row = factors.iter().filter(|(of, _)| *of == row);
        let part: f64 = of_row.map(|(row, factor)| factor * self.moderated.rows[*row].spread.variance).sum();
        (all > 0.0).then_some(part / all)
    }

    /// The coefficient of each row's cell variance in that of a combination.
    fn factors(&self, terms: &[(usize, f64)]) -> Vec<(usize, f64)> {
        match &self.equations {
            None => terms.iter().map(|(row, c)| (*row, c * c / self.own.rows[*row].cells)).collect(),
            Some(equations) => {
                let solved = equations.solve(&self.coefficients(terms));
                self.layout.squared_weights(&solved).into_iter().enumerate().collect()
            }
        }
    }

    fn variance(
        &self,
        factors: &[(usize, f64)],
        terms: &[(usize, f64)],
        borrowing: Borrowing,
    ) -> Satterthwaite {
        let Spreads { rows, boots } = if borrowing == Borrowing::None { &self.own } else { &self.moderated };
        let mut sum = Satterthwaite::default();
        for part in 0..boots.len().max(1) {
            let is_of_it = |row: usize| boots.is_empty() || self.layout.parts[row] == part;
            let of_it = factors.iter().filter(|(row, _)| is_of_it(*row));
            sum.add_cells(of_it.map(|(row, factor)| (&rows[*row], *factor)));
            let Some(boots) = boots.get(part) else { continue };
            // If no boots connect the rows, or for a single mean, the error includes the spread
            // between boots.
            let weight = cancelled(terms.iter().filter(|(row, _)| is_of_it(*row)).map(|term| term.1));
            if weight != 0.0 {
                sum.add_boots(boots, weight * weight / boots.count, rows);
            }
        }
        sum
    }

    fn coefficients(&self, terms: &[(usize, f64)]) -> Vec<f64> {
        let layout = &self.layout;
        let mut coefficients = vec![0.0; layout.parts.len()];
        terms.iter().for_each(|(row, coefficient)| coefficients[*row] += coefficient);
        // A condition's mean is its effect and the average of its part's boots, so its coefficient
        // applies to all of these.
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

/// A variance that is a sum of estimated ones, with degrees of freedom from those of Satterthwaite
/// (Biometrics 2, 1946, equation 17).
#[derive(Debug, Default)]
struct Satterthwaite {
    variance: f64,
    /// The sum of each part's square over its degrees of freedom.
    spread: f64,
    /// The sum of the parts, and of each one over its degrees of freedom.
    parts: (f64, f64),
    /// 0 if a part is unknown.
    least_df: Option<f64>,
}

/// The sum of two independent variances. `None` if one is unknown.
pub(crate) fn sum_of_two(parts: [Spread; 2]) -> Option<Spread> {
    let mut sum = Satterthwaite::default();
    for Spread { variance, df } in parts {
        sum.variance += variance;
        sum.add(variance, df);
    }
    sum.total()
}

impl Satterthwaite {
    /// Adds multiples of the cell variances of some rows, which may share boots.
    fn add_cells<'a>(&mut self, rows: impl Iterator<Item = (&'a ConditionSpread, f64)>) {
        // Estimates of conditions that share boots are correlated, by the product of their shares.
        // The square of a sum has each pair twice, and the squares once.
        let (mut shared, mut squares) = (0.0, 0.0);
        for (row, factor) in rows {
            let Spread { variance, df } = row.spread;
            if factor == 0.0 || df == f64::INFINITY {
                continue;
            }
            let part = factor * variance;
            self.variance += part;
            self.add(part, df);
            let correlated = row.shared * part / df.sqrt();
            shared += correlated;
            squares += correlated * correlated;
        }
        self.spread += shared * shared - squares;
    }

    fn add_boots(&mut self, boots: &BootEffects, factor: f64, rows: &[ConditionSpread]) {
        let Spread { variance, df } = boots.spread;
        let held: f64 = boots.held.iter().map(|(row, share)| share * rows[*row].spread.variance).sum();
        // Boots that differ by less than their cells explain have a spread of zero, not a negative
        // one.
        self.variance += factor * (variance - held).max(0.0);
        self.add(factor * variance, df);
    }

    fn add(&mut self, part: f64, df: f64) {
        self.spread += part * part / df;
        self.parts.0 += part;
        self.parts.1 += part / df;
        self.least_df = Some(self.least_df.map_or(df, |least| least.min(df)));
    }

    /// `None` if the error is unknown.
    fn total(&self) -> Option<Spread> {
        let least = self.least_df.filter(|least| *least != 0.0)?;
        if self.spread <= 0.0 {
            return Some(Spread { variance: self.variance, df: least.max(1.0) });
        }
        // With few degrees of freedom Satterthwaite's are too many where one part is most of the
        // variance (two means of three values err in up to 5.9 % instead of 5), and too few where
        // two are alike. So they grow later from those of one part to those of two, and then
        // faster. Those of one part are the mean of all by their size, so that a part of next to
        // nothing counts for nothing.
        let one = self.parts.0 / self.parts.1;
        let more = self.variance * self.variance / self.spread / one - 1.0;
        let more = if (0.0..1.0).contains(&more) { (3.0 * more.powi(3)).min(1.0) } else { more };
        Some(Spread { variance: self.variance, df: (one * (1.0 + more)).max(1.0) })
    }
}

impl Spreads {
    /// The spreads moderated by each other: rows by their `common` spread, parts' boots likewise.
    fn moderated(&self, common: Option<Common>, baseline: Option<usize>) -> Spreads {
        let mut all = self.clone();
        if let Some(common) = common {
            for (place, row) in all.rows.iter_mut().enumerate() {
                let moderated = common.moderate(row.spread);
                row.spread =
                    if baseline == Some(place) { row.spread.moderated_by(moderated) } else { moderated };
            }
        }
        if let Some(common) = Common::from_estimates(self.boots.iter().map(|part| part.spread)) {
            all.boots.iter_mut().for_each(|part| part.spread = common.moderate(part.spread));
        }
        all
    }
}

impl BootEffects {
    fn new(layout: &CellLayout, equations: Option<&NormalEquations>, effects: &[f64], part: usize) -> Self {
        let columns: Vec<usize> =
            (layout.rows()..layout.parts.len()).filter(|column| layout.parts[*column] == part).collect();
        let count = columns.len() as f64;
        let df = count - 1.0;
        let mean = columns.iter().map(|column| effects[*column]).sum::<f64>() / count;
        let squares: f64 = columns.iter().map(|column| (effects[*column] - mean).powi(2)).sum();
        let spread = if df > 0.0 { Spread { variance: squares / df, df } } else { Spread::UNKNOWN };
        let own: Vec<usize> = (0..layout.rows()).filter(|row| layout.parts[*row] == part).collect();
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
        BootEffects { spread, count, held }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;
    use crate::distribution::student;

    /// The false-positive rate at 5 %, in %, of a comparison of two equal means, where their
    /// estimated variances have the degrees of freedom `one` and `other`, and the first true
    /// variance is the part `share` of both. The sum of both estimates in units of their true
    /// values is chi-squared and independent of their parts in it, so only the latter is integrated
    /// over: its part has a beta distribution, that of the square of a sine.
    fn wrong(one: f64, other: f64, share: f64) -> f64 {
        const STEPS: usize = 200;
        let (mut sum, mut all) = (0.0, 0.0);
        for step in 0..STEPS {
            let (sine, cosine) = ((step as f64 + 0.5) / STEPS as f64 * FRAC_PI_2).sin_cos();
            let density = sine.powf(one - 1.0) * cosine.powf(other - 1.0);
            let mut error = Satterthwaite::default();
            for (part, df) in
                [(share * sine * sine / one, one), ((1.0 - share) * cosine * cosine / other, other)]
            {
                error.variance += part;
                error.add(part, df);
            }
            let Spread { variance, df } = error.total().unwrap();
            let critical = student::upper_quantile(0.025, df).unwrap();
            let both = one + other;
            sum += density * student::two_sided(critical * (both * variance).sqrt(), both);
            all += density;
        }
        100.0 * sum / all
    }

    /// With Satterthwaite's own degrees of freedom the largest are 6.4, 5.9, 5.35 and 5.1 %, and
    /// the rates of equal variances 2.3, 3.5, 4.4 and 4.8 %.
    #[test]
    fn means_of_few_boots_err_in_five_percent_whatever_the_ratio_of_their_spreads() {
        for (df, equal, most) in [(1.0, 2.2, 5.85), (2.0, 3.4, 5.4), (4.0, 4.4, 5.05), (9.0, 4.8, 5.05)] {
            let rates =
                (0..=16).map(|power| 2_f64.powi(power)).map(|ratio| wrong(df, df, ratio / (1.0 + ratio)));
            let rates: Vec<f64> = rates.collect();
            assert!(rates[0] > equal && rates.iter().all(|rate| *rate < most), "{df}: {rates:?}");
        }
    }
}
