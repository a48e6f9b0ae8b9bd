//! Whether a higher value of a metric is better, and the word for a change.

use words::metric::{self, Better, Metric};

/// Which direction of a metric is better, and the words for its directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quality {
    /// Which direction is better.
    pub better: Better,
    words: Words,
}

type Words = [&'static str; 2];

const SPEED: Words = ["faster", "slower"];
const CPU: Words = ["less CPU", "more CPU"];
const OTHER: Words = ["better", "worse"];

/// Units of time, of which less is better.
const TIMES: &[&str] = &["s", "sec", "ms", "us", "µs", "ns"];

/// Endings of units of work per second, of which more is better.
// Not 1/s, which may count anything.
const RATES: &[&str] =
    &["bits/s", "bit/s", "bps", "B/s", "Bytes/s", "bytes/s", "Trans/s", "transactions/s", "ops/s"];

/// The ending of a cost per operation: less is better.
const PER_OPERATION: &str = "/op";

impl Quality {
    /// A direction that somebody stated.
    pub fn stated(better: Better) -> Quality {
        Quality { better, words: OTHER }
    }

    /// The quality of a metric of the vocabulary.
    pub fn from_metric(metric: Metric) -> Quality {
        let own = metric.own;
        let own = own.strip_prefix("host_").unwrap_or(own);
        let is_speed = RATES.iter().any(|rate| metric.unit.ends_with(rate))
            || ["packets", "transactions"].contains(&own)
            || own.starts_with("latency");
        // Time that the hypervisor gave to others is not a cost of the traffic.
        let is_cpu = (own.starts_with("cpu") && own != "cpu_steal") || own.starts_with("service_demand");
        let words = match (is_speed, is_cpu) {
            (true, _) => SPEED,
            (false, true) => CPU,
            (false, false) => OTHER,
        };
        Quality { better: metric.better, words }
    }

    /// The vocabulary's quality, if it has the word with this unit, or else that of the unit.
    pub fn of_file(metric: &str, unit: &str) -> Option<Quality> {
        if let Some(known) = metric::find(metric).filter(|known| known.unit == unit) {
            return Some(Quality::from_metric(known));
        }
        let (time, is_cost) = unit.strip_suffix(PER_OPERATION).map_or((unit, false), |time| (time, true));
        if TIMES.contains(&time) {
            // Less of another time, such as jitter, is better but not faster.
            let is_speed = is_cost || ["time", "latency"].iter().any(|word| metric.starts_with(word));
            return Some(Quality { better: Better::Lower, words: if is_speed { SPEED } else { OTHER } });
        }
        if RATES.iter().any(|rate| unit.ends_with(rate)) {
            return Some(Quality { better: Better::Higher, words: SPEED });
        }
        is_cost.then_some(Quality { better: Better::Lower, words: OTHER })
    }

    /// The word for a value that rises, or falls; none where neither direction is better.
    pub fn word(self, rises: bool) -> Option<&'static str> {
        let [improvement, opposite] = self.words;
        match self.better {
            Better::Higher => Some(if rises { improvement } else { opposite }),
            Better::Lower => Some(if rises { opposite } else { improvement }),
            Better::Neither => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(metric: &str) -> [Option<&'static str>; 2] {
        let quality = Quality::from_metric(metric::find(metric).unwrap_or_else(|| panic!("{metric}")));
        [true, false].map(|rises| quality.word(rises))
    }

    #[test]
    fn what_is_higher_is_faster_or_costs_more_or_is_worse_or_neither() {
        let (speed, cost) = ([Some("faster"), Some("slower")], [Some("more CPU"), Some("less CPU")]);
        for metric in ["throughput", "throughput_reverse", "packets", "transactions"] {
            assert_eq!(words(metric), speed, "{metric}");
        }
        assert_eq!(words("latency_p99"), [speed[1], speed[0]]);
        for metric in ["receiver.cpu", "cpu_softirq", "service_demand_byte", "receiver.host_cpu_io"] {
            assert_eq!(words(metric), cost, "{metric}");
        }
        // More idle CPU is less CPU used.
        assert_eq!(words("cpu_idle"), [cost[1], cost[0]]);
        for metric in
            ["loss", "lost_queue", "drops", "instructions_packet", "cpu_steal", "receiver.underlay_fragments"]
        {
            assert_eq!(words(metric), [Some("worse"), Some("better")], "{metric}");
        }
        for metric in
            ["offered", "segments", "timer_interrupts", "receiver.host_softirqs_net_rx", "wire_packets"]
        {
            assert_eq!(words(metric), [None, None], "{metric}");
        }
    }

    #[test]
    fn a_unit_tells_what_it_tells_and_no_more() {
        let told =
            |metric: &str, unit: &str| Quality::of_file(metric, unit).and_then(|quality| quality.word(true));
        for (metric, unit, word) in [
            ("time", "s", Some("slower")),
            ("ns/op", "ns/op", Some("slower")),
            ("B/op", "B/op", Some("worse")),
            ("jitter", "ms", Some("worse")),
            ("throughput", "10^6 bits/s", Some("faster")),
            ("sent", "10^6 bits/s", Some("faster")),
            ("MB/s", "MB/s", Some("faster")),
            ("throughput", "Trans/s", Some("faster")),
            ("throughput", "10^6bits/s", Some("faster")),
            ("loss", "%", Some("worse")),
            ("offered", "1", None),
            ("remote_cpu", "%", None),
            ("errors", "1/s", None),
            ("value", "", None),
        ] {
            assert_eq!(told(metric, unit), word, "{metric} in {unit}");
        }
        assert_eq!(Quality::stated(Better::Lower).word(false), Some("better"));
    }
}
