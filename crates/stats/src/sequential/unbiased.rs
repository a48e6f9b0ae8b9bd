//! The estimate after a stop.
//!
//! A study that stops as soon as a difference is proven stops rather where chance made it large, so
//! the difference as measured is too large on average. The median-unbiased estimate of Emerson and
//! Fleming (Biometrika 77, 1990) is the true difference with which an outcome that speaks for a
//! larger one comes as often as one that speaks for a smaller; an earlier stop speaks for a larger
//! difference than a later one (the stage-wise order).

use super::walk;
use crate::distribution::solve;

/// The shift, in standard errors, of the median-unbiased estimate toward zero from the measured
/// one, at the last of the looks at these `fractions` of the information, where |z| is `z` and
/// `bounds` were those on |z| at the looks before it. The statistic is taken for normal.
#[must_use]
pub fn shift(fractions: &[f64], bounds: &[f64], z: f64) -> f64 {
    let (Some(fraction), false) = (fractions.last(), bounds.is_empty() || z <= 0.0) else { return 0.0 };
    let crossed: Vec<f64> = bounds.iter().copied().chain([z]).collect();
    let larger =
        |drift: f64| -> f64 { walk(fractions, &crossed, drift).iter().map(|[_, above]| above).sum() };
    let high = z / fraction.sqrt();
    let drift = solve::bracketed(0.0, high, |drift| (0.5 / larger(drift)).ln());
    z - drift * fraction.sqrt()
}

/// An estimate and the quantile that its interval has, in standard errors.
#[derive(Clone, Copy, Debug)]
pub struct Shifted {
    /// The estimate.
    pub t: f64,
    /// The quantile of its interval.
    pub critical: f64,
}

impl Shifted {
    /// The estimate moved toward zero by `shift` standard errors, never beyond its interval or
    /// zero.
    #[must_use]
    pub fn by(self, shift: f64) -> f64 {
        (self.t - shift).max(self.t - self.critical).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Emerson and Fleming's property itself, from the recursion: under the estimate half of all
    /// outcomes are more extreme.
    #[test]
    fn the_first_look_is_taken_as_it_is_and_later_ones_move_towards_zero() {
        let fractions = [0.2, 0.4, 0.6, 0.8, 1.0];
        let bounds = [2.413; 5];
        assert_eq!(shift(&fractions[..1], &[], 3.0), 0.0);
        for look in 2..=5 {
            let shift = |z: f64| shift(&fractions[..look], &bounds[..look - 1], z);
            assert!(shift(2.5) > 0.05 && shift(2.5) < 1.0, "{look}: {}", shift(2.5));
            let drift = (2.5 - shift(2.5)) / fractions[look - 1].sqrt();
            let crossed: Vec<f64> = bounds[..look - 1].iter().copied().chain([2.5]).collect();
            let above: f64 = walk(&fractions[..look], &crossed, drift).iter().map(|[_, above]| above).sum();
            assert!((above - 0.5).abs() < 1e-9, "{look}: {above}");
        }
        // Bounds that nothing reaches change nothing.
        assert!(shift(&fractions[..2], &[9.0], 2.0) < 1e-6);
    }
}
