//! The beta distribution, and the exact interval of a share.

use crate::distribution::{is_inside, numeric, special};

/// P(X <= `x`). NaN unless both shapes are positive and finite.
pub fn cdf(x: f64, a: f64, b: f64) -> f64 {
    match x {
        _ if x.is_nan() || !is_valid(a, b) => f64::NAN,
        _ if x <= 0.0 => 0.0,
        _ if x >= 1.0 => 1.0,
        _ => special::beta(a, b)(x, 1.0 - x).lower,
    }
}

/// The value that X stays below with probability `p`. `None` unless 0 < `p` < 1 and both shapes are
/// positive and finite.
pub fn quantile(p: f64, a: f64, b: f64) -> Option<f64> {
    Some(1.0 / (1.0 + (-ln_odds(p, 1.0 - p, a, b)?).exp()))
}

/// The value that X exceeds with probability `tail`. `None` unless 0 < `tail` < 1 and both shapes
/// are positive and finite.
pub fn upper_quantile(tail: f64, a: f64, b: f64) -> Option<f64> {
    Some(1.0 / (1.0 + (-ln_odds(1.0 - tail, tail, a, b)?).exp()))
}

/// The interval of the probability of success given `successes` among `trials`, that covers it with
/// a probability of at least `level`: Clopper and Pearson, Biometrika 26 (1934). `None` unless 0 <
/// `level` < 1 and 0 <= `successes` <= `trials` > 0.
pub fn binomial_interval(successes: u64, trials: u64, level: f64) -> Option<(f64, f64)> {
    if !is_inside(level) || trials == 0 || successes > trials {
        return None;
    }
    let tail = 0.5 * (1.0 - level);
    let (hits, misses) = (successes as f64, (trials - successes) as f64);
    let low = if successes == 0 { 0.0 } else { quantile(tail, hits, misses + 1.0)? };
    let high = if successes == trials { 1.0 } else { upper_quantile(tail, hits + 1.0, misses)? };
    Some((low, high))
}

/// ln(x / (1 - x)) where the tails of X are `p` and `q`; it keeps the digits of either end. `None`
/// unless both tails and shapes are positive, and the shapes finite.
pub(crate) fn ln_odds(p: f64, q: f64, a: f64, b: f64) -> Option<f64> {
    (p > 0.0 && q > 0.0 && is_valid(a, b)).then(|| {
        let beta = special::beta(a, b);
        numeric::solve(p, q, a.ln() - b.ln(), |ln_odds| {
            beta(1.0 / (1.0 + (-ln_odds).exp()), 1.0 / (1.0 + ln_odds.exp()))
        })
    })
}

fn is_valid(a: f64, b: f64) -> bool {
    a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite()
}
