//! Normal random numbers.

use std::f64::consts::TAU;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// One standard normal value, by Box and Muller's transformation (Annals of Mathematical
/// Statistics 29, 1958).
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (share, turn) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * share.ln()).sqrt() * (TAU * turn).cos()
}
