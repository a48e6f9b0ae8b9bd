//! Draws of a fixed seed, the same on every machine.

use std::f64::consts::TAU;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;

/// A number from the standard normal distribution (Box and Muller 1958).
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - uniform(random), uniform(random));
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// A number from 0 to below 1: the upper 53 bits of a draw, which are what a double holds.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng as _;

    #[test]
    fn the_draws_are_normal() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let draws: Vec<f64> = (0..100_000).map(|_| normal(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / 1e5;
        let beyond = draws.iter().filter(|draw| draw.abs() > 1.959_964).count();
        // Four standard errors each.
        assert!(mean.abs() < 0.0127 && (variance - 1.0).abs() < 0.018, "{mean} {variance}");
        assert!(beyond.abs_diff(5000) < 276, "{beyond}");
    }
}
