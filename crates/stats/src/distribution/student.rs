//! Student's t.

use crate::distribution::special::beta;
use crate::distribution::{is_inside, normal, numeric};

// From here on t is normal: the quantiles differ by less than 1e-11.
const NORMAL: f64 = 1e13;

/// P(T > `x`). NaN unless `df` >= 1.
pub fn sf(x: f64, df: f64) -> f64 {
    if x.is_nan() || df.is_nan() || df < 1.0 {
        return f64::NAN;
    }
    if df >= NORMAL || x == 0.0 || x.is_infinite() {
        return normal::sf(x);
    }
    let ratio = x / df.sqrt();
    let whole = 1.0 + ratio * ratio;
    let beyond = if whole.is_finite() {
        0.5 * beta(0.5, 0.5 * df)(ratio * ratio / whole, 1.0 / whole).upper
    } else {
        0.0
    };
    if x > 0.0 { beyond } else { 1.0 - beyond }
}

/// P(|T| > |`t`|). NaN unless `df` >= 1.
pub(crate) fn two_sided(t: f64, df: f64) -> f64 {
    2.0 * sf(t.abs(), df)
}

/// The value that T stays below with probability `p`; for infinite `df` the normal distribution's.
/// `None` unless 0 < `p` < 1 and `df` >= 1.
pub fn quantile(p: f64, df: f64) -> Option<f64> {
    upper_quantile(p, df).map(|t| -t)
}

/// The value that T exceeds with probability `tail`. `None` unless 0 < `tail` < 1 and `df` >= 1.
pub fn upper_quantile(tail: f64, df: f64) -> Option<f64> {
    if !is_inside(tail) || df.is_nan() || df < 1.0 {
        return None;
    }
    if tail == 0.5 {
        return Some(0.0);
    }
    // 1 - tail is exact then.
    if tail > 0.5 {
        return upper_quantile(1.0 - tail, df).map(|t| -t);
    }
    let start = normal::upper_quantile(tail)?;
    if df >= NORMAL {
        return Some(start);
    }
    // T^2 / df is X / (1 - X) with X a beta variable of shapes 1/2 and df/2.
    let beta = beta(0.5, 0.5 * df);
    let ln_ratio = numeric::solve(1.0 - 2.0 * tail, 2.0 * tail, 2.0 * start.ln() - df.ln(), |ln_ratio| {
        let odds = ln_ratio.exp();
        beta(odds / (1.0 + odds), 1.0 / (1.0 + odds))
    });
    Some(df.sqrt() * (0.5 * ln_ratio).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles;

    #[test]
    fn equals_forty_digit_arithmetic() {
        let rows = &oracles::oracles().quantiles;
        assert!(rows.len() > 400);
        for (p, df, expected) in rows {
            let df = df.unwrap_or(f64::INFINITY);
            let t = quantile(*p, df).unwrap();
            assert!(
                (t - expected).abs() <= 1e-12 * expected.abs(),
                "p {p}, df {df}: {t} instead of {expected}"
            );
        }
    }

    #[test]
    fn is_symmetric_and_grows_with_p() {
        for df in [1.0, 2.0, 3.7, 18.0, 999.0, 1e5, f64::INFINITY] {
            let quantiles: Vec<f64> =
                (1..1000).map(|p| quantile(f64::from(p) / 1000.0, df).unwrap()).collect();
            assert!(quantiles.is_sorted_by(|low, high| low < high), "df {df}");
            for (low, high) in quantiles.iter().zip(quantiles.iter().rev()) {
                assert!((low + high).abs() <= 1e-12 * high.abs(), "df {df}: {low} and {high}");
            }
        }
    }
}
