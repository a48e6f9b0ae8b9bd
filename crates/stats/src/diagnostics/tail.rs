//! Tail probabilities as the tests need them.

use crate::distribution::{beta, normal, student};

/// The chance that Student's t with `df` degrees of freedom is farther from zero than `t`.
pub(super) fn student_two_sided(t: f64, df: f64) -> f64 {
    2.0 * student::sf(t.abs(), df)
}

/// The chance that a standard normal value is farther from zero than `z`.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    2.0 * normal::sf(z.abs())
}

/// The chance of `count` or more among `trials` that each succeed with `chance`.
pub(super) fn binomial_at_least(count: usize, trials: usize, chance: f64) -> f64 {
    match count {
        0 => 1.0,
        count if count > trials => 0.0,
        count => beta::cdf(chance.clamp(0.0, 1.0), count as f64, (trials - count) as f64 + 1.0),
    }
}
