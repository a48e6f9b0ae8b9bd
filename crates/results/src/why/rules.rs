//! The rules by which counters may explain effects.

use study::metric::{self, Metric, MetricGroup, Source};

use super::rule::{CounterSubject, ExplanationRule, PERCENT};

fn any(metric: Metric) -> bool {
    // Not the rate that a search found: counters are those of one of its trials.
    matches!(metric.group, MetricGroup::Rate | MetricGroup::Latency | MetricGroup::ServiceDemand)
        && metric.source != Source::Search
}

fn bytes(metric: Metric) -> bool {
    any(metric) && matches!(metric.source, Source::Streams | Source::BothWays)
}

fn round_trips(metric: Metric) -> bool {
    matches!(metric.group, MetricGroup::Rate | MetricGroup::Latency) && metric.source == Source::Rr
}

// Every rule replaces the counter. Three times as many are telling.
const COSTS: ExplanationRule = ExplanationRule {
    about: CounterSubject::OtherCpus,
    counter: metric::CALL_INTERRUPTS.own,
    per: None,
    costs: true,
    words: "",
    floor: 2_000.0,
    factor: 3.0,
    part: None,
    explains: any,
};

const HELPS: ExplanationRule =
    ExplanationRule { about: CounterSubject::Batches, costs: false, floor: 1.0, factor: 1.5, ..COSTS };

/// Every rule of each side. `@` stands for the side in words.
pub(super) const RULES: &[ExplanationRule] = &[
    ExplanationRule {
        counter: metric::SEGMENTS_PER_WIRE_PACKET,
        words: "segments per packet at the @",
        ..HELPS
    },
    ExplanationRule {
        counter: metric::SEGMENTS_PER_UNDERLAY_PACKET,
        words: "segments per packet under the tunnel at the @",
        ..HELPS
    },
    ExplanationRule {
        counter: metric::BYTES_PER_WIRE_PACKET,
        words: "bytes per packet at the @",
        floor: 64.0,
        explains: bytes,
        ..HELPS
    },
    ExplanationRule {
        about: CounterSubject::Timers,
        counter: metric::TIMER_INTERRUPTS.own,
        words: "timer interrupts per second at the @",
        part: Some((metric::SOFTIRQS_HRTIMER.own, "ran timers such as those of TCP's pacing")),
        ..COSTS
    },
    ExplanationRule {
        counter: metric::RESCHEDULE_INTERRUPTS.own,
        words: "reschedule interrupts per second at the @",
        ..COSTS
    },
    ExplanationRule {
        counter: metric::CALL_INTERRUPTS.own,
        words: "function-call interrupts per second at the @",
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Losses,
        counter: metric::RETRANSMITS,
        per: Some((metric::SEGMENTS, PERCENT)),
        words: "% of segments retransmitted by the @",
        floor: 0.1,
        part: Some((metric::RETRANSMITS_NEEDLESS, "had arrived: reordering")),
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Losses,
        counter: metric::DROPS,
        per: Some((metric::WIRE_PACKETS, PERCENT)),
        words: "packets dropped at the @ for 100 that crossed its interface",
        floor: 0.5,
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Losses,
        counter: metric::UNDERLAY_FRAGMENTS,
        per: Some((metric::UNDERLAY_PACKETS, PERCENT)),
        words: "fragments for 100 packets under the tunnel at the @",
        floor: 1.0,
        ..COSTS
    },
    ExplanationRule {
        about: CounterSubject::Waits,
        counter: metric::CONTEXT_SWITCHES,
        per: Some((metric::WIRE_PACKETS, 1.0)),
        words: "context switches per packet at the @",
        floor: 0.1,
        factor: 1.5,
        explains: round_trips,
        ..COSTS
    },
];

#[cfg(test)]
mod tests {
    use study::metric::METRICS;

    use super::*;

    #[test]
    fn rules_explain_what_the_traffic_is_about() {
        let explained = |explains: fn(Metric) -> bool| -> Vec<&str> {
            let of_a_side = |metric: &&Metric| metric.side != Some(study::Side::Receiver);
            METRICS.iter().filter(of_a_side).filter(|one| explains(**one)).map(|one| one.own).collect()
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
    fn every_rule_has_a_threshold_and_words() {
        for rule in RULES {
            assert!(rule.factor > 1.0 && rule.floor > 0.0 && rule.words.contains('@'), "{}", rule.words);
        }
    }
}
