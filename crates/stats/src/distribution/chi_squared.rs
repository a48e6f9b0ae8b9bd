//! The chi-squared distribution.

use crate::distribution::special::{Tails, gamma};
use crate::distribution::{normal, numeric};

/// P(X <= `x`). NaN unless `df` > 0 and finite.
pub fn cdf(x: f64, df: f64) -> f64 {
    tails(x, df).lower
}

/// P(X > `x`). NaN unless `df` > 0 and finite.
pub fn sf(x: f64, df: f64) -> f64 {
    tails(x, df).upper
}

/// The value that X stays below with probability `p`. `None` unless 0 < `p` < 1, and `df` > 0 and
/// finite.
pub fn quantile(p: f64, df: f64) -> Option<f64> {
    // Wilson and Hilferty (1931), or the beginning of the density.
    let z = normal::quantile(p).filter(|_| is_valid(df))?;
    let root = 1.0 - 2.0 / (9.0 * df) + z * (2.0 / (9.0 * df)).sqrt();
    let start = if root > 0.3 { df.ln() + 3.0 * root.ln() } else { (0.5 * df).ln() + 2.0 * p.ln() / df };
    let ln_half = numeric::solve(p, 1.0 - p, start - 2.0_f64.ln(), |ln_half| gamma(0.5 * df, ln_half.exp()));
    Some(2.0 * ln_half.exp())
}

fn is_valid(df: f64) -> bool {
    df > 0.0 && df.is_finite()
}

fn tails(x: f64, df: f64) -> Tails {
    let sure = |lower: f64| Tails { lower, upper: 1.0 - lower, slope: 0.0 };
    match x {
        _ if x.is_nan() || !is_valid(df) => sure(f64::NAN),
        _ if x <= 0.0 => sure(0.0),
        f64::INFINITY => sure(1.0),
        _ => gamma(0.5 * df, 0.5 * x),
    }
}
