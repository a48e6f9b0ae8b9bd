//! A bound: how far a metric may differ from its baseline.

mod written;

use serde::Serialize;
use study::metric::Metric;

pub use self::written::BoundError;

use crate::gate::bound_units::Unit;

/// The limit of a metric's difference from its baseline: `throughput < -2%` fails where throughput
/// is more than 2 % below the baseline, `latency_p99 > +20us` where the latency is more than 20 µs
/// above it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The metric.
    pub metric: &'static Metric,
    /// On which side of the limit a difference fails.
    pub fails: FailingSide,
    value: f64,
    /// The unit of `value`; `None`: % of the baseline.
    unit: Option<Unit>,
}

/// On which side of its limit a difference fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailingSide {
    /// Below it.
    Below,
    /// Above it.
    Above,
}

/// The limit of a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoundLimit {
    /// In % of the baseline.
    Percent(f64),
    /// In the metric's unit.
    Absolute(f64),
}

impl Bound {
    /// The limit in % or in the metric's unit.
    #[must_use]
    pub fn limit(&self) -> BoundLimit {
        match self.unit {
            None => BoundLimit::Percent(self.value),
            Some((_, factor)) => BoundLimit::Absolute(self.value * factor),
        }
    }

    /// The limit as a number, in the unit in which differences are compared with it.
    pub(crate) fn number(&self) -> f64 {
        let (BoundLimit::Percent(number) | BoundLimit::Absolute(number)) = self.limit();
        number
    }

    /// The unit as it is written; `None` for a share of the baseline.
    pub(crate) fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// Whether the limit is a share of the baseline.
    #[must_use]
    pub fn is_percent(&self) -> bool {
        self.unit.is_none()
    }

    /// Whether both limit the same differences: those of one metric, on one side, in % or not.
    #[must_use]
    pub fn is_of_same(&self, other: &Bound) -> bool {
        self.metric.key == other.metric.key
            && self.fails == other.fails
            && self.is_percent() == other.is_percent()
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
