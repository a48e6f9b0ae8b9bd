//! Crossed designs: every condition is measured in every boot, so each boot is a comparison of its own.
//!
//! The difference between two conditions is taken inside each boot, which cancels what the boot does to both, and the
//! spread of these differences over the boots is the error: a paired t-test with boots - 1 degrees of freedom. It holds
//! whatever the spread between boots and also when a condition fares differently from boot to boot; taking the runs as
//! independent then finds differences that are not there.

use crate::distribution::student::quantile as student_t_quantile;
use crate::summary::{mean, squares};

/// How many units of rounding (2^-52 of the largest value) the mean of a boot and the differences may be off. An interval
/// is never narrower, so that no difference is proven by rounding alone.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Boot means of two conditions, boot by boot.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    treated: Vec<f64>,
    baseline: Vec<f64>,
    differences: Vec<f64>,
}

impl Pairs {
    /// Pairs (treated, baseline), at least one.
    pub(crate) fn new(pairs: impl Iterator<Item = (f64, f64)>) -> Pairs {
        let (treated, baseline): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let differences =
            treated.iter().zip(&baseline).map(|(treated, baseline)| treated - baseline).collect();
        Pairs { treated, baseline, differences }
    }

    pub(crate) fn boots(&self) -> usize {
        self.differences.len()
    }

    pub(crate) fn treated_mean(&self) -> f64 {
        mean(&self.treated)
    }

    pub(crate) fn baseline_mean(&self) -> f64 {
        mean(&self.baseline)
    }

    pub(crate) fn difference(&self) -> f64 {
        mean(&self.differences)
    }

    /// The interval of the difference at `level`: mean ± t(boots - 1) · sd / √boots. None for fewer than two boots.
    pub(crate) fn interval(&self, level: f64) -> Option<(f64, f64)> {
        let t = self.critical(level)?;
        let half = t * self.standard_error(&self.differences) + self.rounding();
        Some((self.difference() - half, self.difference() + half))
    }

    /// The interval of the difference in % of the baseline's size at `level`.
    ///
    /// It is Fieller's (E. C. Fieller, Some problems in interval estimation, J. R. Stat. Soc. B 16, 1954): those ratios ρ
    /// for which a paired t-test does not reject that difference - ρ · baseline is zero. Unlike an interval from logarithms
    /// it takes values of any sign, and it excludes 0 % exactly when [`Pairs::interval`] excludes 0, so a verdict and
    /// its percentage cannot contradict each other.
    ///
    /// None for fewer than two boots, and when the baseline cannot be told from zero at `level`: the ratios then are
    /// no interval (they reach to infinity), and there is no percentage to state.
    pub(crate) fn relative_interval(&self, level: f64) -> Option<(f64, f64)> {
        let t = self.critical(level)?;
        let centre = self.baseline_mean();
        if centre.abs() <= t * self.standard_error(&self.baseline) + self.rounding() {
            return None;
        }
        // Everything in units of the baseline's mean, so that the quadratic in ρ is (1 - a²) ρ² - 2 b ρ + c.
        let unit = |values: &[f64]| values.iter().map(|value| value / centre).collect::<Vec<f64>>();
        let (differences, baseline) = (unit(&self.differences), unit(&self.baseline));
        let ratio = mean(&differences);
        let a = t * self.standard_error(&baseline);
        let d = t * self.standard_error(&differences);
        let covariance = t * t * self.error_product(&differences, &baseline);
        let residual: Vec<f64> = differences
            .iter()
            .zip(&baseline)
            .map(|(difference, baseline)| difference - ratio * baseline)
            .collect();
        let r = t * self.standard_error(&residual);
        let b = ratio - covariance;
        // b² - (1 - a²)(ratio² - d²), without its cancellation; never negative but for rounding.
        let root = (r * r - (a * a * d * d - covariance * covariance)).max(0.0).sqrt();
        let far = b + root.copysign(b);
        let bounds =
            if far == 0.0 { (0.0, 0.0) } else { (far / (1.0 - a * a), (ratio - d) * (ratio + d) / far) };
        // In % of the baseline's size: a negative baseline must not turn a rise into a fall.
        let (one, other) = (100.0 * centre.signum() * bounds.0, 100.0 * centre.signum() * bounds.1);
        let rounding = 100.0 * self.rounding() / centre.abs();
        Some((one.min(other) - rounding, one.max(other) + rounding))
    }

    fn critical(&self, level: f64) -> Option<f64> {
        let df = self.boots().checked_sub(1)?;
        student_t_quantile(0.5 + level / 2.0, df as f64)
    }

    /// The standard error of the mean of `values`, one per boot.
    fn standard_error(&self, values: &[f64]) -> f64 {
        let boots = values.len() as f64;
        squares(values, mean(values)).root_over((boots - 1.0) * boots)
    }

    /// The covariance of two means over the boots.
    fn error_product(&self, one: &[f64], other: &[f64]) -> f64 {
        let boots = one.len() as f64;
        let (one_mean, other_mean) = (mean(one), mean(other));
        let products = one.iter().zip(other).map(|(one, other)| (one - one_mean) * (other - other_mean));
        products.sum::<f64>() / ((boots - 1.0) * boots)
    }

