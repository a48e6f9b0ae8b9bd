//! Roots of the functions that quantiles are the roots of.

use super::incomplete::Tails;

/// Where the lower tail is `p` (0 < `p` < 1), as the logarithm that `tails` takes.
///
/// Newton's method on the logarithm of the smaller tail. The distributions of ln X (X gamma) and of
/// ln(X / (1 - X)) (X beta) have log-concave densities, so both log-tails are concave: after its
/// first step the method approaches the root from one side and cannot leave it.
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

/// Where the decreasing `f` crosses zero between `low` and `high`: the secant, kept inside the
/// bracket (the Illinois form of regula falsi: Dowell and Jarratt, BIT 11, 1971). The end that is
/// nearer, if it does not cross in between.
pub(crate) fn bracketed(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = ((low, f(low)), (high, f(high)));
    if low.1 <= 0.0 {
        return low.0;
    }
    if high.1 >= 0.0 {
        return high.0;
    }
    let mut before = low.0;
    let mut was_low = None;
    for _ in 0..200 {
        let at = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        let value = f(at);
        if value == 0.0 || (at - before).abs() <= 1e-13 * at.abs() {
            return at;
        }
        before = at;
        let is_low = value > 0.0;
        let is_again = was_low == Some(is_low);
        was_low = Some(is_low);
        if is_low {
            low = (at, value);
            if is_again {
                high.1 /= 2.0;
            }
        } else {
            high = (at, value);
            if is_again {
                low.1 /= 2.0;
            }
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_root_takes_few_evaluations() {
        let count = Cell::new(0);
        let root = bracketed(0.0, 8.0, |x| {
            count.set(count.get() + 1);
            2.0 - x.powi(3)
        });
        assert!((root - 2.0_f64.cbrt()).abs() < 1e-12, "{root}");
        assert!(count.get() <= 40, "{} evaluations", count.get());
    }
}
