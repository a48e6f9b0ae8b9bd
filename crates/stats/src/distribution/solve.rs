//! Roots of functions, for quantiles.

use super::incomplete::Tails;

/// The point where the lower tail is `p` and the upper one `q`, as the logarithm that `tails`
/// takes.
///
/// Newton's method on the logarithm of the smaller tail. The distributions of ln X (X gamma) and of
/// ln(X / (1 - X)) (X beta) have log-concave densities, so both log-tails are concave: after its
/// first step the method approaches the root from one side and cannot leave it.
pub(crate) fn solve(p: f64, q: f64, start: f64, tails: impl Fn(f64) -> Tails) -> f64 {
    let step = |at: f64| {
        let Tails { lower, upper, slope } = tails(at);
        if p < q { (lower / p).ln() * lower / -slope } else { (upper / q).ln() * upper / slope }
    };
    let mut at = start;
    let mut next = step(at);
    for _ in 0..200 {
        // Only the first step can lead to where the tail underflows.
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
        // It converges quadratically: the next step would be below the rounding.
        if next.abs() <= 1e-11 {
            return at + next;
        }
    }
    at
}

/// The zero of `f`, which falls from `first` to `last`: the secant, kept inside the bracket (the
/// Illinois form of regula falsi: Dowell and Jarratt, BIT 11, 1971). The nearer end, if there is
/// none.
pub(crate) fn bracketed(first: f64, last: f64, f: impl Fn(f64) -> f64) -> f64 {
    let negligible = 1e-13 * (last - first).abs();
    let (mut from, mut to) = ((first, f(first)), (last, f(last)));
    if from.1 <= 0.0 {
        return first;
    }
    if to.1 >= 0.0 {
        return last;
    }
    let mut before = first;
    let mut was_above = None;
    for _ in 0..200 {
        let at = (from.0 * to.1 - to.0 * from.1) / (to.1 - from.1);
        let value = f(at);
        if value == 0.0 || (at - before).abs() <= negligible.max(1e-13 * at.abs()) {
            return at;
        }
        before = at;
        let is_above = value > 0.0;
        let is_again = was_above == Some(is_above);
        was_above = Some(is_above);
        let (near, other) = if is_above { (&mut from, &mut to) } else { (&mut to, &mut from) };
        *near = (at, value);
        if is_again {
            other.1 /= 2.0;
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
