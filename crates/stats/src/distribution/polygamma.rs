//! The derivatives of ln Γ: the mean and variance of the logarithm of a chi-squared variable.
//! statrs has the first only.

pub(crate) use statrs::function::gamma::digamma;

/// From here on the asymptotic series are exact to 1e-15.
const LARGE: f64 = 16.0;

/// The second derivative of ln Γ at `x` > 0 (DLMF 25.11.12).
pub(crate) fn trigamma(x: f64) -> f64 {
    zeta(2, x)
}

/// The inverse of [`trigamma`] for a value above 0.
pub(crate) fn inverse_trigamma(value: f64) -> f64 {
    // Newton's method on 1 / trigamma, which is convex and nearly a straight line: from this start
    // it approaches the root from one side (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004,
    // appendix).
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let here = trigamma(x);
        let step = here * (1.0 - here / value) / tetragamma(x);
        x += step;
        if step.abs() <= 1e-12 * x {
            break;
        }
    }
    x
}

/// The third derivative of ln Γ at `x` > 0, which is negative.
fn tetragamma(x: f64) -> f64 {
    -2.0 * zeta(3, x)
}

/// Hurwitz's zeta function, the sum of (x + n)^-s over n from 0, for `x` > 0, by the formula of
/// Euler and Maclaurin (DLMF 25.11.5).
fn zeta(s: i32, mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < LARGE {
        sum += x.powi(-s);
        x += 1.0;
    }
    sum += x.powi(1 - s) / f64::from(s - 1) + 0.5 * x.powi(-s);
    let mut term = f64::from(s) * x.powi(-s - 1);
    for (order, factor) in [(s, 12.0), (s + 2, -720.0), (s + 4, 30_240.0), (s + 6, -1_209_600.0)] {
        sum += term / factor;
        term *= f64::from((order + 1) * (order + 2)) / (x * x);
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{LN_2, PI};

    use super::*;
    use crate::oracles::is_close;

    const EULER: f64 = 0.577_215_664_901_532_9;

    #[test]
    fn values_at_wholes_and_halves_are_known() {
        let harmonic = |n: i32| (1..n).map(|k| 1.0 / f64::from(k)).sum::<f64>();
        let squares = |n: i32| (1..n).map(|k| 1.0 / f64::from(k * k)).sum::<f64>();
        for n in 1..60 {
            assert!(is_close(digamma(f64::from(n)), harmonic(n) - EULER, 1e-13), "{n}");
            assert!(is_close(trigamma(f64::from(n)), PI * PI / 6.0 - squares(n), 1e-12), "{n}");
        }
        assert!(is_close(digamma(0.5), -EULER - 2.0 * LN_2, 1e-14));
        assert!(is_close(trigamma(0.5), PI * PI / 2.0, 1e-14));
        // -2 ζ(3).
        assert!(is_close(tetragamma(1.0), -2.404_113_806_319_188_6, 1e-12));
    }

    #[test]
    fn the_inverse_inverts() {
        for exponent in -30..30 {
            let x = 1.5_f64.powi(exponent);
            let found = inverse_trigamma(trigamma(x));
            assert!(is_close(found, x, 1e-9), "{x}: {found}");
        }
    }
}
