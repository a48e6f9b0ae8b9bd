//! Several comparisons as one family: critical values and p-values that hold for all of them
//! together.

use crate::distribution::dunnett::Dunnett;
use crate::distribution::{normal, student};

/// Comparisons with one baseline have the correlation λ(i) λ(j) (see
/// [`crate::distribution::dunnett`]). λ is rounded down to these steps of artanh λ: a smaller
/// correlation is conservative, and fewer distinct ones are computed faster.
const STEP: f64 = 0.2;
/// 0.984: above it a family is hardly more than one comparison.
const MOST_STEPS: f64 = 12.0;

/// Comparisons that are judged together, each with its own error and degrees of freedom.
#[derive(Debug)]
pub(crate) enum ComparisonFamily {
    /// One comparison: Student's t.
    Alone,
    /// Any comparisons, with any correlation: Šidák's rule (J. Am. Stat. Assoc. 62, 1967).
    Any(usize),
    /// Comparisons that share a baseline: Dunnett's rule for the correlations that follow from the
    /// baseline's share in their errors. Each comparison has its own degrees of freedom, so its t
    /// is converted to a normal variable by its p-value. `bench verdict --families` shows that this
    /// holds.
    Shared(Dunnett),
}

impl ComparisonFamily {
    pub(crate) fn independent(comparisons: usize) -> ComparisonFamily {
        if comparisons > 1 { ComparisonFamily::Any(comparisons) } else { ComparisonFamily::Alone }
    }

    /// A family with one baseline; `shares` are its shares in each comparison's variance.
    pub(crate) fn beside_baseline(shares: &[f64]) -> ComparisonFamily {
        let lambda = |share: &f64| {
            let steps = (share.clamp(0.0, 1.0).sqrt().atanh() / STEP).min(MOST_STEPS);
            (steps.floor() * STEP).tanh()
        };
        let lambdas: Vec<f64> = shares.iter().map(lambda).collect();
        match Dunnett::new(&lambdas, f64::INFINITY) {
            Some(together) if shares.len() > 1 => ComparisonFamily::Shared(together),
            _ => ComparisonFamily::independent(shares.len()),
        }
    }

    /// The error rate of each comparison if the family has `alpha`.
    pub(crate) fn comparison_level(&self, alpha: f64) -> f64 {
        match self {
            ComparisonFamily::Alone => alpha,
            ComparisonFamily::Any(comparisons) => -((-alpha).ln_1p() / *comparisons as f64).exp_m1(),
            ComparisonFamily::Shared(together) => {
                together.upper_quantile(alpha).map_or(0.0, normal::two_sided)
            }
        }
    }

    /// The p-value within the family of a comparison with the p-value `each` by itself.
    pub(crate) fn of_all(&self, each: f64) -> f64 {
        let p = match self {
            ComparisonFamily::Alone => each,
            ComparisonFamily::Any(comparisons) => -(*comparisons as f64 * (-each).ln_1p()).exp_m1(),
            ComparisonFamily::Shared(together) => match normal::upper_quantile(each / 2.0) {
                Some(z) => together.sf(z),
                // No z has so small a p.
                None => each,
            },
        };
        p.clamp(0.0, 1.0)
    }

    /// The value that the largest |t| exceeds with probability `alpha` without true differences;
    /// `None` below 1 degree of freedom.
    pub(crate) fn critical(&self, alpha: f64, df: f64) -> Option<f64> {
        student::upper_quantile(self.comparison_level(alpha) / 2.0, df)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::dunnett;
    use crate::oracles::is_close;

    #[test]
    fn critical_and_p_are_each_others_inverse() {
        let families = [0, 1, 2, 6, 190].map(ComparisonFamily::independent);
        let shared = [vec![0.5; 7], vec![0.1, 0.97, 0.5, 1.0]]
            .map(|shares| ComparisonFamily::beside_baseline(&shares));
        for family in families.iter().chain(&shared) {
            let critical = family.critical(0.05, 7.5).unwrap();
            assert!(is_close(family.of_all(student::two_sided(critical, 7.5)), 0.05, 1e-9), "{family:?}");
        }
    }

    #[test]
    fn a_family_of_any_correlation_asks_for_sidaks_share() {
        let each = 1.0 - 0.95_f64.powf(1.0 / 7.0);
        let critical = ComparisonFamily::independent(7).critical(0.05, 16.0).unwrap();
        assert!(is_close(student::two_sided(critical, 16.0), each, 1e-9));
    }

    #[test]
    fn the_more_the_baseline_has_of_the_errors_the_less_a_family_costs() {
        let each = |share: f64| ComparisonFamily::beside_baseline(&[share; 19]).comparison_level(0.05);
        let sidak = ComparisonFamily::independent(19).comparison_level(0.05);
        assert!(is_close(each(0.0), sidak, 1e-6));
        let shares = [0.0, 0.3, 0.5, 0.9, 0.99, 1.0].map(each);
        assert!(shares.is_sorted() && shares[1] > sidak && shares[5] > 6.0 * sidak, "{shares:?}");
        // The steps of λ cost little: the exact value, with λ = √½, is just below.
        let exact = dunnett::upper_quantile(0.05, &[0.5_f64.sqrt(); 9], f64::INFINITY).unwrap();
        let equal = ComparisonFamily::beside_baseline(&[0.5; 9]).critical(0.05, f64::INFINITY).unwrap();
        assert!((exact..1.02 * exact).contains(&equal), "{equal} beside {exact}");
    }

    #[test]
    fn one_comparison_is_alone_and_none_has_no_share_that_matters() {
        assert!(matches!(ComparisonFamily::beside_baseline(&[0.9]), ComparisonFamily::Alone));
        assert!(matches!(ComparisonFamily::beside_baseline(&[]), ComparisonFamily::Alone));
        assert_eq!(ComparisonFamily::beside_baseline(&[0.5, 0.5]).of_all(0.0), 0.0);
    }
}
