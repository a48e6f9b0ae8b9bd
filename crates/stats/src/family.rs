//! Several comparisons as one family: critical values and p-values that hold for all of them together.

use std::f64::consts::SQRT_2;

use crate::distribution::dunnett::Dunnett;
use crate::distribution::student;
use crate::distribution::studentized_range::StudentizedRange;

/// How many different λ a family of Dunnett's may have before they are rounded.
const MOST_LAMBDAS: usize = 8;
/// A larger λ is taken as this: two comparisons that are nearly one gain little, and their distribution takes long to compute.
const LARGEST_LAMBDA: f64 = 0.98;
/// To this step, downwards: a smaller correlation asks for a larger critical value.
const LAMBDA_STEP: f64 = 1.0 / 64.0;

/// Which comparisons are judged together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Family {
    /// One comparison, or each by itself: Student's t.
    Single,
    /// Several conditions with one baseline: Dunnett's.
    Dunnett { lambdas: Vec<f64> },
    /// All pairs of this many conditions: Tukey and Kramer's (conservative where variances are unequal: Hayter, Ann. Stat.
    /// 12, 1984).
    Tukey { conditions: usize },
    /// This many comparisons, each with an error of its own: Šidák's (J. Am. Stat. Assoc. 62, 1967), which holds whatever
    /// their correlation.
    Sidak { comparisons: usize },
}

impl Family {
    /// A family of comparisons with one baseline, from the covariances of their differences. They are correlated by
    /// λ(i) λ(j) in a balanced or nested design. Where no such product fits (cells are missing from a crossed design), λ(i)²
    /// is the smallest correlation of i with any other, which is no larger than it is: by Slepian's inequality the
    /// critical value then is a little too large rather than too small.
    pub(crate) fn dunnett(covariance: impl Fn(usize, usize) -> f64, count: usize) -> Family {
        if count < 2 {
            return Family::Single;
        }
        let sd: Vec<f64> = (0..count).map(|place| covariance(place, place).sqrt()).collect();
        let correlation = |one: usize, other: usize| {
            let value = covariance(one, other) / (sd[one] * sd[other]);
            if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }
        };
        let product = |lambdas: &[f64]| {
            let pairs = (0..count).flat_map(|one| (0..one).map(move |other| (one, other)));
            pairs
                .into_iter()
                .all(|(one, other)| (lambdas[one] * lambdas[other] - correlation(one, other)).abs() <= 1e-9)
        };
        // λ(i)² = ρ(i, j) ρ(i, k) / ρ(j, k) for any two others.
        let from_three = |place: usize| {
            let mut others = (0..count).filter(|other| *other != place);
            match (others.next(), others.next()) {
                (Some(one), Some(other)) => {
                    let product = correlation(place, one) * correlation(place, other);
                    (product / correlation(one, other)).sqrt()
                }
                (Some(one), None) => correlation(place, one).sqrt(),
                _ => 0.0,
            }
        };
        let mut lambdas: Vec<f64> = (0..count).map(from_three).collect();
        if !product(&lambdas) {
            let least = |place: usize| {
                let others = (0..count).filter(|other| *other != place);
                others.map(|other| correlation(place, other)).fold(1.0, f64::min).sqrt()
            };
            lambdas = (0..count).map(least).collect();
        }
        Family::Dunnett { lambdas: grouped(lambdas) }
    }

    /// The family's distribution at these degrees of freedom; none below 1.
    pub(crate) fn at(&self, df: f64) -> Option<Largest> {
        Some(match self {
            Family::Single => Largest::OfIndependent { comparisons: 1, df },
            Family::Sidak { comparisons } => Largest::OfIndependent { comparisons: *comparisons, df },
            Family::Dunnett { lambdas } => Largest::Dunnett(Dunnett::of(lambdas, df)?),
            Family::Tukey { conditions } => Largest::Tukey(StudentizedRange::of(*conditions, df)?),
        })
    }

    /// Does a critical value of this family take long to compute?
    pub(crate) fn is_costly(&self) -> bool {
        matches!(self, Family::Dunnett { .. } | Family::Tukey { .. })
    }
}

