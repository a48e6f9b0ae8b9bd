//! Fisher's F.

use crate::distribution::{beta as beta_distribution, chi_squared, is_inside};
use crate::distribution::special::{beta, Tails};

/// P(F <= `x`). NaN unless `numerator` is positive and finite and `denominator` is positive (it may
/// be infinite).
pub fn cdf(x: f64, numerator: f64, denominator: f64) -> f64 {
    tails(x, numerator, denominator).lower
}

/// P(F > `x`). NaN unless `numerator` is positive and finite and `denominator` is positive (it may
/// be infinite).
pub fn sf(x: f64, numerator: f64, denominator: f64) -> f64 {
    tails(x, numerator, denominator).upper
}

/// The value that F stays below with probability `p`. `None` unless 0 < `p` < 1 and the degrees of
/// freedom are as for [`cdf`].
pub fn quantile(p: f64, numerator: f64, denominator: f64) -> Option<f64> {
    if !is_inside(p) {
        return None;
    }
    if denominator == f64::INFINITY {
        return chi_squared::quantile(p, numerator).map(|x| x / numerator);
    }
    // F is the odds of a beta variable, times the ratio of the degrees of freedom.
    let ln_odds = beta_distribution::ln_odds(p, 1.0 - p, 0.5 * numerator, 0.5 * denominator)?;
    Some(ln_odds.exp() * denominator / numerator)
}

fn tails(x: f64, numerator: f64, denominator: f64) -> Tails {
    let is_valid = numerator > 0.0 && numerator.is_finite() && denominator > 0.0;
    if x.is_nan() || !is_valid {
        return Tails::NONE;
    }
    if denominator.is_infinite() {
        let chi_squared = x * numerator;
        return Tails {
            lower: chi_squared::cdf(chi_squared, numerator),
            upper: chi_squared::sf(chi_squared, numerator),
            slope: f64::NAN,
        };
    }
    if x <= 0.0 {
        return Tails::BELOW;
    }
    let odds = x * numerator / denominator;
    if odds.is_infinite() {
        return Tails::ABOVE;
    }
    beta(0.5 * numerator, 0.5 * denominator, odds / (1.0 + odds), 1.0 / (1.0 + odds))
}
