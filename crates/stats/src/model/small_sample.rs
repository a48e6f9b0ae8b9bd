//! What a small sample does to a fit with estimated weights: Kenward and Roger's correction.
//!
//! The variance of a combination that the fit states takes the weights for known. Kenward and Roger (Biometrics 53, 1997)
//! add what their estimation costs, and give the degrees of freedom of the t-test; for a single combination these
//! are Satterthwaite's, 2 f² / (g' W g) with f the variance stated, g its derivatives by the two variances and W the
//! covariance of these, from the expected information (their equations 3, 4 and 6). Both variances enter linearly, so the
//! terms with second derivatives are zero.

use super::layout::Layout;
use super::normal_equations::NormalEquations;

/// The variances relative to that of a run: of which cell means' variances are linear functions.
#[derive(Clone, Debug)]
pub(crate) struct SmallSample {
    /// The covariance of the estimated variances (cell, run), relative to the run's squared.
    covariance: [[f64; 2]; 2],
}

/// How the variance of a combination depends on the estimated variances, relative to the run's. All parts are quadratic in
/// the combination.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Correction {
    /// What Kenward and Roger add.
    pub(crate) excess: f64,
    /// The derivatives by the cell's and by the run's variance.
    pub(crate) gradient: [f64; 2],
}

impl SmallSample {
    /// `weights` are the cells' relative to 1 / run, and those of `equations`.
    pub(crate) fn of(layout: &Layout, weights: &[f64], equations: &NormalEquations) -> SmallSample {
        let information = information(layout, weights, equations);
        let [[cell, both], [_, run]] = information;
        let determinant = cell * run - both * both;
        // The expected information of unequal cells is positive definite; rounding must not turn its sign.
        let determinant = determinant.max(f64::EPSILON * cell * run);
        let covariance =
            [[run / determinant, -both / determinant], [-both / determinant, cell / determinant]];
        SmallSample { covariance }
    }

    /// For a combination whose solution is `effects`: (X' W X)^-1 times its coefficients.
    pub(crate) fn correction(
        &self,
        layout: &Layout,
        weights: &[f64],
        equations: &NormalEquations,
        effects: &[f64],
    ) -> Correction {
        let mut gradient = [0.0; 2];
        let mut squares = [[0.0; 2]; 2];
        let mut sums = [vec![0.0; effects.len()], vec![0.0; effects.len()]];
        for (place, weight) in layout.places.iter().zip(weights) {
            let column = layout.rows() + place.column;
            let effect = effects[place.row] + effects.get(column).copied().unwrap_or(0.0);
            for (one, by_one) in [1.0, 1.0 / place.runs].into_iter().enumerate() {
                let share = weight * weight * effect * by_one;
                gradient[one] += share * effect;
                sums[one][place.row] += share;
                if let Some(of_column) = sums[one].get_mut(column) {
                    *of_column += share;
                }
                for (other, by_other) in [1.0, 1.0 / place.runs].into_iter().enumerate() {
                    squares[one][other] += weight * share * effect * by_other;
                }
            }
        }
        let solved = [equations.solve(&sums[0]), equations.solve(&sums[1])];
        let mut excess = 0.0;
        for one in 0..2 {
            for other in 0..2 {
                let product = dot(&sums[one], &solved[other]);
                excess += 2.0 * self.covariance[one][other] * (squares[one][other] - product);
            }
        }
        Correction { excess, gradient }
    }

    /// Satterthwaite's degrees of freedom for a combination of relative variance `variance`.
    pub(crate) fn df(&self, variance: f64, gradient: [f64; 2]) -> f64 {
        let [[cell, both], [_, run]] = self.covariance;
        let [by_cell, by_run] = gradient;
        let spread = by_cell * by_cell * cell + 2.0 * by_cell * by_run * both + by_run * by_run * run;
        2.0 * variance * variance / spread
    }
}

/// The expected information of the restricted likelihood: half of tr(P D(i) P D(j)), where P = W - W X (X' W X)^-1 X' W, D
/// of the cell's variance is the identity and D of the run's 1 / n; and the runs' own share.
fn information(layout: &Layout, weights: &[f64], equations: &NormalEquations) -> [[f64; 2]; 2] {
    let size = layout.parts.len();
    // tr(W D W D), less twice tr(C B), plus tr(C A C A), where C = (X' W X)^-1, A = X' W D W X and B = X' W D W D W X. The
    // two traces with C are taken column by column, so that no inverse is stored.
    let mut traces = [[0.0; 2]; 2];
    for (place, weight) in layout.places.iter().zip(weights) {
        for (power, value) in [(0, (0, 0)), (1, (0, 1)), (2, (1, 1))] {
            traces[value.0][value.1] += weight * weight / place.runs.powi(power);
        }
    }
    let product = |power: (i32, i32), effects: &[f64]| {
        let mut sums = vec![0.0; size];
        for (place, weight) in layout.places.iter().zip(weights) {
            let column = layout.rows() + place.column;
            let effect = effects[place.row] + effects.get(column).copied().unwrap_or(0.0);
            let share = weight.powi(power.0) / place.runs.powi(power.1) * effect;
            sums[place.row] += share;
            if let Some(of_column) = sums.get_mut(column) {
                *of_column += share;
            }
        }
        sums
    };
    let solved = |power, effects: &[f64]| equations.solve(&product(power, effects));
    for effect in 0..size {
        let mut unit = vec![0.0; size];
        unit[effect] = 1.0;
        let by_cell = solved((2, 0), &unit);
        let by_run = solved((2, 1), &unit);
        for (one, other, inner, power) in [(0, 0, &by_cell, 0), (0, 1, &by_run, 1), (1, 1, &by_run, 2)] {
            traces[one][other] -= 2.0 * solved((3, power), &unit)[effect];
            traces[one][other] += solved((2, one as i32), inner)[effect];
        }
    }
    let runs = layout.run_df() / 2.0;
    let both = traces[0][1] / 2.0;
    [[traces[0][0] / 2.0, both], [both, traces[1][1] / 2.0 + runs]]
}

pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
