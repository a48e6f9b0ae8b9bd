//! The model fitted to all conditions at once, with one error variance (or two) common to all of them.

use crate::question::Design;
use crate::reml::{Reml, fitted, residual_squares, weighted_sums};

use super::estimate::Estimate;
use super::layout::Layout;
use super::normal_equations::NormalEquations;
use super::small_sample::{Correction, SmallSample, dot};

/// The fitted model.
#[derive(Clone, Debug)]
pub(crate) struct Additive {
    pub(crate) layout: Layout,
    /// Of each cell's mean, relative to 1 / `variance`.
    weights: Vec<f64>,
    equations: NormalEquations,
    effects: Vec<f64>,
    /// The variance that a weight of 1 means, in the layout's units squared.
    variance: f64,
    error: Error,
    boots: Option<BootSpread>,
}

/// How sure the error variance is.
#[derive(Clone, Debug)]
enum Error {
    /// A mean square: all cells have the same variance. 0 degrees of freedom leave it unknown.
    MeanSquare { df: f64 },
    /// Two variances by REML.
    Estimated(SmallSample),
}

/// What boots have in common for all conditions; crossed designs only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BootSpread {
    /// The mean square of the boots' effects, in the layout's units squared.
    pub(crate) mean_square: f64,
    pub(crate) df: f64,
    /// How much of it the error variance explains, as a multiple of that.
    pub(crate) error_share: f64,
}

/// A combination of the rows' means as the uncertainty needs it: quadratic in the combination but for the value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Uncertainty {
    /// The variance by the error, relative to that of weight 1, the weights taken as known.
    plain: f64,
    correction: Correction,
    /// How much of the boots' mean square it carries: 0 for a comparison inside boots.
    boots: f64,
}

impl Uncertainty {
    /// That of `one` + `factor` * `other`, where `sum` is that of `one` + `other`.
    pub(crate) fn along(one: Uncertainty, other: Uncertainty, sum: Uncertainty, factor: f64) -> Uncertainty {
        let quadratic = |part: fn(&Uncertainty) -> f64| {
            let (one, other, sum) = (part(&one), part(&other), part(&sum));
            one + factor * (sum - one - other) + factor * factor * other
        };
        Uncertainty {
            plain: quadratic(|parts| parts.plain),
            correction: Correction {
                excess: quadratic(|parts| parts.correction.excess),
                gradient: [
                    quadratic(|parts| parts.correction.gradient[0]),
                    quadratic(|parts| parts.correction.gradient[1]),
                ],
            },
            boots: quadratic(|parts| parts.boots),
        }
    }
}

impl Additive {
    /// With variances by REML; none where these cannot be told apart.
    pub(crate) fn reml(layout: Layout) -> Option<Additive> {
        let Reml { run, weights, equations, effects } = Reml::of(&layout)?;
        let error = Error::Estimated(SmallSample::of(&layout, &weights, &equations));
        let mut fit = Additive { layout, weights, equations, effects, variance: run, error, boots: None };
        fit.boots = fit.boot_spread();
        Some(fit)
    }

    /// Least squares on the cells' means, all with the same weight.
    pub(crate) fn even(layout: Layout) -> Additive {
        let weights = vec![1.0; layout.places.len()];
        let equations = NormalEquations::new(&layout, &weights);
        let effects = equations.solve(&weighted_sums(&layout, &weights));
        let df = layout.residual_df() as f64;
        let variance = if df > 0.0 { residual_squares(&layout, &weights, &effects) / df } else { 0.0 };
        let error = Error::MeanSquare { df };
        let mut fit = Additive { layout, weights, equations, effects, variance, error, boots: None };
        fit.boots = fit.boot_spread();
        fit
    }

    /// The error mean square of cell means and its degrees of freedom, in the layout's units; for even weights only.
    pub(crate) fn mean_square(&self) -> Option<(f64, f64)> {
        match self.error {
            Error::MeanSquare { df } if df > 0.0 => Some((self.variance, df)),
            _ => None,
        }
    }

    pub(crate) fn boots(&self) -> Option<BootSpread> {
        self.boots
    }

    /// What is left of each cell's mean, with its row.
    pub(crate) fn residuals(&self) -> impl Iterator<Item = (usize, f64)> {
        self.layout.places.iter().map(|place| {
            (place.row, place.mean - fitted(&self.layout, &self.effects, place.row, place.column))
        })
    }

    /// The effect of each boot, with its part; crossed designs only.
    pub(crate) fn boot_effects(&self) -> impl Iterator<Item = (usize, f64)> {
        let rows = self.layout.rows();
        self.layout.parts[rows..].iter().copied().zip(self.effects[rows..].iter().copied())
    }

    /// A combination of the rows' means. Where it compares rows that no boots connect, it is held against the spread between
    /// boots too.
    pub(crate) fn estimate(&self, terms: &[(usize, f64)], rounding: f64) -> Estimate {
        let coefficients = self.coefficients(terms);
        let weight: f64 = terms.iter().map(|(_, coefficient)| coefficient).sum();
        let size: f64 = terms.iter().map(|(_, coefficient)| coefficient.abs()).sum();
        // Coefficients that add up to zero but for rounding take nothing of the centre.
        let weight = if weight.abs() <= 1e-12 * size { 0.0 } else { weight };
        let value = self.layout.restored(dot(&coefficients, &self.effects), weight);
        let uncertainty = self.uncertainty_of(&coefficients);
        match self.variance_and_df(&uncertainty) {
            Some((variance, df)) => Estimate { value, se: self.layout.scale * variance.sqrt(), df, rounding },
            None => Estimate::unsure(value, rounding),
        }
    }

