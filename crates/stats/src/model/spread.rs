//! Variances of several conditions, each estimated from few boots and moderated by the others
//! (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004).
//!
//! The true variances count as draws from a scaled inverse chi-squared distribution around a common
//! one. The more alike they are, the more degrees of freedom the common one is worth, by the spread
//! of their logarithms. Smyth's estimate is made for thousands of variances; of a few it is too
//! large in half of all cases, so here the upper limit of that spread is used. Where the conditions
//! are few or differ, little is borrowed.
//!
//! Only intervals that hold together are moderated: the noisiest condition errs more often than the
//! others, which the family's level makes up for.

use crate::distribution::chi_squared;
use crate::distribution::special::{digamma, inverse_trigamma, trigamma};

// The chance that the spread of the true variances is above its limit. `bench verdict --families`
// shows the resulting false positives.
const TAIL: f64 = 0.01;
// Fewer variances do not show their spread.
const FEWEST: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) variance: f64,
    /// Degrees of freedom; 0 for an unknown variance, infinite for a known one.
    pub(crate) df: f64,
}

impl Spread {
    pub(crate) const NONE: Spread = Spread { variance: 0.0, df: f64::INFINITY };
    pub(crate) const UNKNOWN: Spread = Spread { variance: 0.0, df: 0.0 };

    /// The moderated spread of a baseline, corrected.
    pub(crate) fn moderated_by(self, moderated: Spread) -> Spread {
        // A baseline's error is in all comparisons, so quiet conditions must not make it look
        // small: the larger variance counts. Its degrees of freedom are between its own and those
        // of all together; `bench verdict --families` shows that their geometric mean holds.
        if self.variance <= moderated.variance {
            return moderated;
        }
        Spread { variance: self.variance, df: (self.df * moderated.df).sqrt() }
    }

