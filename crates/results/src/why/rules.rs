//! The rules by which counters may explain effects.

use study::metric::{Metric, MetricGroup};

use super::rule::{CounterSubject, ExplanationRule, PERCENT};

/// Not the rate that a search found: counters are those of one of its trials.
fn any(metric: &Metric) -> bool {
    matches!(metric.group, MetricGroup::Rate | MetricGroup::Latency | MetricGroup::ServiceDemand)
        && !metric.is_of_search()
}

fn bytes(metric: &Metric) -> bool {
    any(metric) && metric.is_of_streams()
}

fn round_trips(metric: &Metric) -> bool {
    matches!(metric.group, MetricGroup::Rate | MetricGroup::Latency) && metric.is_of_transactions()
}

/// A counter of which more costs, and three times as many are telling.
const COSTS: ExplanationRule = ExplanationRule {
    about: CounterSubject::OtherCpus,
    counter: "",
    per: None,
    costs: true,
    words: "",
    floor: 2_000.0,
    factor: 3.0,
    part: None,
    explains: any,
};

/// A counter of which more helps.
const HELPS: ExplanationRule =
    ExplanationRule { about: CounterSubject::Batches, costs: false, floor: 1.0, factor: 1.5, ..COSTS };

/// Every rule of each side. `counter` and `per` are given without the side, which `@` stands for in
/// words.
pub(super) const RULES: &[ExplanationRule] = &[
    ExplanationRule { counter: "segments_per_wire_packet", words: "segments per packet at the @", ..HELPS },
    ExplanationRule {
        counter: "segments_per_underlay_packet",
        words: "segments per packet under the tunnel at the @",
        ..HELPS
    },
    ExplanationRule {
        counter: "bytes_per_wire_packet",
        words: "bytes per packet at the @",
        floor: 64.0,
        explains: bytes,
        ..HELPS
    },
    ExplanationRule {
        about: CounterSubject::Timers,
        counter: "timer_interrupts",
        words: "timer interrupts per second at the @",
        part: Some(("softirqs_hrtimer", "ran timers such as those of TCP's pacing")),
        ..COSTS
    },
    ExplanationRule {
        counter: "reschedule_interrupts",
        words: "reschedule interrupts per second at the @",
        ..COSTS
    },
    ExplanationRule {
        counter: "call_interrupts",
        words: "function-call interrupts per second at the @",
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Losses,
        counter: "retransmits",
        per: Some(("segments", PERCENT)),
        words: "% of segments retransmitted by the @",
        floor: 0.1,
        part: Some(("retransmits_needless", "had arrived: reordering")),
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Losses,
        counter: "drops",
        per: Some(("wire_packets", PERCENT)),
        words: "packets dropped at the @ for 100 that crossed its interface",
        floor: 0.5,
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Losses,
        counter: "underlay_fragments",
        per: Some(("underlay_packets", PERCENT)),
        words: "fragments for 100 packets under the tunnel at the @",
        floor: 1.0,
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Waits,
        counter: "context_switches",
        per: Some(("wire_packets", 1.0)),
        words: "context switches per packet at the @",
        floor: 0.1,
        factor: 1.5,
        explains: round_trips,
        ..COSTS
    },
];

#[cfg(test)]
mod tests {
    use study::metric::{METRICS, find};

    use super::*;

    #[test]
    fn rules_explain_what_the_traffic_is_about() {
        let explained = |explains: fn(&Metric) -> bool| -> Vec<&str> {
            let of_a_side = |metric: &&Metric| metric.side != Some(study::Side::Receiver);
            METRICS.iter().filter(of_a_side).filter(|one| explains(one)).map(|one| one.own).collect()
        };
        assert_eq!(
            explained(bytes),
            [
                "throughput",
                "throughput_forward",
                "throughput_reverse",
                "service_demand_byte",
                "host_service_demand_byte"
            ]
        );
        let latencies =
            ["mean", "p50", "p90", "p99", "p99_9", "p99_99", "max"].map(|part| format!("latency_{part}"));
        assert_eq!(explained(round_trips), [&["transactions".to_owned()], &latencies[..]].concat());
        let others: Vec<&str> = explained(any)
            .into_iter()
            .filter(|own| !explained(bytes).contains(own) && !explained(round_trips).contains(own))
            .collect();
        assert_eq!(
            others,
            [
                "packets",
                "service_demand_packet",
                "service_demand_transaction",
                "host_service_demand_packet",
                "host_service_demand_transaction"
            ]
        );
    }

    #[test]
    fn every_rule_names_metrics_of_the_vocabulary() {
        for rule in RULES {
            let parts = [rule.per.map(|(key, _)| key), rule.part.map(|(key, _)| key), Some(rule.counter)];
            for key in parts.into_iter().flatten() {
                assert!(find(&format!("receiver.{key}")).is_some(), "{key}");
            }
            assert!(rule.factor > 1.0 && rule.floor > 0.0 && rule.words.contains('@'), "{}", rule.counter);
        }
    }
}
