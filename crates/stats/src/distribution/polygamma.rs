//! The derivatives of ln Γ: what the logarithm of a chi-squared variable has as its mean and
//! variance.

/// From here on the asymptotic series are exact to 1e-15.
const LARGE: f64 = 16.0;

/// The first derivative of ln Γ at `x` > 0 (Abramowitz and Stegun, 6.3.5 and 6.3.18).
pub(crate) fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < LARGE {
        below += 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = 1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0));
    x.ln() - 0.5 / x - square * series - below
}

/// The second derivative of ln Γ at `x` > 0 (Abramowitz and Stegun, 6.4.6 and 6.4.12).
pub(crate) fn trigamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < LARGE {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0));
    (1.0 + 0.5 / x + square * series) / x + below
}

/// Where [`trigamma`] has this value, which is above 0.
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

/// The third derivative of ln Γ at `x` > 0, which is negative (Abramowitz and Stegun, 6.4.6 and
/// 6.4.13).
fn tetragamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < LARGE {
        below += 2.0 / (x * x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    -square * (1.0 + 1.0 / x + square * (0.5 - square * (1.0 / 6.0 - square / 6.0))) - below
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{LN_2, PI};

    use super::*;
    use crate::oracles::is_close;

    /// Euler's constant.
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
