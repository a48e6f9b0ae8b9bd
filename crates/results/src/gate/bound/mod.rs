//! A bound: how far a metric may differ from its baseline.

mod written;

use stats::Comparison;
use study::metric::Metric;

pub use self::written::BoundError;

/// A unit in which a bound may be written: its word, and how many of the metric's own unit it is.
pub type BoundUnit = (&'static str, f64);

/// The limit of a metric's difference from its baseline: `throughput < -2%` fails where throughput
/// is more than 2 % below the baseline, `latency_p99 > +20us` where the latency is more than 20 µs
/// above it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The metric.
    pub metric: Metric,
    /// On which side of the limit a difference fails.
    pub fails: FailingSide,
    value: f64,
    /// The unit as it is written; `None`: % of the baseline.
    pub unit: Option<BoundUnit>,
}

/// On which side of its limit a difference fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailingSide {
    /// Below it.
    Below,
    /// Above it.
    Above,
}

impl Bound {
    /// The limit as a number, in the unit in which differences are compared with it: in % of the
    /// baseline, or in the metric's unit.
    #[must_use]
    pub fn number(&self) -> f64 {
        self.value * self.unit.map_or(1.0, |(_, factor)| factor)
    }

    /// Whether the limit is a share of the baseline.
    #[must_use]
    pub fn is_percent(&self) -> bool {
        self.unit.is_none()
    }

    /// Whether both limit the same differences: those of one metric, on one side, in % or not.
    #[must_use]
    pub fn is_of_same(&self, other: &Bound) -> bool {
        self.metric == other.metric && self.fails == other.fails && self.is_percent() == other.is_percent()
    }

    /// Whether every difference that fails this bound fails `other` too, and not the reverse.
    pub(crate) fn is_looser_than(&self, other: &Bound) -> bool {
        self.is_of_same(other)
            && match self.fails {
                FailingSide::Below => self.number() < other.number(),
                FailingSide::Above => self.number() > other.number(),
            }
    }

    /// Whether differences from `low` to `high` all fail.
    pub(crate) fn is_broken_by(&self, (low, high): (f64, f64)) -> bool {
        match self.fails {
            FailingSide::Below => high < self.number(),
            FailingSide::Above => low > self.number(),
        }
    }

    /// Whether none of them fails. A difference of exactly the limit does not.
    pub(crate) fn is_kept_by(&self, (low, high): (f64, f64)) -> bool {
        match self.fails {
            FailingSide::Below => low >= self.number(),
            FailingSide::Above => high <= self.number(),
        }
    }

    /// The ends of a difference's interval, in the unit of the bound; `None` without an interval.
    /// For counts, whose spread is not estimated, the interval is the resolution within which
    /// counts repeat.
    pub(crate) fn ends(&self, comparison: &Comparison) -> Option<(f64, f64)> {
        let Some(resolution) = comparison.resolution else {
            return if self.is_percent() { comparison.relative_interval } else { comparison.interval };
        };
        if comparison.gap.is_some() {
            return None;
        }
        let difference = self.difference(comparison)?;
        let reach = match self.is_percent() {
            true => resolution,
            false => resolution / 100.0 * comparison.baseline_mean.abs(),
        };
        Some((difference - reach, difference + reach))
    }

    /// A difference in the unit of the bound: in % of the baseline, or in the metric's unit.
    pub(crate) fn difference(&self, comparison: &Comparison) -> Option<f64> {
        match (self.is_percent(), comparison.relative) {
            (false, _) => Some(comparison.difference),
            // Two counts of zero.
            (true, None) if comparison.resolution.is_some() && comparison.difference == 0.0 => Some(0.0),
            (true, relative) => relative,
        }
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
