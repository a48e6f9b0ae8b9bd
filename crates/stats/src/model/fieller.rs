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
use crate::observed::{BootCell, deviation, in_common, mean};

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
    // 0 is always tried, so that the bound is on the right side of it.
    if (point < 0.0) == (step > 0.0) && point != 0.0 {
        if excess(0.0)? > 0.0 {
            return Some(crossing(excess, inside, 0.0));
        }
        inside = 0.0;
    }
    let mut reach = step;
    for _ in 0..STEPS {
        let place = inside + reach;
        if excess(place)? > 0.0 {
            return Some(crossing(excess, inside, place));
        }
        inside = place;
        reach *= 2.0;
    }
    None
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
pub(crate) fn paired_relative_interval(
    treated: &[BootCell],
    baseline: &[BootCell],
    t: f64,
) -> Option<(f64, f64)> {
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
mod tests;
