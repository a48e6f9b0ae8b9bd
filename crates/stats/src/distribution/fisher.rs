//! Fisher's F.

use crate::distribution::{beta, chi_squared};

/// The value that F stays below with probability `p`. `None` unless 0 < `p` < 1, `numerator` is
/// positive and finite and `denominator` is positive (it may be infinite).
pub fn quantile(p: f64, numerator: f64, denominator: f64) -> Option<f64> {
    if denominator == f64::INFINITY {
        return chi_squared::quantile(p, numerator).map(|x| x / numerator);
    }
    // F is the odds of a beta variable, times the ratio of the degrees of freedom.
    let ln_odds = beta::ln_odds(p, 1.0 - p, 0.5 * numerator, 0.5 * denominator)?;
    Some(ln_odds.exp() * denominator / numerator)
}
