//! How the values of a metric are drawn and written.

use chart::{Finite, Interval, Quantity};
use report::{figure, metric_name, plain, rounded};
use study::metric::{self, MetricGroup};

/// From this size on a larger unit is used.
const LARGE: f64 = 10_000.0;
/// Larger units: the unit of the vocabulary, its multiple, and how many of it that is.
const LARGER: [(&str, &str, f64); 3] = [("ns", "ms", 1e6), ("ns", "µs", 1e3), ("Mbit/s", "Gbit/s", 1e3)];

/// The quantity of a metric, in a unit that suits its values.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub(super) quantity: Quantity,
    /// What values of the metric are divided by.
    unit: f64,
}

impl Measure {
    /// For these values of a metric.
    pub(super) fn of(key: &str, values: impl Iterator<Item = f64>) -> Self {
        let known = metric::find(key);
        let most = values.map(f64::abs).fold(0.0, f64::max);
        let own = known.map_or("", |metric| metric.unit);
        let larger = LARGER.iter().find(|(unit, _, times)| *unit == own && most >= LARGE / 1e3 * times);
        let (unit, times) = larger.map_or((plain(own), 1.0), |(_, larger, times)| (*larger, *times));
        let quantity = Quantity::new(&metric_name(key), unit, figure);
        Self { quantity: quantity.relative(known.map_or("", base)), unit: times }
    }

    /// Of times in ns, each written in a unit of its own.
    pub(super) fn of_time(name: &str, base: &str) -> Self {
        Self { quantity: Quantity::new(name, "", time).relative(base), unit: 1.0 }
    }

    /// Of whole numbers of a unit, such as requests/s.
    pub(super) fn of_plain(name: &str, unit: &str) -> Self {
        Self { quantity: Quantity::new(name, unit, rounded), unit: 1.0 }
    }

    /// Of figures that have words and no metric: `segments per packet at the transmitter`.
    pub(super) fn in_words(words: &str) -> Self {
        Self { quantity: Quantity::new(words, "", figure), unit: 1.0 }
    }

    /// Differences in %, of what `base` says.
    pub(super) fn percent(name: &str, base: &str) -> Self {
        Self { quantity: Quantity::new(name, "%", report::percent).relative(base), unit: 1.0 }
    }

    /// The same for differences of the metric from `base`.
    pub(super) fn difference(mut self, base: &str) -> Self {
        self.quantity.name.insert_str(0, "difference of ");
        base.clone_into(&mut self.quantity.base);
        self
    }

    /// A value as it is drawn.
    pub(super) fn value(&self, value: f64) -> Option<Finite> {
        Finite::new(value / self.unit)
    }

    /// An estimate as it is drawn.
    pub(super) fn interval(&self, estimate: f64, ends: Option<(f64, f64)>) -> Option<Interval> {
        let end = |pick: fn((f64, f64)) -> f64| ends.map(pick).and_then(|end| self.value(end));
        Some(Interval { estimate: self.value(estimate)?, low: end(|ends| ends.0), high: end(|ends| ends.1) })
    }

    /// A value in a sentence: `41.2 Gbit/s`.
    pub(super) fn words(&self, value: f64) -> String {
        let shown = (self.quantity.show)(value / self.unit);
        if self.quantity.unit.is_empty() { shown } else { format!("{shown} {}", self.quantity.unit) }
    }

    /// The same with its interval: `41.2 Gbit/s (40.9 to 41.5)`.
    pub(super) fn with_interval(&self, estimate: f64, ends: Option<(f64, f64)>) -> String {
        let show = |value: f64| (self.quantity.show)(value / self.unit);
        let ends = ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", show(low), show(high)));
        format!("{}{ends}", self.words(estimate))
    }

    /// A difference with its interval: `-1.20 ms (-2.00 to +0.30)`.
    pub(super) fn signed(&self, difference: f64, ends: Option<(f64, f64)>) -> String {
        let show = |value: f64| stats::signed((self.quantity.show)(value / self.unit));
        let ends = ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", show(low), show(high)));
        format!("{}{ends}", stats::signed(self.words(difference)))
    }

    /// An axis that reaches at least these values.
    pub(super) fn reaching(mut self, values: impl Iterator<Item = f64>) -> Self {
        let reach: Vec<Finite> = values.filter_map(|value| self.value(value)).collect();
        self.quantity.reach = reach;
        self
    }
}

/// ns in a unit that suits them: `38.7 µs`.
fn time(ns: f64) -> String {
    let (unit, size) = match ns.abs() {
        size if size < 1e3 => ("ns", 1.0),
        size if size < 1e6 => ("µs", 1e3),
        size if size < 1e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", rounded(ns / size))
}

/// What a metric's unit is relative to.
fn base(metric: &metric::Metric) -> &'static str {
    match metric.group {
        MetricGroup::Rate if metric.unit == "Mbit/s" => "of payload",
        MetricGroup::Latency => "from request to response",
        MetricGroup::Cpu => "of all CPUs of the host",
        MetricGroup::ServiceDemand => "of CPU time",
        MetricGroup::Messages if metric.unit == "%" => "of the messages sent",
        MetricGroup::Counter if metric.unit == "%" => "of the host's CPUs of this side",
        _ => "",
    }
}

/// `95 % interval of the mean`.
pub(super) fn of_mean(level: f64) -> String {
    format!("{} % interval of the mean", stats::confidence(level))
}

/// The ends of estimates, for axes and units.
pub(super) fn reach(estimates: &[stats::ConditionEstimate]) -> impl Iterator<Item = f64> {
    estimates.iter().flat_map(|one| {
        let ends = one.interval.map(|(low, high)| [low, high]);
        std::iter::once(one.mean).chain(ends.into_iter().flatten())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_the_values_and_have_a_base() {
        let shown = |key: &str, value: f64| {
            let measure = Measure::of(key, std::iter::once(value));
            format!("{} {}", measure.words(value), measure.quantity.base)
        };
        assert_eq!(shown("throughput", 41_234.5), "41.23 Gbit/s of payload");
        assert_eq!(shown("throughput", 9_999.0), "9999 Mbit/s of payload");
        assert_eq!(shown("latency_p99", 45_600.0), "45.60 µs from request to response");
        assert_eq!(shown("latency_max", 1.2e7), "12.00 ms from request to response");
        assert_eq!(shown("receiver.cpu", 45.0), "45.00 % of all CPUs of the host");
        assert_eq!(shown("packets", 123_456.0), "123456 1/s ");
        assert_eq!(shown("unknown of a file", 12.0), "12.00 ");
    }
}
