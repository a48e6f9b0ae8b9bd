//! Probability distributions: `cdf` is the probability of at most x, `sf` the probability of more
//! than x (the upper tail, computed without subtracting from one), `quantile` inverts the first and
//! `upper_quantile` the second.
//!
//! Relative errors are below 1e-10 for probabilities between 1e-9 and 1 - 1e-9 and up to 1e6
//! degrees of freedom, and for infinitely many where that has a meaning; what differs is said where
//! it does. A probability is NaN and a quantile `None` where the parameters make no distribution.

pub mod beta;
pub mod chi_squared;
pub mod dunnett;
pub mod fisher;
pub mod noncentral_t;
pub mod normal;
pub mod student;

pub(crate) mod curve;
mod incomplete;
pub(crate) mod polygamma;
pub(crate) mod quadrature;
pub(crate) mod solve;

/// A tail that is so small is as good as none: a bound of it does.
const NO_MORE: f64 = 1e-30;

/// Whether 0 < `p` < 1.
fn is_inside(p: f64) -> bool {
    p > 0.0 && p < 1.0
}