    /// The covariances of comparisons inside boots, relative to the error.
    pub(crate) fn covariance(&self, combinations: &[Vec<(usize, f64)>]) -> Vec<Vec<f64>> {
        let solved: Vec<Vec<f64>> =
            combinations.iter().map(|terms| self.equations.solve(&self.coefficients(terms))).collect();
        let one = |effects: &[f64], terms: &[(usize, f64)]| {
            terms.iter().map(|(row, coefficient)| coefficient * effects[*row]).sum()
        };
        solved.iter().map(|effects| combinations.iter().map(|terms| one(effects, terms)).collect()).collect()
    }

    pub(crate) fn uncertainty(&self, terms: &[(usize, f64)]) -> Uncertainty {
        self.uncertainty_of(&self.coefficients(terms))
    }

    /// The variance in the layout's units squared and Satterthwaite's degrees of freedom; none if nothing tells them.
    pub(crate) fn variance_and_df(&self, uncertainty: &Uncertainty) -> Option<(f64, f64)> {
        let Uncertainty { plain, correction, boots } = *uncertainty;
        let (relative, df) = match &self.error {
            Error::MeanSquare { df } => (plain, *df),
            Error::Estimated(sample) => (plain + correction.excess, sample.df(plain, correction.gradient)),
        };
        if df.is_nan() || df <= 0.0 {
            return None;
        }
        let inside_boots = Some((self.variance * relative.max(0.0), df.max(1.0)));
        if boots <= 0.0 {
            return inside_boots;
        }
        let Some(spread) = self.boots else { return inside_boots };
        if spread.df <= 0.0 {
            return None;
        }
        let error = self.variance * (relative - boots * spread.error_share).max(0.0);
        let common = boots * spread.mean_square;
        let variance = error + common;
        if variance == 0.0 {
            return Some((0.0, df.min(spread.df)));
        }
        let (error, common) = (error / variance, common / variance);
        Some((variance, (1.0 / (error * error / df + common * common / spread.df)).max(1.0)))
    }

    /// A condition's mean is its effect and the average of its part's boots, so its coefficient goes to all of these.
    fn coefficients(&self, terms: &[(usize, f64)]) -> Vec<f64> {
        let layout = &self.layout;
        let mut coefficients = vec![0.0; layout.parts.len()];
        if layout.design == Design::Nested {
            terms.iter().for_each(|(row, coefficient)| coefficients[*row] += coefficient);
            return coefficients;
        }
        let mut weights = vec![(0.0, 0.0_f64); layout.part_count];
        for (row, coefficient) in terms {
            coefficients[*row] += coefficient;
            let (sum, size) = &mut weights[layout.parts[*row]];
            *sum += coefficient;
            *size += coefficient.abs();
        }
        for (sum, size) in &mut weights {
            if sum.abs() <= 1e-12 * *size {
                *sum = 0.0;
            }
        }
        // What compares two parts carries the boots of both: `variance_and_df` adds their spread.
        let columns = layout.rows()..layout.parts.len();
        for column in columns {
            let part = layout.parts[column];
            coefficients[column] = weights[part].0 / layout.part_columns[part] as f64;
        }
        coefficients
    }

    fn uncertainty_of(&self, coefficients: &[f64]) -> Uncertainty {
        let of_columns = &coefficients[self.layout.rows()..];
        let boots = dot(of_columns, of_columns);
        match &self.error {
            Error::MeanSquare { .. } => {
                let plain = self.equations.quadratic(coefficients);
                Uncertainty { plain, correction: Correction::default(), boots }
            }
            Error::Estimated(sample) => {
                let effects = self.equations.solve(coefficients);
                let correction = sample.correction(&self.layout, &self.weights, &self.equations, &effects);
                Uncertainty { plain: dot(coefficients, &effects), correction, boots }
            }
        }
    }

    /// The mean square of the boots' effects around the mean of their part, by unweighted means.
    fn boot_spread(&self) -> Option<BootSpread> {
        let layout = &self.layout;
        let (rows, columns) = (layout.rows(), layout.columns());
        if columns == 0 {
            return None;
        }
        let df = (columns - layout.part_count) as f64;
        let mut sums = vec![0.0; layout.part_count];
        let part = |column: usize| layout.parts[rows + column];
        let of_columns = &self.effects[rows..];
        of_columns.iter().enumerate().for_each(|(column, effect)| sums[part(column)] += effect);
        let squares: f64 = of_columns
            .iter()
            .enumerate()
            .map(|(column, effect)| {
                let part = part(column);
                (effect - sums[part] / layout.part_columns[part] as f64).powi(2)
            })
            .sum();
        let mut explained = 0.0;
        for column in 0..columns {
            let mut centred = vec![0.0; layout.parts.len()];
            let of_part = part(column);
            let share = 1.0 / layout.part_columns[of_part] as f64;
            (0..columns)
                .filter(|other| part(*other) == of_part)
                .for_each(|other| centred[rows + other] = -share);
            centred[rows + column] += 1.0;
            explained += dot(&centred, &self.equations.solve(&centred));
        }
        if df == 0.0 {
            return Some(BootSpread { mean_square: 0.0, df, error_share: 0.0 });
        }
        Some(BootSpread { mean_square: squares / df, df, error_share: explained / df })
    }
}
