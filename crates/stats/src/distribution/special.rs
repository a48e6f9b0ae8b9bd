//! The incomplete gamma and beta functions: both tails, each without cancellation, and the density
//! between them.

use std::f64::consts::PI;
use std::sync::LazyLock;

pub(crate) use statrs::function::gamma::digamma;

// Enough for shapes up to about 1e12: near the mean the series need a multiple of the shape's
// square root.
const TERMS: u32 = 20_000_000;

/// A distribution of a positive quantity at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tails {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// The derivative of `lower`: by ln x for [`gamma`], by ln(x / (1 - x)) for [`beta`].
    pub(crate) slope: f64,
}

/// The gamma distribution with this `shape` and unit scale, at `x` > 0.
pub(crate) fn gamma(shape: f64, x: f64) -> Tails {
    // x^a e^-x / Γ(a), by Stirling's formula for Γ: no large logarithms are subtracted (Loader,
    // Fast and Accurate Computation of Binomial Probabilities, 2000).
    let slope = (shape / (2.0 * PI)).sqrt() * (-stirling(shape) - deviance(shape, x, x - shape)).exp();
    if x < shape + 1.0 {
        // DLMF 8.7.1.
        let mut term = 1.0 / shape;
        let mut sum = term;
        for n in 1..TERMS {
            term *= x / (shape + f64::from(n));
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        let lower = slope * sum;
        Tails { lower, upper: 1.0 - lower, slope }
    } else {
        // DLMF 8.9.2, its even part.
        let fraction = continued_fraction(x + 1.0 - shape, |n| (n * (shape - n), x + 2.0 * n + 1.0 - shape));
        let upper = slope / fraction;
        Tails { lower: 1.0 - upper, upper, slope }
    }
}

/// The beta distribution of shapes `a` and `b`, as a function of `x` and `y` = 1 - `x`: with both,
/// small ones keep their digits.
pub(crate) fn beta(a: f64, b: f64) -> impl Fn(f64, f64) -> Tails {
    let n = a + b;
    let root = (a * b / (2.0 * PI * n)).sqrt();
    let remainders = stirling(n) - stirling(a) - stirling(b);
    move |x, y| {
        // n x - a, from the smaller shape's side.
        let excess = if a < b { n * x - a } else { b - n * y };
        // x^a y^b / B(a, b), by Stirling's formula as above.
        let slope = root * (remainders - deviance(a, n * x, excess) - deviance(b, n * y, -excess)).exp();
        if excess <= 0.0 {
            let lower = slope / beta_fraction(a, b, x, -excess);
            Tails { lower, upper: 1.0 - lower, slope }
        } else {
            let upper = slope / beta_fraction(b, a, y, excess);
            Tails { lower: 1.0 - upper, upper, slope }
        }
    }
}

/// x^a y^b / (B(a, b) I_x(a, b)), given `below` = a y - b x >= 0: Didonato and Morris, ACM
/// Transactions on Mathematical Software 18 (1992), equation 9.
fn beta_fraction(a: f64, b: f64, x: f64, below: f64) -> f64 {
    let denominator = |n: f64| {
        n + n * (b - n) * x / (a + 2.0 * n - 1.0)
            + (a + n) * (below + 1.0 + n * (2.0 - x)) / (a + 2.0 * n + 1.0)
    };
    let first = a * (below + 1.0) / (a + 1.0);
    continued_fraction(first, |n| {
        let whole = a + 2.0 * n - 1.0;
        ((a + n - 1.0) / whole * ((a + b + n - 1.0) / whole) * n * (b - n) * x * x, denominator(n))
    })
}

/// first + a(1) / (b(1) + a(2) / (b(2) + ...)) for `part`(n) = (a(n), b(n)), by Lentz's method as
/// modified by Thompson and Barnett (1986).
fn continued_fraction(first: f64, part: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut value = first;
    let (mut c, mut d) = (first, 0.0);
    for n in 1..TERMS {
        let (numerator, denominator) = part(f64::from(n));
        d = 1.0 / (denominator + numerator * d);
        c = denominator + numerator / c;
        let factor = c * d;
        value *= factor;
        // Some units in the last place: rounding may never settle. NaN, from extreme parameters,
        // ends it too.
        let is_moving = (factor - 1.0).abs() > 1e-15;
        if !is_moving {
            break;
        }
    }
    value
}

/// ln Γ(a) - (a - 1/2) ln a + a - ln(2 π) / 2, the remainder of Stirling's formula, for `a` > 0.
pub(crate) fn stirling(a: f64) -> f64 {
    // Half of a number of degrees of freedom, mostly: sixteen logarithms are saved.
    static OF_HALVES: LazyLock<[f64; 2 * LARGE as usize]> =
        LazyLock::new(|| std::array::from_fn(|twice| computed_stirling(0.5 * twice as f64)));
    let is_half = a < LARGE && (2.0 * a).fract() == 0.0;
    if is_half { OF_HALVES[(2.0 * a) as usize] } else { computed_stirling(a) }
}

fn computed_stirling(mut a: f64) -> f64 {
    let mut sum = 0.0;
    // Γ(a + 1) = a Γ(a), up to where the series has all digits.
    while a < LARGE {
        sum += (a + 0.5) * (1.0 / a).ln_1p() - 1.0;
        a += 1.0;
    }
    // DLMF 5.11.1.
    let s = 1.0 / (a * a);
    sum + (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / a
}

/// a ln(a / x) + x - a, where `excess` is x - a to all its digits.
fn deviance(a: f64, x: f64, excess: f64) -> f64 {
    let r = excess / a;
    if r.abs() > 0.5 {
        return excess - a * (x / a).ln();
    }
    // ln(1 + r) = 2 artanh(q) with q = r / (2 + r), so that r - ln(1 + r) = q r - 2 (q^3 / 3 + q^5
    // / 5 + ...).
    let q = r / (2.0 + r);
    let mut power = 2.0 * q * q * q;
    let mut sum = q * r;
    let mut n = 3.0;
    loop {
        let term = power / n;
        sum -= term;
        if term.abs() <= 1e-17 * sum.abs() {
            return a * sum;
        }
        power *= q * q;
        n += 2.0;
    }
}

// The derivatives of ln Γ: the mean and variance of the logarithm of a chi-squared variable.
// statrs has the first only.

// From here on the asymptotic series are exact to 1e-15.
const LARGE: f64 = 16.0;

/// The second derivative of ln Γ at `x` > 0 (DLMF 25.11.12).
pub(crate) fn trigamma(x: f64) -> f64 {
    zeta(2, x)
}

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
