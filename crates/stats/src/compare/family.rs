//! Several comparisons as one family: critical values and p-values that hold for all of them
//! together.

use crate::distribution::dunnett::Dunnett;
use crate::distribution::{chi_squared, noncentral_t, normal, student};

// Comparisons with one baseline have the correlation λ(i) λ(j) (see
// [`crate::distribution::dunnett`]). λ is rounded down to these steps of artanh λ: a smaller
// correlation is conservative, and fewer distinct ones are computed faster.
const STEP: f64 = 0.2;
// 0.984: above it a family is hardly more than one comparison.
const MOST_STEPS: f64 = 12.0;

#[derive(Debug)]
pub(crate) enum ComparisonFamily {
    /// One comparison: Student's t.
    Alone,
    /// Any comparisons, with any correlation: Šidák's rule (J. Am. Stat. Assoc. 62, 1967).
    Any(usize),
    /// Comparisons that share a baseline: Dunnett's rule for the correlations that follow from the
    /// baseline's share in their errors.
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
            // Each comparison has its own degrees of freedom, so its t is converted to a normal
            // variable by its p-value. `bench verdict --families` shows that this holds.
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

const POWER: f64 = 0.8;
// From this square of t per degree of freedom on, only the standard error matters.
const NEGLIGIBLE: f64 = 1e8;

/// The true difference, in standard errors, whose t exceeds `critical` in the right direction with
/// 80 % power: that noncentrality. `None` if no finite one does.
pub(crate) fn detectable(critical: f64, df: f64) -> Option<f64> {
    // With so large a critical value (an early look with few degrees of freedom) the estimate's
    // error is negligible beside that of its standard error: T = nc / S up to df / nc^2, where nc
    // is about the critical value.
    if critical * critical > NEGLIGIBLE * df {
        return Some(critical * (chi_squared::quantile(POWER, df)? / df).sqrt());
    }
    let aim = normal::quantile(POWER)?;
    // In units of the normal quantile the power is nearly linear, so the secant rule needs few
    // steps.
    let missing = |nc: f64| Some(normal::quantile(noncentral_t::sf(critical, df, nc))? - aim);
    // With a known error it would be the critical value plus `aim`.
    let (mut before, mut nc) = (critical, critical + aim);
    let mut missing_before = missing(before)?;
    for _ in 0..50 {
        let missing_here = missing(nc)?;
        let step = missing_here * (nc - before) / (missing_here - missing_before);
        (before, missing_before) = (nc, missing_here);
        // At least half, so that a bend does not lead to a power of 0.
        nc = (nc - step).max(nc / 2.0);
        // The error after such a step is far below it.
        if (nc - before).abs() <= 1e-6 * nc {
            return nc.is_finite().then_some(nc);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let exact = Dunnett::new(&[0.5_f64.sqrt(); 9], f64::INFINITY).unwrap().upper_quantile(0.05).unwrap();
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

#[cfg(test)]
mod detectable_tests {
    use super::*;
    use crate::distribution::student;

    #[test]
    fn more_boots_see_smaller_differences() {
        let errors = |df: f64| detectable(student::upper_quantile(0.025, df).unwrap(), df).unwrap();
        // power.t.test(n = 10, sd = 1, power = 0.8) in R: delta = 1.324946 (to 1e-4), in standard
        // errors of the difference.
        assert!((errors(18.0) - 1.324946 / (2.0_f64 / 10.0).sqrt()).abs() < 3e-4);
        assert!(errors(1.0) > errors(2.0) && errors(2.0) > errors(4.0) && errors(4.0) > errors(40.0));
        for (critical, df) in
            [(12.7, 1.0), (63.7, 1.0), (636.0, 1.0), (4.3, 2.0), (31.6, 2.0), (1.0, 1.0), (1e-3, 5.0)]
        {
            let nc = detectable(critical, df).unwrap();
            assert!((noncentral_t::sf(critical, df, nc) - 0.8).abs() < 1e-8, "{critical} {df}: {nc}");
        }
        for df in [1.0, 2.0, 5.0] {
            let (below, above) = ((0.99 * NEGLIGIBLE * df).sqrt(), (1.01 * NEGLIGIBLE * df).sqrt());
            let (below, above) =
                (detectable(below, df).unwrap() / below, detectable(above, df).unwrap() / above);
            assert!((above / below - 1.0).abs() < 1e-7, "{df}: {below} {above}");
        }
        // The normal distribution's: z(0.975) + z(0.8).
        assert!((errors(1e6) - 2.801585).abs() < 1e-4);
    }
}
