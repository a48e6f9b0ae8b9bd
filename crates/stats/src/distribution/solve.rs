//! Roots of the functions that quantiles are the roots of.

use super::incomplete::Tails;

/// Where the lower tail is `p` (0 < `p` < 1), as the logarithm that `tails` takes.
///
/// Newton's method on the logarithm of the smaller tail. The distributions of ln X (X gamma) and of ln(X / (1 - X)) (X beta)
/// have log-concave densities, so both log-tails are concave: after its first step the method approaches the root from one
/// side and cannot leave it.
pub(crate) fn newton(p: f64, start: f64, tails: impl Fn(f64) -> Tails) -> f64 {
    solve(p, 1.0 - p, start, tails)
}

/// As [`newton`], with the upper tail given to all its digits.
pub(crate) fn solve(p: f64, q: f64, start: f64, tails: impl Fn(f64) -> Tails) -> f64 {
    let step = |at: f64| {
        let Tails { lower, upper, slope } = tails(at);
        if p < q { (lower / p).ln() * lower / -slope } else { (upper / q).ln() * upper / slope }
    };
    let mut at = start;
    let mut next = step(at);
    for _ in 0..200 {
        // Only the first step can lead to where the tail is no number any more.
        let mut beyond = step(at + next);
        for _ in 0..60 {
            if beyond.is_finite() {
                break;
            }
            next /= 2.0;
            beyond = step(at + next);
        }
        at += next;
        next = beyond;
        // It converges quadratically: what follows so small a step is below the rounding.
        if next.abs() <= 1e-11 {
            return at + next;
        }
    }
    at
}
