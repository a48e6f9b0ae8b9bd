//! Worlds, from which experiments are drawn.

use std::f64::consts::TAU;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use stats::Design;

/// The significance level of every decision.
pub(crate) const ALPHA: f64 = 0.05;

/// A model of values: a condition's mean, plus the effects of its boot and of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct World {
    /// Nested: each condition has its own boots. Crossed: each boot measures all conditions.
    pub(crate) design: Design,
    /// The conditions. Only the first two are compared; the others contribute to pooled spreads.
    pub(crate) conditions: usize,
    /// The number of boots: of each condition, or shared by all.
    pub(crate) boots: usize,
    /// The number of runs of each condition in each boot.
    pub(crate) runs: usize,
    /// The mean of condition 0.
    pub(crate) mean: f64,
    /// The standard deviation of a boot's effect, in the metric's unit. In crossed designs that of
    /// its specific effect on a condition (condition x boot).
    pub(crate) between: f64,
    /// Crossed designs only: the standard deviation of a boot's common effect on all conditions. It
    /// cancels for methods that compare inside boots, and hides differences from the others.
    pub(crate) shared: f64,
    /// The standard deviation between the runs of a boot.
    pub(crate) within: f64,
    /// The distribution of the runs of a boot; boots are normal.
    pub(crate) shape: Shape,
}

/// The distribution of the runs of a boot around its mean, always with the stated standard
/// deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Normal and independent.
    Normal,
    /// Exponential, with skewness 2.
    Skewed,
    /// Two normal clusters of equal size, their centres 4 of their own standard deviations apart.
    Bimodal,
    /// Normal, each correlated with the one before it by 0.5 (AR(1)).
    Ar1,
}

/// Half the distance of the clusters, in their own standard deviations.
const CLUSTER: f64 = 2.0;

/// The correlation of neighbours in [`Shape::Ar1`].
const CORRELATION: f64 = 0.5;

impl World {
    /// The world with another spread between boots.
    pub(crate) fn with_between(self, between: f64) -> World {
        World { between, ..self }
    }

    /// Draws all runs into `values`: condition by condition, boot by boot. Condition 1 is higher by
    /// `difference`.
    pub(super) fn draw(&self, random: &mut ChaCha8Rng, difference: f64, values: &mut Vec<f64>) {
        values.clear();
        let mut normal = Normal { spare: None };
        let is_shared = self.design == Design::Crossed && self.shared > 0.0;
        let shared: Vec<f64> = (0..self.boots)
            .map(|_| if is_shared { self.shared * normal.draw(random) } else { 0.0 })
            .collect();
        for condition in 0..self.conditions {
            let centre = self.mean + if condition == 1 { difference } else { 0.0 };
            for shared in &shared {
                let boot = centre + shared + self.between * normal.draw(random);
                let mut state = normal.draw(random);
                for _ in 0..self.runs {
                    let unit = match self.shape {
                        Shape::Normal => normal.draw(random),
                        Shape::Skewed => -(1.0 - random.random::<f64>()).ln() - 1.0,
                        Shape::Bimodal => {
                            let side = if random.random::<bool>() { CLUSTER } else { -CLUSTER };
                            (side + normal.draw(random)) / (1.0 + CLUSTER * CLUSTER).sqrt()
                        }
                        Shape::Ar1 => {
                            let shock = (1.0 - CORRELATION * CORRELATION).sqrt();
                            state = CORRELATION * state + shock * normal.draw(random);
                            state
                        }
                    };
                    values.push(boot + self.within * unit);
                }
            }
        }
    }
}

/// The random numbers of one experiment: a stream for each table cell and experiment.
pub(super) fn random(seed: u64, place: usize, experiment: u32) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((place as u64) << 32 | u64::from(experiment));
    random
}

/// Standard normal values by Box and Muller's transformation (Annals of Mathematical Statistics 29,
/// 1958), which gives two at a time.
struct Normal {
    spare: Option<f64>,
}

impl Normal {
    fn draw(&mut self, random: &mut ChaCha8Rng) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (share, turn) = (1.0 - random.random::<f64>(), random.random::<f64>());
        let radius = (-2.0 * share.ln()).sqrt();
        let (sine, cosine) = (TAU * turn).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}