    pub(crate) fn is_estimated(&self) -> bool {
        self.df > 0.0 && self.df.is_finite()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Common {
    /// Their geometric mean, less the bias of its logarithm.
    variance: f64,
    /// Its worth for each of them, in degrees of freedom.
    df: f64,
    /// The degrees of freedom of all of them together: the upper limit.
    all: f64,
}

impl Common {
    /// The common part of independent estimates. `None` if there is none: too few of them, or one
    /// without any spread.
    pub(crate) fn from_estimates(estimates: impl Iterator<Item = Spread>) -> Option<Common> {
        let estimates: Vec<Spread> = estimates.filter(Spread::is_estimated).collect();
        let count = estimates.len() as f64;
        if estimates.len() < FEWEST || estimates.iter().any(|one| one.variance <= 0.0) {
            return None;
        }
        // ln s² is ln σ² + ln (χ² / df), which has mean ψ(df / 2) - ln (df / 2) and variance ψ'(df
        // / 2).
        let logarithm = |one: &Spread| one.variance.ln() - digamma(one.df / 2.0) + (one.df / 2.0).ln();
        let logarithms: Vec<f64> = estimates.iter().map(logarithm).collect();
        let mean = logarithms.iter().sum::<f64>() / count;
        let squares: f64 = logarithms.iter().map(|logarithm| (logarithm - mean).powi(2)).sum();
        let by_chance = estimates.iter().map(|one| trigamma(one.df / 2.0)).sum::<f64>() / count;
        let true_spread = squares / chi_squared::quantile(TAIL, count - 1.0)? - by_chance;
        let all = estimates.iter().map(|one| one.df).sum();
        let df = if true_spread > 0.0 { 2.0 * inverse_trigamma(true_spread) } else { all };
        Some(Common { variance: mean.exp(), df, all })
    }

    /// The typical degrees of freedom after moderation of one of `count` equal variances with `df`
    /// each.
    pub(crate) fn typical_df(count: usize, df: f64) -> f64 {
        let all = count as f64 * df;
        let limit = chi_squared::quantile(TAIL, count as f64 - 1.0).filter(|_| count >= FEWEST);
        limit.map_or(df, |limit| {
            let true_spread = trigamma(df / 2.0) * ((count as f64 - 1.0) / limit - 1.0);
            (df + 2.0 * inverse_trigamma(true_spread)).min(all)
        })
    }

    /// The posterior mean of an estimate and the common part, with the degrees of freedom of both.
    pub(crate) fn moderate(self, own: Spread) -> Spread {
        if !own.is_estimated() {
            return own;
        }
        let df = own.df + self.df;
        Spread { variance: (own.df * own.variance + self.df * self.variance) / df, df: df.min(self.all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::is_close;

    fn spreads(variances: &[f64], df: f64) -> Vec<Spread> {
        variances.iter().map(|variance| Spread { variance: *variance, df }).collect()
    }

    fn common(variances: &[f64], df: f64) -> Option<Common> {
        Common::from_estimates(spreads(variances, df).into_iter())
    }

    #[test]
    fn few_variances_or_none_borrow_nothing() {
        assert_eq!(common(&[1.0, 1.0], 4.0), None);
        assert_eq!(common(&[1.0, 0.0, 1.0], 4.0), None);
        assert_eq!(Common::from_estimates([Spread::NONE, Spread::UNKNOWN, Spread::NONE].into_iter()), None);
    }

    #[test]
    fn equal_variances_borrow_all_and_unequal_ones_hardly_anything() {
        let equal = common(&[2.0; 8], 4.0).unwrap();
        assert_eq!(equal.df, 32.0);
        assert_eq!(equal.moderate(Spread { variance: 2.0, df: 4.0 }).df, 32.0);
        let unequal = common(&[1.0, 50.0, 3000.0, 2.0, 700.0, 0.1], 4.0).unwrap();
        assert!(unequal.df < 0.3, "{unequal:?}");
        let own = Spread { variance: 3000.0, df: 4.0 };
        let moderated = unequal.moderate(own);
        assert!(moderated.variance > 0.9 * own.variance && moderated.df < 4.3, "{moderated:?}");
        assert_eq!(unequal.moderate(Spread::UNKNOWN), Spread::UNKNOWN);
        assert_eq!(unequal.moderate(Spread::NONE), Spread::NONE);
    }

    /// By hand, for two degrees of freedom: ψ(1) = -γ and ψ'(1) = π² / 6; χ² of 2 has its 1 %
    /// quantile at -2 ln 0.99.
    #[test]
    fn the_limit_is_that_of_a_chi_squared_spread() {
        let logarithms = [-1.0_f64, 0.0, 1.0];
        let variances = logarithms.map(f64::exp);
        let found = common(&variances, 2.0).unwrap();
        assert!(is_close(found.variance, 0.577_215_664_901_532_9_f64.exp(), 1e-12), "{found:?}");
        let limit = 2.0 / (-2.0 * 0.99_f64.ln()) - std::f64::consts::PI.powi(2) / 6.0;
        assert!(is_close(trigamma(found.df / 2.0), limit, 1e-9), "{found:?}");
    }

    #[test]
    fn a_baseline_does_not_look_quieter_than_it_is() {
        let moderated = Spread { variance: 2.0, df: 16.0 };
        assert_eq!(Spread { variance: 1.0, df: 4.0 }.moderated_by(moderated), moderated);
        let noisy = Spread { variance: 3.0, df: 4.0 };
        assert_eq!(noisy.moderated_by(moderated), Spread { variance: 3.0, df: 8.0 });
    }

    #[test]
    fn the_typical_worth_grows_with_the_number_of_conditions() {
        assert_eq!(Common::typical_df(2, 4.0), 4.0);
        let worth: Vec<f64> = [3, 5, 8, 20, 100].map(|count| Common::typical_df(count, 4.0)).to_vec();
        assert!(worth.is_sorted() && worth[0] < 4.3 && worth[4] > 12.0, "{worth:?}");
    }
}
