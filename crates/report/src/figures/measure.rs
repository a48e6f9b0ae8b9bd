//! The form in which values of a metric are drawn and written.

use results::chart::{Finite, Interval, Quantity};
use results::{figure, metric_name, plain, rounded};
use study::metric::{self, MetricGroup};

/// The quantity of a metric, in the unit that it has everywhere: in tables, sentences and figures.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub(super) quantity: Quantity,
}

impl Measure {
    pub(super) fn for_metric(key: &str) -> Self {
        let known = metric::find(key);
        let unit = known.map_or("", |metric| plain(metric.unit));
        let quantity = Quantity::new(&metric_name(key), unit, figure);
        Self { quantity: quantity.relative(known.map_or("", base)) }
    }

    /// The measure of latencies, whatever their quantile.
    pub(super) fn for_latency() -> Self {
        Self { quantity: Quantity::new("latency", "ns", figure).relative("from request to response") }
    }

    /// The measure of whole numbers of a unit, such as requests/s.
    pub(super) fn for_unit(name: &str, unit: &str) -> Self {
        Self { quantity: Quantity::new(name, unit, rounded) }
    }

    /// The measure of figures that have words and no metric: `segments per packet at the
    /// transmitter`.
    pub(super) fn in_words(words: &str) -> Self {
        Self { quantity: Quantity::new(words, "", figure) }
    }

    /// Differences in % of `base`.
    pub(super) fn percent(name: &str, base: &str) -> Self {
        Self { quantity: Quantity::new(name, "%", results::percent).relative(base) }
    }

    /// The measure of differences of the metric from `base`.
    pub(super) fn difference(mut self, base: &str) -> Self {
        self.quantity.name.insert_str(0, "difference of ");
        base.clone_into(&mut self.quantity.base);
        self
    }

    /// A value as it is drawn.
    pub(super) fn value(&self, value: f64) -> Option<Finite> {
        Finite::new(value)
    }

    /// An estimate as it is drawn.
    pub(super) fn interval(&self, estimate: f64, ends: Option<(f64, f64)>) -> Option<Interval> {
        let end = |pick: fn((f64, f64)) -> f64| ends.map(pick).and_then(|end| self.value(end));
        Some(Interval { estimate: self.value(estimate)?, low: end(|ends| ends.0), high: end(|ends| ends.1) })
    }

    /// A value in a sentence: `41234 Mbit/s`.
    pub(super) fn words(&self, value: f64) -> String {
        let shown = (self.quantity.show)(value);
        if self.quantity.unit.is_empty() { shown } else { format!("{shown} {}", self.quantity.unit) }
    }

    /// A value with its interval: `41234 Mbit/s (40912 to 41502)`.
    pub(super) fn with_interval(&self, estimate: f64, ends: Option<(f64, f64)>) -> String {
        let show = |value: f64| (self.quantity.show)(value);
        let ends = ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", show(low), show(high)));
        format!("{}{ends}", self.words(estimate))
    }

    /// A difference with its interval: `-1200 ns (-2000 to +300)`.
    pub(super) fn signed(&self, difference: f64, ends: Option<(f64, f64)>) -> String {
        let show = |value: f64| stats::signed((self.quantity.show)(value));
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

/// The base of a metric's unit.
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
    fn a_metric_has_one_unit_and_a_base() {
        let shown = |key: &str, value: f64| {
            let measure = Measure::for_metric(key);
            format!("{} {}", measure.words(value), measure.quantity.base)
        };
        assert_eq!(shown("throughput", 41_234.5), "41234 Mbit/s of payload");
        assert_eq!(shown("throughput", 9_999.0), "9999 Mbit/s of payload");
        assert_eq!(shown("latency_p99", 45_600.0), "45600 ns from request to response");
        assert_eq!(shown("latency_max", 1.2e7), "12000000 ns from request to response");
        assert_eq!(shown("receiver.cpu", 45.0), "45.00 % of all CPUs of the host");
        assert_eq!(shown("packets", 123_456.0), "123456 1/s ");
        assert_eq!(shown("unknown of a file", 12.0), "12.00 ");
    }
}
