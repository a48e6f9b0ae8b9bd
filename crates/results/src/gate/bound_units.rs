//! The units in which a bound may be written.

use study::metric::Metric;

/// A unit in which a bound may be written: its word, and how many of the metric's own unit it is.
pub(crate) type Unit = (&'static str, f64);

// The units of each unit of the vocabulary of metrics; the first word is the one that is shown.
const UNITS: &[(&str, &[Unit])] = &[
    ("ns", &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)]),
    ("Mbit/s", &[("Mbit/s", 1.0), ("bit/s", 1e-6), ("kbit/s", 1e-3), ("Gbit/s", 1e3)]),
    ("1/s", &[("/s", 1.0), ("1/s", 1.0)]),
    // `%` is always a share of the baseline.
    ("%", &[("points", 1.0)]),
    ("bytes", &[("bytes", 1.0)]),
    ("1", &[("", 1.0)]),
];

pub(crate) fn units_of(metric: &Metric) -> &'static [Unit] {
    UNITS.iter().find(|(unit, _)| *unit == metric.unit).map_or(&[], |(_, units)| units)
}

/// The words of a metric's units for a sentence; empty for a plain number.
pub(crate) fn listed(metric: &Metric) -> String {
    let words: Vec<&str> =
        units_of(metric).iter().map(|(word, _)| *word).filter(|word| !word.is_empty()).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use study::metric::METRICS;

    use super::*;

    #[test]
    fn every_metric_has_units_and_the_first_is_its_own() {
        for metric in METRICS {
            let units = units_of(metric);
            assert!(units.first().is_some_and(|(_, factor)| *factor == 1.0), "{}: {units:?}", metric.key);
        }
    }
}
