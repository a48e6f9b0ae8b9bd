//! Quantiles of Student's t.

use std::f64::consts::{PI, SQRT_2};

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc_inv;
use statrs::function::gamma::ln_gamma;

/// From here on the expansion around the normal quantile is exact to 1e-11, and the incomplete beta function is not.
const LARGE: f64 = 1000.0;

/// The value that Student's t with `df` degrees of freedom stays below with probability `p`; for infinite `df` the normal
/// distribution's. The relative error is below 1e-11 for `p` between 1e-9 and 1 - 1e-9.
///
/// `None` unless 0 < `p` < 1 and `df` >= 1.
pub fn student_t_quantile(p: f64, df: f64) -> Option<f64> {
    let is_in_domain = p > 0.0 && p < 1.0 && df >= 1.0;
    if !is_in_domain {
        return None;
    }
    if p == 0.5 {
        return Some(0.0);
    }
    // Symmetry keeps the digits of the smaller tail: 1 - p is exact for p >= 0.5.
    let tail = if p < 0.5 { p } else { 1.0 - p };
    let t = if df > LARGE { expanded(tail, df) } else { solved(tail, df) };
    t.is_finite().then_some(if p < 0.5 { -t } else { t })
}

/// The upper normal quantile.
fn normal(tail: f64) -> f64 {
    SQRT_2 * erfc_inv(2.0 * tail)
}

/// The expansion around the normal quantile in powers of 1/df: Abramowitz and Stegun, Handbook of Mathematical Functions
/// (1964), 26.7.5.
fn expanded(tail: f64, df: f64) -> f64 {
    let x = normal(tail);
    let s = x * x;
    let g1 = (s + 1.0) / 4.0;
    let g2 = ((5.0 * s + 16.0) * s + 3.0) / 96.0;
    let g3 = (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0;
    let g4 = ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92_160.0;
    x * (1.0 + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df)
}

/// Newton's method for ln t on the logarithm of the tail beyond t, or of the mass between -t and t where that is the
/// smaller: both are concave in ln t, so from the normal quantile, which lies on the centre's side of the answer, it
/// converges for every `df`. (statrs can invert the incomplete beta function too, but stops at three digits for some
/// arguments, and for others never.)
fn solved(tail: f64, df: f64) -> f64 {
    let ln_scale = ln_gamma((df + 1.0) / 2.0) - ln_gamma(df / 2.0) - (df * PI).sqrt().ln();
    let mut t = normal(tail);
    for _ in 0..50 {
        let ratio = t * t / df;
        let density = (ln_scale - (df + 1.0) / 2.0 * ratio.ln_1p()).exp();
        let step = if tail < 0.25 {
            let beyond = beta_reg(df / 2.0, 0.5, 1.0 / (1.0 + ratio)) / 2.0;
            (beyond / tail).ln() * beyond / (density * t)
        } else {
            let within = beta_reg(0.5, df / 2.0, ratio / (1.0 + ratio));
            ((1.0 - 2.0 * tail) / within).ln() * within / (2.0 * density * t)
        };
        t *= step.exp();
        if step.abs() < 1e-14 {
            break;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles;

    #[test]
    fn equals_forty_digit_arithmetic() {
        let rows = &oracles::all().quantiles;
        assert!(rows.len() > 400);
        for (p, df, expected) in rows {
            let df = df.unwrap_or(f64::INFINITY);
            let t = student_t_quantile(*p, df).unwrap();
            assert!(
                (t - expected).abs() <= 1e-11 * expected.abs(),
                "p {p}, df {df}: {t} instead of {expected}"
            );
        }
    }

    #[test]
    fn is_symmetric_and_grows_with_p() {
        for df in [1.0, 2.0, 3.7, 18.0, 999.0, 1001.0, f64::INFINITY] {
            let quantiles: Vec<f64> =
                (1..1000).map(|p| student_t_quantile(f64::from(p) / 1000.0, df).unwrap()).collect();
            assert!(quantiles.is_sorted_by(|low, high| low < high), "df {df}");
            for (low, high) in quantiles.iter().zip(quantiles.iter().rev()) {
                assert!((low + high).abs() <= 1e-12 * high.abs(), "df {df}: {low} and {high}");
            }
        }
    }

    #[test]
    fn both_ways_meet() {
        for tail in [1e-6, 0.0001, 0.025, 0.2, 0.4] {
            let (below, above) = (solved(tail, LARGE), expanded(tail, LARGE));
            assert!((below - above).abs() < 1e-11 * above, "{tail}: {below} and {above}");
        }
    }

    #[test]
    fn outside_its_domain_there_is_none() {
        for (p, df) in
            [(0.0, 5.0), (1.0, 5.0), (-0.1, 5.0), (f64::NAN, 5.0), (0.9, 0.0), (0.9, 0.5), (0.9, f64::NAN)]
        {
            assert_eq!(student_t_quantile(p, df), None, "p {p}, df {df}");
        }
    }
}
