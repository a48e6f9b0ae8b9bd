//! The quantities of figures, and sentences that describe figures.

use crate::chart::{Interval, Quantity};
use results::{ComparedMetric, capital, figure, metric_name, plain};
use stats::ConditionEstimate;
use study::metric::{Metric, MetricGroup};

use super::view::StudyView;

pub(super) fn choice(views: &[StudyView<'_>]) -> Option<String> {
    let mut workloads = views.iter().flat_map(|view| &view.workloads);
    workloads.any(|one| one.telling.len() < one.conditions.len()).then(|| {
        "Where a workload has more than twelve conditions, the most telling ones are shown: of a design those that \
         lead from all on to all off, else the baselines and both ends."
            .to_owned()
    })
}

pub(super) fn metric_quantity(metric: &ComparedMetric) -> Quantity {
    Quantity::new(&metric_name(metric), plain(metric.unit()), figure)
        .relative(metric.known().map_or("", base))
}

pub(super) fn latency() -> Quantity {
    Quantity::new("latency", "ns", figure).relative("from request to response")
}

pub(super) fn percent_of(name: &str, base: &str) -> Quantity {
    Quantity::new(name, "%", results::percent).relative(base)
}

fn base(metric: Metric) -> &'static str {
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

pub(super) fn paragraph(parts: impl IntoIterator<Item = String>) -> String {
    // No part gets a capital here: it may begin with a condition's name, which has its own letters.
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let sentence = |part: String| if part.ends_with(['.', '?', '!']) { part } else { part + "." };
    parts.map(sentence).collect::<Vec<_>>().join(" ")
}

/// The highest and the lowest of several estimates as a sentence: of `place`, if it has a name.
pub(super) fn extremes(place: &str, quantity: &Quantity, named: &[(String, ConditionEstimate)]) -> String {
    type Named = (String, ConditionEstimate);
    let by_mean = |one: &&Named, other: &&Named| one.1.mean.total_cmp(&other.1.mean);
    let (Some(low), Some(high)) = (named.iter().min_by(by_mean), named.iter().max_by(by_mean)) else {
        return String::new();
    };
    let extreme = |(name, one): &Named| {
        let gap = if name.is_empty() { "" } else { ", " };
        let shown = quantity.interval(&Interval::new(one.mean, one.interval), quantity.show);
        format!("{name}{gap}{shown}")
    };
    let [least, most] = [low, high].map(|one| quantity.text(one.1.mean));
    let words = match named.len() {
        // It begins with the condition's name.
        1 if place.is_empty() => return extreme(low),
        1 => extreme(low),
        _ if least == most => format!("all conditions alike, {least}"),
        _ => format!("highest {}; lowest {}", extreme(high), extreme(low)),
    };
    if place.is_empty() { capital(&words) } else { format!("{place}: {words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_one_unit_and_a_base() {
        let shown = |key: &str, value: f64| {
            let quantity = metric_quantity(&study::metric::find(key).unwrap().into());
            format!("{} {}", quantity.text(value), quantity.base)
        };
        assert_eq!(shown("throughput", 41_234.5), "41234 Mbit/s of payload");
        assert_eq!(shown("throughput", 9_999.0), "9999 Mbit/s of payload");
        assert_eq!(shown("latency_p99", 45_600.0), "45600 ns from request to response");
        assert_eq!(shown("latency_max", 1.2e7), "12000000 ns from request to response");
        assert_eq!(shown("receiver.cpu", 45.0), "45.00 % of all CPUs of the host");
        assert_eq!(shown("packets", 123_456.0), "123456 1/s ");
    }
}
