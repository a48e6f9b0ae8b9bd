//! The incomplete gamma and beta functions: both tails, each without cancellation, and the density
//! between them.

use std::f64::consts::PI;

/// Enough for shapes up to about 1e12: near the mean the series need a multiple of the shape's
/// square root.
const TERMS: u32 = 20_000_000;

/// A distribution of a positive quantity at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tails {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// The derivative of `lower`: by ln x for [`gamma`], by ln(x / (1 - x)) for [`beta`].
    pub(crate) slope: f64,
}

impl Tails {
    /// An invalid distribution.
    pub(crate) const NONE: Tails = Tails { lower: f64::NAN, upper: f64::NAN, slope: f64::NAN };
    /// Below all values.
    pub(crate) const BELOW: Tails = Tails { lower: 0.0, upper: 1.0, slope: 0.0 };
    /// Above all values.
    pub(crate) const ABOVE: Tails = Tails { lower: 1.0, upper: 0.0, slope: 0.0 };
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

/// The beta distribution of shapes `a` and `b` at `x`, where `y` = 1 - `x`: with both, small ones
/// keep their digits.
pub(crate) fn beta(a: f64, b: f64, x: f64, y: f64) -> Tails {
    let n = a + b;
    // n x - a, from the smaller shape's side.
    let excess = if a < b { n * x - a } else { b - n * y };
    // x^a y^b / B(a, b), by Stirling's formula as above.
    let slope = (a * b / (2.0 * PI * n)).sqrt()
        * (stirling(n)
            - stirling(a)
            - stirling(b)
            - deviance(a, n * x, excess)
            - deviance(b, n * y, -excess))
        .exp();
    if excess <= 0.0 {
        let lower = slope / beta_fraction(a, b, x, -excess);
        Tails { lower, upper: 1.0 - lower, slope }
    } else {
        let upper = slope / beta_fraction(b, a, y, excess);
        Tails { lower: 1.0 - upper, upper, slope }
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
    let mut a = a;
    let mut sum = 0.0;
    // Γ(a + 1) = a Γ(a), up to where the series has all digits.
    while a < 16.0 {
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
