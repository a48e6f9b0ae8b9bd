//! A bound: how far a metric may differ from its baseline.

mod written;

use stats::Comparison;
use study::metric::Metric;

pub use written::BoundError;

/// A unit in which a bound may be written: its word, and how many of the metric's own unit it is.
pub type BoundUnit = (&'static str, f64);

/// The limit of a difference from the baseline: `throughput < -2%` fails if it is more than 2 %
/// below, `latency_p99 > +20us` if it is more than 20 µs above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The metric.
    pub metric: Metric,
    /// Differences above the limit fail, else those below it.
    pub(crate) fails_above: bool,
    value: f64,
    /// The unit as it is written; `None`: % of the baseline.
    pub unit: Option<BoundUnit>,
}

impl Bound {
    /// The limit as a number: in % of the baseline, or in the metric's unit.
    pub fn number(&self) -> f64 {
        self.value * self.unit.map_or(1.0, |(_, factor)| factor)
    }

    pub(crate) fn is_percent(&self) -> bool {
        self.unit.is_none()
    }

    /// Whether both limit the same differences: those of one metric, on one side, in % or not.
    pub fn is_of_same(&self, other: &Bound) -> bool {
        self.metric == other.metric
            && self.fails_above == other.fails_above
            && self.is_percent() == other.is_percent()
    }

    pub(crate) fn is_looser_than(&self, other: &Bound) -> bool {
        self.is_of_same(other) && other.is_broken_by((self.number(), self.number()))
    }

    pub(crate) fn is_broken_by(&self, interval: (f64, f64)) -> bool {
        self.beyond(interval).0 > 0.0
    }

    /// Whether none of them fails.
    pub(crate) fn is_kept_by(&self, interval: (f64, f64)) -> bool {
        // A difference of exactly the limit does not fail.
        self.beyond(interval).1 <= 0.0
    }

    fn beyond(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let limit = self.number();
        if self.fails_above { (low - limit, high - limit) } else { (limit - high, limit - low) }
    }

    /// In the unit of the bound; `None` without an interval.
    pub(crate) fn ends(&self, comparison: &Comparison) -> Option<(f64, f64)> {
        let Some(resolution) = comparison.resolution else {
            return if self.is_percent() { comparison.relative_interval } else { comparison.interval };
        };
        // Counts have no interval: a count is sure within its resolution.
        let difference = self.difference(comparison).filter(|_| comparison.gap.is_none())?;
        let absolute = resolution / 100.0 * comparison.baseline_mean.abs();
        let reach = if self.is_percent() { resolution } else { absolute };
        Some((difference - reach, difference + reach))
    }

    /// A difference in the unit of the bound: in % of the baseline, or in the metric's unit.
    pub(crate) fn difference(&self, comparison: &Comparison) -> Option<f64> {
        // Two counts of zero do not differ, though nothing is a percentage of zero.
        let is_zero = comparison.resolution.is_some() && comparison.difference == 0.0;
        let in_percent = comparison.relative.or(is_zero.then_some(0.0));
        if self.is_percent() { in_percent } else { Some(comparison.difference) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Bound {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn an_interval_breaks_a_bound_keeps_it_or_leaves_it_open() {
        let (below, above) = (read("throughput < -2%"), read("latency_p99 > +2ns"));
        for (interval, broken, kept) in [
            ((-4.0, -2.1), true, false),
            ((-4.0, -2.0), false, false),
            ((-4.0, -1.0), false, false),
            ((-2.0, -1.0), false, true),
            ((-1.9, 3.0), false, true),
        ] {
            assert_eq!(
                (below.is_broken_by(interval), below.is_kept_by(interval)),
                (broken, kept),
                "{interval:?}"
            );
            let mirrored = (-interval.1, -interval.0);
            assert_eq!(
                (above.is_broken_by(mirrored), above.is_kept_by(mirrored)),
                (broken, kept),
                "{interval:?}"
            );
        }
        assert!(read("throughput < -5%").is_looser_than(&below));
        assert!(!below.is_looser_than(&below) && !read("throughput < -1%").is_looser_than(&below));
        assert!(!read("throughput < -5Gbit/s").is_looser_than(&below));
    }

    proptest! {
        #[test]
        fn no_interval_breaks_a_bound_and_keeps_it(low in -50.0..50.0_f64, width in 0.0..20.0_f64, limit in 0..20_i32) {
            for sign in ["< -", "> "] {
                let bound: Bound = format!("throughput {sign}{limit}%").parse().unwrap();
                let interval = (low, low + width);
                prop_assert!(!(bound.is_broken_by(interval) && bound.is_kept_by(interval)));
            }
        }
    }
}
