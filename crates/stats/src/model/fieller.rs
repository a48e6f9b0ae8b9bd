//! The interval of a percentage.
//!
//! Fieller's (J. R. Stat. Soc. B 16, 1954): those ratios ρ for which a t-test does not reject that
//! mean - ρ * baseline is zero. It accepts values of any sign, and it excludes 0 % exactly when the
//! difference's interval excludes 0, since both are the test at ρ = 1: a verdict and its percentage
//! cannot contradict each other.
//!
//! The variance of mean - ρ * baseline is that of the same model. In a crossed design boots cancel
//! at ρ = 1 only; elsewhere their mean square is part of it, in proportion to (1 - ρ)². The degrees
//! of freedom are Satterthwaite's for each ρ, those of the difference at ρ = 1; elsewhere they are
//! rounded down by up to a thousandth, so that all comparisons share the quantiles.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::distribution::student;
use crate::model::fit::{Estimate, ROUNDING};
use crate::observed::{Cell, deviation, in_common, mean};

// Doublings of the first step in the search for a bound; a farther bound is not worth stating.
const STEPS: usize = 60;

/// Upper quantiles of Student's t, by tail and degrees of freedom, each computed once.
#[derive(Debug, Default)]
pub(crate) struct Quantiles(RefCell<BTreeMap<(u64, i64), Option<f64>>>);

impl Quantiles {
    // Degrees of freedom are rounded to this share.
    const STEP: f64 = 1e-3;

    fn upper(&self, tail: f64, df: f64) -> Option<f64> {
        let place = (df.ln() / Self::STEP).floor();
        let quantile = || student::upper_quantile(tail, (place * Self::STEP).exp().max(1.0));
        *self.0.borrow_mut().entry((tail.to_bits(), place as i64)).or_insert_with(quantile)
    }
}

/// The interval of `difference` in % of the size of `baseline`; `None` where zero is in the
/// baseline's interval. `critical` is the critical value of the difference's own interval;
/// `less`(r) estimates the difference - r * baseline.
pub(crate) fn relative_interval(
    (difference, baseline): (Estimate, Estimate),
    critical: f64,
    quantiles: &Quantiles,
    less: impl Fn(f64) -> Option<Estimate>,
) -> Option<(f64, f64)> {
    // The tail of the critical value in a single t-test, which is kept at other degrees of freedom.
    let tail = student::sf(critical, difference.df);
    let critical_of = |df: f64| if df == difference.df { Some(critical) } else { quantiles.upper(tail, df) };
    let centre = baseline.value;
    let noise = baseline.half_width(critical_of(baseline.df)?)?;
    // The ratios are unbounded, and no percentage is stated.
    if centre.abs() <= noise {
        return None;
    }
    // Positive where a change of r is rejected.
    let excess = |r: f64| {
        let Estimate { se, df, .. } = less(r).filter(Estimate::is_sure)?;
        let reach = critical_of(df)? * se + difference.rounding * (1.0 + (1.0 + r).abs()) / 2.0;
        Some((difference.value - r * centre).abs() - reach)
    };
    let point = difference.value / centre;
    let step = (difference.half_width(critical)? / centre.abs()).max(point.abs() * f64::EPSILON);
    let low = bound(&excess, point, -step)?;
    let high = bound(&excess, point, step)?;
    // In % of the baseline's size: a negative baseline must not turn a rise into a fall.
    let (low, high) = if centre < 0.0 { (-high, -low) } else { (low, high) };
    Some((100.0 * low, 100.0 * high))
}

/// The point where `excess` turns positive in the direction of `step`.
fn bound(excess: &impl Fn(f64) -> Option<f64>, point: f64, step: f64) -> Option<f64> {
    if step == 0.0 {
        return Some(point);
    }
    let mut inside = point;
    let mut outside = None;
    // 0 is always tried, so that the bound is on the right side of it.
    if (point < 0.0) == (step > 0.0) && point != 0.0 {
        if excess(0.0)? > 0.0 { outside = Some(0.0) } else { inside = 0.0 }
    }
    let mut reach = step;
    for _ in 0..STEPS {
        if outside.is_some() {
            break;
        }
        let place = inside + reach;
        if excess(place)? > 0.0 {
            outside = Some(place)
        } else {
            inside = place
        }
        reach *= 2.0;
    }
    Some(crossing(excess, inside, outside?))
}

/// The root between `inside` (where `excess` is not positive) and `outside` (where it is), by false
/// position with the Illinois rule (Dowell and Jarratt, BIT 11, 1971).
fn crossing(excess: &impl Fn(f64) -> Option<f64>, inside: f64, outside: f64) -> f64 {
    let value = |place: f64| excess(place).unwrap_or(0.0);
    let small = 1e-13 * (outside - inside).abs();
    let (mut from, mut to) = (inside, outside);
    let (mut at_from, mut at_to) = (value(from), value(to));
    for _ in 0..100 {
        if at_from == at_to {
            break;
        }
        let place = to - at_to * (to - from) / (at_to - at_from);
        let at_place = value(place);
        let step = (place - to).abs();
        if (at_place > 0.0) == (at_to > 0.0) {
            at_from /= 2.0;
        } else {
            (from, at_from) = (to, at_to);
        }
        (to, at_to) = (place, at_place);
        if at_place == 0.0 || step <= small.max(2.0 * f64::EPSILON * place.abs()) {
            break;
        }
    }
    to
}

