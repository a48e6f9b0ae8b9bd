//! The analysis of variance of balanced cells.

use stats::Design;

use super::world::World;

/// A mean square and its degrees of freedom.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) variance: f64,
    pub(super) df: f64,
}

/// Means and mean squares of the first conditions of an experiment.
pub(super) struct Anova {
    /// Condition 1's mean less condition 0's.
    pub(super) difference: f64,
    /// Condition 0's mean.
    pub(super) baseline: f64,
    /// Between the boots of a condition (nested), or condition x boot (crossed): n times the
    /// variance of cell means.
    pub(super) boots: Spread,
    /// Between the runs of a boot.
    pub(super) runs: Spread,
    /// Between the boots of condition 0.
    pub(super) baseline_boots: Spread,
    /// The variance of the difference, and of the baseline, over the mean square.
    pub(super) per_condition: f64,
}

impl Anova {
    /// The analysis of the first `conditions` of `values`, by condition and boot.
    pub(super) fn of(world: &World, values: &[f64], conditions: usize) -> Anova {
        let (boots, runs) = (world.boots, world.runs);
        let cells: Vec<&[f64]> = values.chunks_exact(runs).take(conditions * boots).collect();
        let cell_means: Vec<f64> = cells.iter().map(|cell| mean(cell)).collect();
        let means: Vec<f64> = cell_means.chunks_exact(boots).map(mean).collect();
        let inside: f64 = cells.iter().zip(&cell_means).map(|(cell, mean)| squares(cell, *mean)).sum();
        let n = runs as f64;
        let (a, b) = (conditions as f64, boots as f64);
        let nested: Vec<f64> =
            cell_means.chunks_exact(boots).zip(&means).map(|(cells, mean)| squares(cells, *mean)).collect();
        let error = match world.design {
            Design::Nested => {
                Spread { variance: n * nested.iter().sum::<f64>() / (a * (b - 1.0)), df: a * (b - 1.0) }
            }
            Design::Crossed => {
                let df = (a - 1.0) * (b - 1.0);
                Spread { variance: n * interaction(&cell_means, &means, boots) / df, df }
            }
        };
        Anova {
            difference: means[1] - means[0],
            baseline: means[0],
            boots: error,
            runs: Spread { variance: inside / (a * b * (n - 1.0)), df: a * b * (n - 1.0) },
            baseline_boots: Spread { variance: n * nested[0] / (b - 1.0), df: b - 1.0 },
            per_condition: 1.0 / (b * n),
        }
    }

    /// The standard error of the difference with `error` as its mean square.
    pub(super) fn standard_error(&self, error: Spread) -> f64 {
        (2.0 * self.per_condition * error.variance).sqrt()
    }

    /// The mean square of REML's estimates in balanced data, where the variance between boots
    /// cannot be negative: that of boots, or where it is below that of runs both pooled. The
    /// latter's degrees of freedom are Satterthwaite's for the variance as a function of both
    /// components at that bound, where its derivative along the first is zero.
    pub(super) fn reml(&self) -> Spread {
        let is_truncated = self.boots.variance < self.runs.variance;
        if is_truncated { self.pooled() } else { self.boots }
    }

    /// Boots and runs in one mean square.
    pub(super) fn pooled(&self) -> Spread {
        // With one run in each cell there is nothing to pool.
        if self.runs.df == 0.0 {
            return self.boots;
        }
        let df = self.boots.df + self.runs.df;
        Spread {
            variance: (self.boots.variance * self.boots.df + self.runs.variance * self.runs.df) / df,
            df,
        }
    }
}

/// The sum of squares of the cell means' residuals.
fn interaction(cell_means: &[f64], means: &[f64], boots: usize) -> f64 {
    let grand = mean(means);
    let of_boot = |boot: usize| cell_means.iter().skip(boot).step_by(boots).sum::<f64>() / means.len() as f64;
    let boot_means: Vec<f64> = (0..boots).map(of_boot).collect();
    let cells = cell_means
        .chunks_exact(boots)
        .zip(means)
        .flat_map(|(cells, mean)| cells.iter().zip(&boot_means).map(move |(cell, boot)| cell - mean - boot));
    cells.map(|rest| (rest + grand) * (rest + grand)).sum()
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(super) fn squares(values: &[f64], centre: f64) -> f64 {
    values.iter().map(|value| (value - centre) * (value - centre)).sum()
}
