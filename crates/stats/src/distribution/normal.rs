//! The standard normal distribution.

use std::f64::consts::{PI, SQRT_2};

use libm::erfc;
use statrs::function::erf::erfc_inv;

use crate::distribution::is_inside;

/// The density at `x`.
pub fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// P(Z > `x`).
pub fn sf(x: f64) -> f64 {
    0.5 * erfc(x / SQRT_2)
}

pub(crate) fn two_sided(z: f64) -> f64 {
    2.0 * sf(z.abs())
}

/// The value that Z stays below with probability `p`. `None` unless 0 < `p` < 1.
pub fn quantile(p: f64) -> Option<f64> {
    upper_quantile(p).map(|z| -z)
}

/// The value that Z exceeds with probability `tail`. `None` unless 0 < `tail` < 1.
pub fn upper_quantile(tail: f64) -> Option<f64> {
    is_inside(tail).then(|| SQRT_2 * erfc_inv(2.0 * tail))
}