// Crossed designs: every condition is measured in every boot, so each boot is a comparison by
// itself.
//
// The difference between two conditions is taken inside each boot, which cancels the boot's common
// effect, and the spread of these differences over the boots is the error: a paired t-test with
// boots - 1 degrees of freedom. It holds for any spread between boots, also when boots affect
// conditions differently; treating runs as independent then finds false differences.

/// The interval of the difference in % of the baseline's size, by the boots that have a cell of
/// both; `t` is the critical value of the difference's own.
///
/// It is [`relative_interval`] with the covariances between the boots, without assuming equal
/// spreads of the conditions: those ratios ρ for which a paired t-test does not reject that
/// difference - ρ · baseline is zero, by a quadratic equation.
///
/// `None` for fewer than two boots, and where zero is in the baseline's interval: then the ratios
/// are unbounded, and no percentage is stated.
pub(crate) fn paired_relative_interval(treated: &[Cell], baseline: &[Cell], t: f64) -> Option<(f64, f64)> {
    let means: Vec<(f64, f64)> =
        in_common(treated, baseline).map(|(one, other)| (one.mean, other.mean)).collect();
    if means.len() < 2 {
        return None;
    }
    let largest = means.iter().fold(0.0, |most: f64, (one, other)| most.max(one.abs()).max(other.abs()));
    let rounding = ROUNDING * largest;
    let (differences, baseline): (Vec<f64>, Vec<f64>) =
        means.iter().map(|(treated, baseline)| (treated - baseline, *baseline)).unzip();
    let centre = mean(&baseline);
    if centre.abs() <= t * standard_error(&baseline) + rounding {
        return None;
    }
    // In units of the baseline's mean the quadratic in ρ is (1 - a²) ρ² - 2 b ρ + c.
    let unit = |values: &[f64]| values.iter().map(|value| value / centre).collect::<Vec<f64>>();
    let (differences, baseline) = (unit(&differences), unit(&baseline));
    let ratio = mean(&differences);
    let a = t * standard_error(&baseline);
    let d = t * standard_error(&differences);
    let covariance = t * t * covariance_of_means(&differences, &baseline);
    let both = differences.iter().zip(&baseline);
    let residual: Vec<f64> = both.map(|(difference, baseline)| difference - ratio * baseline).collect();
    let r = t * standard_error(&residual);
    let b = ratio - covariance;
    // b² - (1 - a²)(ratio² - d²), without its cancellation; never negative except by rounding.
    let root = (r * r - (a * a * d * d - covariance * covariance)).max(0.0).sqrt();
    let far = b + root.copysign(b);
    let bounds = if far == 0.0 { (0.0, 0.0) } else { (far / (1.0 - a * a), (ratio - d) * (ratio + d) / far) };
    // In % of the baseline's size: a negative baseline must not turn a rise into a fall.
    let (one, other) = (100.0 * centre.signum() * bounds.0, 100.0 * centre.signum() * bounds.1);
    let rounding = 100.0 * rounding / centre.abs();
    Some((one.min(other) - rounding, one.max(other) + rounding))
}

fn standard_error(values: &[f64]) -> f64 {
    let boots = values.len() as f64;
    deviation(values, mean(values), (boots - 1.0) * boots)
}

