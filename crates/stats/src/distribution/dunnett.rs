//! Dunnett's distribution: the largest of several |t| that share a baseline and an estimate of the
//! error.
//!
//! T(i) = (λ(i) Z(0) + sqrt(1 - λ(i)^2) Z(i)) / S, so that T(i) and T(j) are correlated with λ(i)
//! λ(j). For a comparison of n(i) boots with a baseline of n(0), λ(i)^2 = n(i) / (n(0) + n(i)):
//! sqrt(1/2) where all are equal. Dunnett, Journal of the American Statistical Association 50
//! (1955); for unequal n, Dunnett and Sobel, Biometrika 42 (1955).

use crate::distribution::numeric::{Both, LogDensity, inner_even_line, over_chi};
use crate::distribution::special::Tails;
use crate::distribution::{is_inside, normal, numeric, student};

// A tail as small as this is replaced by a bound.
const NO_MORE: f64 = 1e-30;

#[derive(Clone, Copy, Debug)]
struct EqualComparisons {
    lambda: f64,
    /// sqrt(1 - λ^2).
    own: f64,
    count: f64,
}

/// One family, for several questions: common parts are computed once.
#[derive(Debug)]
pub struct Dunnett {
    groups: Vec<EqualComparisons>,
    df: f64,
    largest_lambda: f64,
    /// The width, in Z(0), within which the integrands change.
    scale: f64,
    /// P(any |T(i)| > x) for S = 1.
    curve: LogDensity,
}

impl Dunnett {
    /// The family of these λ. `None` unless there is at least one, all |λ| < 1 and `df` >= 1.
    pub fn new(lambdas: &[f64], df: f64) -> Option<Dunnett> {
        let is_valid = !lambdas.is_empty() && lambdas.iter().all(|lambda| lambda.abs() < 1.0) && df >= 1.0;
        if !is_valid {
            return None;
        }
        // The sign of T does not matter here, so neither does that of λ.
        let mut sorted: Vec<f64> = lambdas.iter().map(|lambda| lambda.abs()).collect();
        sorted.sort_by(f64::total_cmp);
        let group = |equal: &[f64]| {
            let (lambda, count) = (equal[0], equal.len() as f64);
            EqualComparisons { lambda, own: ((1.0 - lambda) * (1.0 + lambda)).sqrt(), count }
        };
        let groups: Vec<EqualComparisons> = sorted.chunk_by(|one, other| one == other).map(group).collect();
        let scale = groups.iter().map(|group| group.own / group.lambda).fold(1.0, f64::min);
        Some(Dunnett { curve: LogDensity::default(), groups, df, largest_lambda: *sorted.last()?, scale })
    }

    /// P(max |T(i)| > `d`): the p-value, adjusted for the family, of a comparison with |t| = `d`;
    /// NaN if `d` is. Where Bonferroni's bound is below 1e-30 it is that bound.
    pub fn sf(&self, d: f64) -> f64 {
        match d {
            _ if d.is_nan() => d,
            _ if d <= 0.0 => 1.0,
            f64::INFINITY => 0.0,
            _ => {
                let comparisons: f64 = self.groups.iter().map(|group| group.count).sum();
                let bound = 2.0 * comparisons * student::sf(d, self.df);
                if bound < NO_MORE {
                    bound
                } else if self.df == f64::INFINITY {
                    // S is 1, and the derivative is not needed.
                    self.any_beyond(d).min(1.0)
                } else {
                    self.upper(d)[0].min(1.0)
                }
            }
        }
    }

    /// The value that max |T(i)| exceeds with probability `tail`. `None` unless 0 < `tail` < 1. The
    /// relative error of 1 - `tail` is below 1e-10 where that is above a half.
    pub fn upper_quantile(&self, tail: f64) -> Option<f64> {
        if !is_inside(tail) {
            return None;
        }
        // Bonferroni's bound lies above.
        let comparisons: f64 = self.groups.iter().map(|group| group.count).sum();
        let start = student::upper_quantile(0.5 * tail / comparisons, self.df)?;
        let ln_d = numeric::solve(1.0 - tail, tail, start.ln(), |ln_d| {
            let [upper, slope] = self.upper(ln_d.exp());
            Tails { lower: 1.0 - upper, upper, slope: -slope }
        });
        Some(ln_d.exp())
    }

    /// P(max |T(i)| > `d`), and its derivative by ln d.
    fn upper(&self, d: f64) -> Both {
        let centre = (3.0 / d).ln().min(0.0);
        if self.df == f64::INFINITY {
            // S is 1: fewer values are needed than the curve would take.
            return over_chi(self.df, centre, 0.2, |s| self.any_beyond(d * s));
        }
        over_chi(self.df, centre, 0.2, |s| self.curve.value(d * s, |x| self.any_beyond(x)))
    }

    /// P(any |T(i)| > `x`) for S = 1.
    fn any_beyond(&self, x: f64) -> f64 {
        inner_even_line(0.5 * self.scale, self.largest_lambda * x, |z| {
            let ln_inside = |EqualComparisons { lambda, own, count }: &EqualComparisons| {
                let beyond = normal::sf((x - lambda * z) / own) + normal::sf((x + lambda * z) / own);
                count * (-beyond).ln_1p()
            };
            let ln: f64 = self.groups.iter().map(ln_inside).sum();
            normal::density(z) * -ln.exp_m1()
        })
    }
}
