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

use super::estimate::Estimate;
use crate::distribution::student;

/// Doublings of the first step in the search for a bound; a farther bound is not worth stating.
const STEPS: usize = 60;

/// A difference and its baseline.
pub(crate) struct Fieller<'a> {
    pub(crate) difference: Estimate,
    pub(crate) baseline: Estimate,
    /// The standard error of difference - r * baseline and its degrees of freedom.
    pub(crate) error: &'a dyn Fn(f64) -> Option<(f64, f64)>,
    /// The critical value of the difference's interval.
    pub(crate) critical: f64,
    /// Known quantiles of Student's t.
    pub(crate) quantiles: &'a Quantiles,
}

/// Upper quantiles of Student's t, by tail and degrees of freedom, each computed once.
#[derive(Debug, Default)]
pub(crate) struct Quantiles(RefCell<BTreeMap<(u64, i64), Option<f64>>>);

impl Quantiles {
    /// Degrees of freedom are rounded to this share.
    const STEP: f64 = 1e-3;

    fn upper(&self, tail: f64, df: f64) -> Option<f64> {
        let place = (df.ln() / Self::STEP).floor();
        let quantile = || student::upper_quantile(tail, (place * Self::STEP).exp().max(1.0));
        *self.0.borrow_mut().entry((tail.to_bits(), place as i64)).or_insert_with(quantile)
    }
}

impl Fieller<'_> {
    /// The interval of the difference in % of the baseline's size. `None` where zero is in the
    /// baseline's interval: then the ratios are unbounded, and no percentage is stated.
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        // The tail of the critical value in a single t-test, which is kept at other degrees of
        // freedom.
        let tail = student::sf(self.critical, self.difference.df);
        let critical = |df: f64| {
            if df == self.difference.df { Some(self.critical) } else { self.quantiles.upper(tail, df) }
        };
        let centre = self.baseline.value;
        let noise = self.baseline.half_width(critical(self.baseline.df)?)?;
        if centre.abs() <= noise {
            return None;
        }
        // Positive where a change of r is rejected.
        let excess = |r: f64| {
            let (se, df) = (self.error)(r)?;
            let reach = critical(df)? * se + self.difference.rounding * (1.0 + (1.0 + r).abs()) / 2.0;
            Some((self.difference.value - r * centre).abs() - reach)
        };
        let point = self.difference.value / centre;
        let step =
            (self.difference.half_width(self.critical)? / centre.abs()).max(point.abs() * f64::EPSILON);
        let low = bound(&excess, point, -step)?;
        let high = bound(&excess, point, step)?;
        // In % of the baseline's size: a negative baseline must not turn a rise into a fall.
        let (low, high) = if centre < 0.0 { (-high, -low) } else { (low, high) };
        Some((100.0 * low, 100.0 * high))
    }
}

/// The point where `excess` turns positive in the direction of `step`. 0 is always tried, so that
/// the bound is on the right side of it.
fn bound(excess: &impl Fn(f64) -> Option<f64>, point: f64, step: f64) -> Option<f64> {
    if step == 0.0 {
        return Some(point);
    }
    let mut inside = point;
    let mut outside = None;
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