fn covariance_of_means(one: &[f64], other: &[f64]) -> f64 {
    let boots = one.len() as f64;
    let (one_mean, other_mean) = (mean(one), mean(other));
    let products = one.iter().zip(other).map(|(one, other)| (one - one_mean) * (other - other_mean));
    products.sum::<f64>() / ((boots - 1.0) * boots)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::model::ROUNDING;
    use crate::{Comparison, Observation, Question, analyse, oracles};

    /// One run of each condition in every boot.
    fn compared(pairs: &[(f64, f64)], level: f64) -> Comparison {
        let runs = (0..).zip(pairs).flat_map(|(boot, (treated, baseline))| {
            let run = |condition, value| Observation { condition, boot, value };
            [run(0, *baseline), run(1, *treated)]
        });
        let question = Question { level, ..Question::against(0) };
        analyse(&runs.collect::<Vec<_>>(), &question).unwrap().comparisons.remove(0)
    }

    #[test]
    fn equals_scipy_and_fiellers_definition() {
        for case in &oracles::oracles().comparisons {
            let pairs: Vec<(f64, f64)> =
                case.treated.iter().copied().zip(case.baseline.iter().copied()).collect();
            let (got, name) = (compared(&pairs, case.level), &case.name);
            // scipy subtracts means of about 1e9 from each other in the hardest case, so compare on
            // the data's scale.
            let largest =
                pairs.iter().fold(0.0, |most: f64, (one, other)| most.max(one.abs()).max(other.abs()));
            let scale = 4.0 * ROUNDING * largest;
            let is_equal = |one: f64, other: f64| (one - other).abs() <= scale + 1e-10 * other.abs();
            assert!(is_equal(got.difference, case.difference), "{name}: {}", got.difference);
            let interval = got.interval.unwrap();
            assert!(is_equal(interval.0, case.interval.0), "{name}: {interval:?}");
            assert!(is_equal(interval.1, case.interval.1), "{name}: {interval:?}");
            assert_eq!(!(interval.0 <= 0.0 && interval.1 >= 0.0), case.p < 1.0 - case.level, "{name}");
            let p = got.p.unwrap();
            // The effect of rounding is subtracted first: it is large for a spread of 1e-10 of the
            // mean.
            assert!((p - case.p).abs() <= 1e-4 * case.p, "{name}: p {p} not {}", case.p);

            let (Some(relative), Some(expected)) = (got.relative_interval, case.relative_interval) else {
                assert_eq!(got.relative_interval, case.relative_interval, "{name}");
                continue;
            };
            let scale = 100.0 * scale / got.baseline_mean.abs();
            let is_equal = |one: f64, other: f64| (one - other).abs() <= scale + 1e-9 * other.abs();
            assert!(
                is_equal(relative.0, expected.0) && is_equal(relative.1, expected.1),
                "{name}: {relative:?} not {expected:?}"
            );
        }
    }

    #[test]
    fn rounding_alone_proves_nothing() {
        // 0.1 + 0.2 is not 0.3 in binary, and it is off by the same amount in each boot.
        let result = compared(&[(0.1 + 0.2, 0.3); 5], 0.95);
        assert_eq!((result.is_equal(), result.p), (true, Some(1.0)), "{result:?}");
        // Beside a spread it is part of the interval.
        let result = compared(&[(1e15, 1e15 + 3.0), (1e15 + 8.0, 1e15), (1e15, 1e15 + 4.0)], 0.95);
        let (low, high) = result.interval.unwrap();
        assert!(!result.is_equal() && low < -10.0 && high > 10.0, "{low} to {high}");
    }

    #[test]
    fn equal_zeros_have_no_percentage() {
        let result = compared(&[(0.0, 0.0); 3], 0.95);
        assert_eq!((result.interval, result.relative_interval), (Some((0.0, 0.0)), None));
    }

    #[test]
    fn one_boot_has_no_interval() {
        let result = compared(&[(2.0, 1.0)], 0.95);
        assert_eq!((result.interval, result.relative_interval), (None, None));
    }

    fn boots() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let pair = (50.0..150.0f64, 50.0..150.0f64);
        proptest::collection::vec(pair, 2..8)
    }

    proptest! {
        #[test]
        fn the_percentage_never_contradicts_the_difference(boots in boots()) {
            let result = compared(&boots, 0.95);
            let (low, high) = result.interval.unwrap();
            if let Some((relative_low, relative_high)) = result.relative_interval {
                prop_assert_eq!((low > 0.0, high < 0.0), (relative_low > 0.0, relative_high < 0.0));
                let point = result.relative.unwrap();
                prop_assert!(relative_low <= point && point <= relative_high);
            }
        }

        #[test]
        fn scaling_both_scales_the_difference_and_keeps_the_percentage(boots in boots(), factor in 1e-6..1e6f64) {
            let one = compared(&boots, 0.95);
            let scaled: Vec<(f64, f64)> =
                boots.iter().map(|(treated, baseline)| (factor * treated, factor * baseline)).collect();
            let scaled = compared(&scaled, 0.95);
            let ((low, high), (scaled_low, scaled_high)) = (one.interval.unwrap(), scaled.interval.unwrap());
            let width = high - low;
            prop_assert!((scaled_low / factor - low).abs() <= 1e-9 * width);
            prop_assert!((scaled_high / factor - high).abs() <= 1e-9 * width);
            match (one.relative_interval, scaled.relative_interval) {
                (Some(one), Some(scaled)) => {
                    let width = one.1 - one.0;
                    prop_assert!((one.0 - scaled.0).abs() <= 1e-6 * width && (one.1 - scaled.1).abs() <= 1e-6 * width);
                }
                (one, scaled) => prop_assert_eq!(one, scaled),
            }
        }

        #[test]
        fn swapping_the_labels_swaps_the_sign(boots in boots()) {
            let swapped: Vec<(f64, f64)> = boots.iter().map(|(treated, baseline)| (*baseline, *treated)).collect();
            let ((low, high), (swapped_low, swapped_high)) =
                (compared(&boots, 0.95).interval.unwrap(), compared(&swapped, 0.95).interval.unwrap());
            // An end near 0 is the difference of two large numbers, so they are compared on the
            // scale of the data and of the interval.
            let scale = 1e-14 * (150.0 + high - low);
            prop_assert!((low + swapped_high).abs() <= scale && (high + swapped_low).abs() <= scale);
        }
    }
}
