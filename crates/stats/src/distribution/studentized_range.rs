//! The studentized range: the largest difference between several means, in units of one mean's standard error.
//!
//! Tukey (1953); for means of unequal n, Kramer, Biometrics 12 (1956), with sqrt(2) |t| instead of the range.

use super::curve::Curve;
use super::incomplete::Tails;
use super::quadrature::{Pair, inner_line, over_chi};
use super::{NO_MORE, is_inside, normal, solve, student};
use std::f64::consts::SQRT_2;

/// P(Q <= `q`) for the range of `k` means. `df` may be infinite. NaN unless `k` >= 2 and `df` >= 1.
pub fn cdf(q: f64, k: usize, df: f64) -> f64 {
    StudentizedRange::of(k, df).map_or(f64::NAN, |range| range.cdf(q))
}

/// P(Q > `q`). NaN as for [`cdf`].
pub fn sf(q: f64, k: usize, df: f64) -> f64 {
    StudentizedRange::of(k, df).map_or(f64::NAN, |range| range.sf(q))
}

/// The value that Q stays below with probability `p`. `None` unless 0 < `p` < 1 and the rest is as for [`cdf`].
pub fn quantile(p: f64, k: usize, df: f64) -> Option<f64> {
    is_inside(p).then(|| StudentizedRange::of(k, df)?.solve(p, 1.0 - p)).flatten()
}

/// The value that Q exceeds with probability `tail`. `None` unless 0 < `tail` < 1 and the rest is as for [`cdf`].
pub fn upper_quantile(tail: f64, k: usize, df: f64) -> Option<f64> {
    is_inside(tail).then(|| StudentizedRange::of(k, df)?.solve(1.0 - tail, tail)).flatten()
}

/// The range of so many means, for several questions: what they have in common is computed once.
#[derive(Debug)]
pub struct StudentizedRange {
    k: f64,
    df: f64,
    /// Where the largest of `k` normal variables is to be expected.
    top: f64,
    /// P(range > w) of normal variables.
    curve: Curve,
}

impl StudentizedRange {
    /// The range of `k` means. `None` unless `k` >= 2 and `df` >= 1.
    pub fn of(k: usize, df: f64) -> Option<StudentizedRange> {
        if k < 2 || df.is_nan() || df < 1.0 {
            return None;
        }
        let top = normal::upper_quantile(1.0 / k as f64)?;
        Some(StudentizedRange { k: k as f64, df, top, curve: Curve::default() })
    }

    /// P(Q <= `q`); NaN if `q` is.
    pub fn cdf(&self, q: f64) -> f64 {
        match q {
            _ if q.is_nan() => q,
            _ if q <= 0.0 => 0.0,
            f64::INFINITY => 1.0,
            _ => self.lower(q).0.min(1.0),
        }
    }

    /// P(Q > `q`): the p-value, adjusted for all pairs, of a comparison with |t| = `q` / sqrt(2); NaN if `q` is.
    /// Where Bonferroni's bound over all pairs is below 1e-30 it is that bound.
    pub fn sf(&self, q: f64) -> f64 {
        match q {
            _ if q.is_nan() => q,
            _ if q <= 0.0 => 1.0,
            f64::INFINITY => 0.0,
            _ => {
                let bound = self.k * (self.k - 1.0) * student::sf(q / SQRT_2, self.df);
                if bound < NO_MORE { bound } else { self.upper(q).0.min(1.0) }
            }
        }
    }

    /// The value that Q exceeds with probability `tail`. `None` unless 0 < `tail` < 1.
    pub fn upper_quantile(&self, tail: f64) -> Option<f64> {
        is_inside(tail).then(|| self.solve(1.0 - tail, tail)).flatten()
    }

    /// P(Q <= `q`), and its derivative by ln q.
    fn lower(&self, q: f64) -> Pair {
        over_chi(self.df, (1.0 / q).ln().max(0.0), 0.2, |s| self.within(q * s))
    }

    /// P(Q > `q`), and its derivative by ln q.
    fn upper(&self, q: f64) -> Pair {
        over_chi(self.df, (3.0 / q).ln().min(0.0), 0.2, |s| self.curve.at(q * s, |w| self.beyond(w)))
    }

    /// P(range <= `w`) of normal variables: the largest is z, the others lie within w below it.
    fn within(&self, w: f64) -> f64 {
        let others = self.k - 1.0;
        let sum = inner_line(0.5, (0.5 * w).min(self.top), |z| {
            normal::density(z) * (others * normal::between(z - w, z).ln()).exp()
        });
        self.k * sum
    }

    /// P(range > `w`) of normal variables.
    fn beyond(&self, w: f64) -> f64 {
        let others = self.k - 1.0;
        let sum = inner_line(0.5, (0.5 * w).max(self.top), |z| {
            let below = normal::cdf(z);
            let share = (others * (-normal::cdf(z - w) / below).ln_1p()).exp_m1();
            normal::density(z) * (others * below.ln()).exp() * -share
        });
        self.k * sum
    }

    fn solve(&self, p: f64, q: f64) -> Option<f64> {
        // Bonferroni's bound over all pairs lies above.
        let pairs = 0.5 * self.k * (self.k - 1.0);
        let start = SQRT_2 * student::upper_quantile(0.5 * q / pairs, self.df)?;
        let ln_q = solve::solve(p, q, start.ln(), |ln_q| {
            if p < q {
                let Pair(lower, slope) = self.lower(ln_q.exp());
                Tails { lower, upper: 1.0 - lower, slope }
            } else {
                let Pair(upper, slope) = self.upper(ln_q.exp());
                Tails { lower: 1.0 - upper, upper, slope: -slope }
            }
        });
        Some(ln_q.exp())
    }
}