    fn rounding(&self) -> f64 {
        let largest =
            self.treated.iter().chain(&self.baseline).fold(0.0, |most: f64, value| most.max(value.abs()));
        ROUNDING * largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::{self, is_close};
    use proptest::prelude::*;

    fn pairs(treated: &[f64], baseline: &[f64]) -> Pairs {
        Pairs::new(treated.iter().copied().zip(baseline.iter().copied()))
    }

    #[test]
    fn equals_scipy_and_fiellers_definition() {
        for case in &oracles::all().comparisons {
            let pairs = pairs(&case.treated, &case.baseline);
            let name = &case.name;
            // scipy subtracts means of about 1e9 from each other in the hardest case, so compare on the data's scale.
            let scale = pairs.rounding() * 4.0;
            let is_equal = |one: f64, other: f64| (one - other).abs() <= scale + 1e-10 * other.abs();
            assert!(is_equal(pairs.difference(), case.difference), "{name}: {}", pairs.difference());
            let interval = pairs.interval(case.level).unwrap();
            assert!(is_equal(interval.0, case.interval.0), "{name}: {interval:?}");
            assert!(is_equal(interval.1, case.interval.1), "{name}: {interval:?}");
            assert_eq!(!(interval.0 <= 0.0 && interval.1 >= 0.0), case.p < 1.0 - case.level, "{name}");

            let relative = pairs.relative_interval(case.level);
            let (Some(got), Some(expected)) = (relative, case.relative_interval) else {
                assert_eq!(relative, case.relative_interval, "{name}");
                continue;
            };
            let scale = 100.0 * scale / pairs.baseline_mean().abs();
            let is_equal = |one: f64, other: f64| (one - other).abs() <= scale + 1e-9 * other.abs();
            assert!(
                is_equal(got.0, expected.0) && is_equal(got.1, expected.1),
                "{name}: {got:?} not {expected:?}"
            );
        }
    }

    #[test]
    fn rounding_alone_proves_nothing() {
        // 0.1 + 0.2 is not 0.3 in binary, and it is off by the same amount in each boot.
        let pairs = pairs(&[0.1 + 0.2; 5], &[0.3; 5]);
        assert_ne!(pairs.difference(), 0.0);
        let (low, high) = pairs.interval(0.95).unwrap();
        assert!(low < 0.0 && high > 0.0, "{low} to {high}");
        let (low, high) = pairs.relative_interval(0.95).unwrap();
        assert!(low < 0.0 && high > 0.0, "{low} to {high}");
    }

    #[test]
    fn equal_zeros_have_no_percentage() {
        let pairs = pairs(&[0.0; 3], &[0.0; 3]);
        assert_eq!(pairs.interval(0.95), Some((0.0, 0.0)));
        assert_eq!(pairs.relative_interval(0.95), None);
    }

    #[test]
    fn one_boot_has_no_interval() {
        let pairs = pairs(&[2.0], &[1.0]);
        assert_eq!((pairs.interval(0.95), pairs.relative_interval(0.95)), (None, None));
    }

    fn boots() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let pair = (50.0..150.0f64, 50.0..150.0f64);
        proptest::collection::vec(pair, 2..8)
    }

    proptest! {
        #[test]
        fn the_percentage_never_contradicts_the_difference(boots in boots()) {
            let pairs = Pairs::new(boots.iter().copied());
            let (low, high) = pairs.interval(0.95).unwrap();
            if let Some((relative_low, relative_high)) = pairs.relative_interval(0.95) {
                prop_assert_eq!((low > 0.0, high < 0.0), (relative_low > 0.0, relative_high < 0.0));
                let point = 100.0 * pairs.difference() / pairs.baseline_mean();
                prop_assert!(relative_low <= point && point <= relative_high);
            }
        }

        #[test]
        fn scaling_both_scales_the_difference_and_keeps_the_percentage(boots in boots(), factor in 1e-6..1e6f64) {
            let one = Pairs::new(boots.iter().copied());
            let scaled = Pairs::new(boots.iter().map(|(treated, baseline)| (factor * treated, factor * baseline)));
            let ((low, high), (scaled_low, scaled_high)) = (one.interval(0.95).unwrap(), scaled.interval(0.95).unwrap());
            let width = high - low;
            prop_assert!((scaled_low / factor - low).abs() <= 1e-9 * width);
            prop_assert!((scaled_high / factor - high).abs() <= 1e-9 * width);
            match (one.relative_interval(0.95), scaled.relative_interval(0.95)) {
                (Some(one), Some(scaled)) => {
                    let width = one.1 - one.0;
                    prop_assert!((one.0 - scaled.0).abs() <= 1e-6 * width && (one.1 - scaled.1).abs() <= 1e-6 * width);
                }
                (one, scaled) => prop_assert_eq!(one, scaled),
            }
        }

        #[test]
        fn swapping_the_labels_swaps_the_sign(boots in boots()) {
            let one = Pairs::new(boots.iter().copied());
            let swapped = Pairs::new(boots.iter().map(|(treated, baseline)| (*baseline, *treated)));
            let ((low, high), (swapped_low, swapped_high)) = (one.interval(0.95).unwrap(), swapped.interval(0.95).unwrap());
            prop_assert!(is_close(low, -swapped_high, 1e-12) && is_close(high, -swapped_low, 1e-12));
        }
    }
}