/// The distribution of the largest |t| of a family. What its questions have in common is computed once.
#[derive(Debug)]
pub(crate) enum Largest {
    /// Of comparisons as if independent: Student's t for one, Šidák's bound for several.
    OfIndependent {
        comparisons: usize,
        df: f64,
    },
    Dunnett(Dunnett),
    Tukey(StudentizedRange),
}

impl Largest {
    /// The value that the largest |t| exceeds with probability `alpha` where nothing differs.
    pub(crate) fn critical(&self, alpha: f64) -> Option<f64> {
        match self {
            Largest::OfIndependent { comparisons: 1, df } => student::upper_quantile(alpha / 2.0, *df),
            Largest::OfIndependent { comparisons, df } => {
                let each = -((-alpha).ln_1p() / *comparisons as f64).exp_m1();
                student::upper_quantile(each / 2.0, *df)
            }
            Largest::Dunnett(dunnett) => dunnett.upper_quantile(alpha),
            Largest::Tukey(range) => Some(range.upper_quantile(alpha)? / SQRT_2),
        }
    }

    /// The chance that the largest |t| exceeds this one where nothing differs.
    pub(crate) fn p(&self, t: f64) -> f64 {
        let p = match self {
            Largest::OfIndependent { comparisons, df } => {
                let each = (2.0 * student::sf(t, *df)).min(1.0);
                if *comparisons == 1 { each } else { -(*comparisons as f64 * (-each).ln_1p()).exp_m1() }
            }
            Largest::Dunnett(dunnett) => dunnett.sf(t),
            Largest::Tukey(range) => range.sf(t * SQRT_2),
        };
        p.clamp(0.0, 1.0)
    }
}

/// Few different values, none larger than it was; equal but for rounding is equal.
fn grouped(lambdas: Vec<f64>) -> Vec<f64> {
    let exact: Vec<f64> =
        lambdas.iter().map(|lambda| ((lambda * 1e12).round() / 1e12).min(LARGEST_LAMBDA)).collect();
    let mut distinct = exact.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    if distinct.len() <= MOST_LAMBDAS {
        return exact;
    }
    exact.iter().map(|lambda| (lambda / LAMBDA_STEP).floor() * LAMBDA_STEP).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::is_close;

    #[test]
    fn equal_variances_share_half_with_the_baseline() {
        let family = Family::dunnett(|one, other| if one == other { 2.0 } else { 1.0 }, 7);
        let Family::Dunnett { lambdas } = &family else { panic!("{family:?}") };
        assert!(lambdas.iter().all(|lambda| is_close(*lambda, 0.5_f64.sqrt(), 1e-9)));
        // Dunnett (1955, 1964), the table in the design of this crate: 7 comparisons, 16 degrees of freedom.
        assert!((family.at(16.0).unwrap().critical(0.05).unwrap() - 2.9238).abs() < 5e-5);
    }

    #[test]
    fn correlations_that_are_no_product_are_not_overstated() {
        let correlations = [[1.0, 0.5, 0.2], [0.5, 1.0, 0.6], [0.2, 0.6, 1.0]];
        let family = Family::dunnett(|one, other| correlations[one][other], 3);
        let Family::Dunnett { lambdas } = &family else { panic!("{family:?}") };
        for one in 0..3 {
            for other in 0..one {
                assert!(lambdas[one] * lambdas[other] <= correlations[one][other] + 1e-12);
            }
        }
    }

    #[test]
    fn critical_and_p_are_each_others_inverse() {
        let families = [
            Family::Single,
            Family::Dunnett { lambdas: vec![0.5, 0.6, 0.7] },
            Family::Tukey { conditions: 5 },
            Family::Sidak { comparisons: 6 },
        ];
        for family in families {
            let largest = family.at(7.5).unwrap();
            let critical = largest.critical(0.05).unwrap();
            assert!(is_close(largest.p(critical), 0.05, 1e-9), "{family:?}");
        }
    }

    #[test]
    fn many_lambdas_become_few() {
        let lambdas: Vec<f64> = (0..100).map(|place| 0.5 + f64::from(place) / 1000.0).collect();
        let mut few = grouped(lambdas.clone());
        assert!(few.iter().zip(&lambdas).all(|(few, lambda)| few <= lambda && lambda - few <= LAMBDA_STEP));
        few.dedup();
        assert!(few.len() <= 8, "{}", few.len());
    }
}
