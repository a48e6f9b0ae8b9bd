//! The smallest difference that such data can prove.

use crate::distribution::{chi_squared, noncentral_t, normal};

const POWER: f64 = 0.8;
/// From this square of t per degree of freedom on, only the standard error matters.
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

/// The factors from the estimated spread with `df` degrees of freedom to the ends of its
/// chi-squared interval of error rate `alpha`. A detectable difference is proportional to the
/// spread.
pub(crate) fn of_spread(alpha: f64, df: f64) -> Option<(f64, f64)> {
    let end = |p: f64| Some((df / chi_squared::quantile(p, df)?).sqrt());
    Some((end(1.0 - alpha / 2.0)?, end(alpha / 2.0)?))
}

#[cfg(test)]
mod tests {
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
