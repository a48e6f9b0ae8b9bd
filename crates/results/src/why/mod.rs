//! The reasons why two conditions differ, as far as stored counters tell: conditions that differ by
//! a factor that can explain a large effect.
//!
//! A counter that differs is evidence and no proof. So a sentence gives the counter's two figures,
//! and there is none where counters are alike, move against the effect, or overlap between boots.

mod counters;
mod rule;
mod rules;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;
use store::{Metrics, StoredStudy};
use study::metric::{Better, Metric, find};

pub use self::counters::ExplainingCounter;
pub(crate) use self::counters::counters;

use self::rule::{BootMeans, CounterSubject};
use self::rules::RULES;
use crate::data::comparison_group::ComparisonGroup;
use crate::data::means::per_boot;
use crate::words::lists::grouped;

/// A counter that differs between two conditions as their effect does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The counter's metric.
    pub counter: &'static str,
    /// Its figure in the condition, in the unit that the sentence names.
    pub value: f64,
    /// The figure of the baseline.
    pub baseline: f64,
    /// Both in words, without a full stop.
    pub sentence: String,
}

// More reasons than this explain nothing.
const MOST: usize = 2;
// From this share of the baseline on, an effect needs an explanation.
const LARGE: f64 = 0.03;

/// Adds its explanation to each large, proven difference of a stored study.
pub(crate) fn explain(groups: &mut [ComparisonGroup], stored: &StoredStudy) {
    // Many rows have the same baseline.
    let mut means: BTreeMap<usize, Vec<Metrics>> = BTreeMap::new();
    for group in groups {
        let Some(metric) = find(&group.metric) else { continue };
        for row in &mut group.rows {
            let comparison = &row.comparison;
            let is_large = comparison.difference.abs() >= LARGE * comparison.baseline_mean.abs();
            if is_large && row.is_proven() {
                let both = [comparison.condition, comparison.baseline];
                for condition in both {
                    means.entry(condition).or_insert_with(|| per_boot(stored, condition));
                }
                let boots = both.map(|condition| means[&condition].as_slice());
                row.why = reasons(metric, comparison.difference > 0.0, boots);
            }
        }
    }
}

/// The counters that differ between a condition and its baseline as an effect does, the most
/// telling first. `rises`: whether the metric is higher than the baseline's.
pub(crate) fn reasons(metric: &Metric, rises: bool, boots: [BootMeans<'_>; 2]) -> Vec<Explanation> {
    let is_worse = match metric.better {
        Better::Higher => !rises,
        Better::Lower => rises,
        Better::Neither => return Vec::new(),
    };
    let rules = RULES.iter().filter(|rule| (rule.explains)(metric));
    let sides = || study::Side::BOTH.into_iter().filter(|side| metric.side.is_none_or(|own| own == *side));
    let mut found: Vec<(CounterSubject, f64, Explanation)> =
        rules.flat_map(|rule| sides().filter_map(|side| rule.reason(side, is_worse, boots))).collect();
    // The sort is stable: of equals, the first rule's and the transmitter's.
    found.sort_by(|(_, one, _), (_, other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
    let by_subject = grouped(found.into_iter().map(|(about, _, why)| (about, why)));
    by_subject.into_iter().take(MOST).filter_map(|(_, reasons)| reasons.into_iter().next()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Three boots of a condition, each counter a little different from boot to boot.
    fn boots(throughput: f64, counters: &[(&str, f64)]) -> Vec<Metrics> {
        let boot = |spread: f64| {
            let counters = counters.iter().map(|(key, value)| ((*key).to_owned(), value * spread));
            counters.chain([("throughput".to_owned(), throughput)]).collect()
        };
        [0.98, 1.0, 1.02].map(boot).to_vec()
    }

    fn sentences(metric: &str, rises: bool, condition: Vec<Metrics>, baseline: Vec<Metrics>) -> Vec<String> {
        let reasons = reasons(find(metric).unwrap(), rises, [&condition, &baseline]);
        reasons.into_iter().map(|why| why.sentence).collect()
    }

    #[test]
    fn a_planted_cause_is_reported_with_its_figures() {
        let slow = boots(
            2_200.0,
            &[("transmitter.timer_interrupts", 41_000.0), ("transmitter.softirqs_hrtimer", 40_000.0)],
        );
        let fast = boots(
            21_500.0,
            &[("transmitter.timer_interrupts", 500.0), ("transmitter.softirqs_hrtimer", 0.0)],
        );
        let told = "timer interrupts per second at the transmitter, 97.6 % of which ran timers such as those of TCP's pacing";
        assert_eq!(
            sentences("throughput", false, slow.clone(), fast.clone()),
            [format!("with 41,000 against 500 {told}")]
        );
        assert_eq!(
            sentences("throughput", true, fast.clone(), slow.clone()),
            [format!("with 500 against 41,000 {told}")]
        );
        assert_eq!(sentences("transmitter.service_demand_byte", true, slow.clone(), fast.clone()).len(), 1);
        // It is no reason for what happens at the other end, nor for the contrary.
        assert!(sentences("receiver.service_demand_byte", true, slow.clone(), fast.clone()).is_empty());
        assert!(sentences("throughput", true, slow, fast).is_empty());
    }

    #[test]
    fn needless_retransmissions_are_reported_as_reordering() {
        let of = |again: f64| {
            let keys = [("segments", 1e6), ("retransmits", again), ("retransmits_needless", again * 0.96)];
            let keys = keys.map(|(key, value)| (format!("transmitter.{key}"), value));
            boots(6_000.0, &keys.each_ref().map(|(key, value)| (key.as_str(), *value)))
        };
        assert_eq!(
            sentences("throughput", false, of(17_000.0), of(3.0)),
            [
                "with 1.7 against 0.0003 % of segments retransmitted by the transmitter, 96.0 % of which had arrived: reordering"
            ]
        );
        assert!(sentences("throughput", false, of(300.0), of(3.0)).is_empty(), "too few to matter");
    }

    #[test]
    fn a_rate_that_is_higher_because_more_was_done_explains_nothing() {
        let slow = boots(1_000.0, &[("transmitter.call_interrupts", 3_000.0)]);
        let fast = boots(9_000.0, &[("transmitter.call_interrupts", 27_000.0)]);
        assert!(sentences("transmitter.service_demand_byte", true, fast, slow).is_empty());
    }

    #[test]
    fn boots_that_overlap_explain_nothing() {
        let mut slow = boots(400.0, &[("transmitter.segments_per_wire_packet", 6.7)]);
        let fast = boots(1_000.0, &[("transmitter.segments_per_wire_packet", 26.0)]);
        let told = sentences("throughput", false, slow.clone(), fast.clone());
        assert_eq!(told, ["with 6.7 against 26 segments per packet at the transmitter"]);
        slow[1].insert("transmitter.segments_per_wire_packet".to_owned(), 27.0);
        assert!(sentences("throughput", false, slow, fast).is_empty());
    }

    fn side_keys() -> Vec<&'static str> {
        study::metric::METRICS
            .iter()
            .filter(|metric| metric.side.is_some())
            .map(|metric| metric.key)
            .collect()
    }

    #[test]
    fn more_drops_than_packets_are_no_share() {
        let of = |drops| boots(1_000.0, &[("receiver.drops", drops), ("receiver.wire_packets", 1_000.0)]);
        assert!(sentences("throughput", false, of(44_200.0), of(7.0)).is_empty());
        assert_eq!(sentences("throughput", false, of(442.0), of(7.0)).len(), 1);
    }

    proptest! {
        #[test]
        fn equal_counters_explain_nothing(values in prop::collection::vec(0.0f64..1e9, 1..120), rises: bool, slow in 1.0f64..1e5) {
            let counters: Vec<(&str, f64)> = side_keys().into_iter().zip(values).collect();
            let same = boots(slow, &counters);
            for metric in study::metric::METRICS {
                prop_assert_eq!(reasons(metric, rises, [&same, &same]), vec![]);
            }
        }

        #[test]
        fn a_planted_factor_is_reported(factor in 3.5f64..1e4, base in 2_000.0f64..1e5) {
            let slow = boots(1_000.0, &[("receiver.reschedule_interrupts", base * factor)]);
            let fast = boots(3_000.0, &[("receiver.reschedule_interrupts", base)]);
            let found = reasons(find("throughput").unwrap(), false, [&slow, &fast]);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(found[0].counter, "receiver.reschedule_interrupts");
            prop_assert!((found[0].value / found[0].baseline / factor - 1.0).abs() < 1e-6);
        }

        #[test]
        fn any_figures_make_no_more_than_two_reasons(
            values in prop::collection::vec(prop_oneof![0.0f64..10.0, 0.0f64..1e300, Just(f64::NAN)], 240),
            rises: bool,
        ) {
            let (one, other) = values.split_at(120);
            let of = |values: &[f64]| -> Vec<Metrics> {
                vec![side_keys().into_iter().map(str::to_owned).zip(values.iter().copied()).collect()]
            };
            let (one, other) = (of(one), of(other));
            for metric in study::metric::METRICS {
                let found = reasons(metric, rises, [&one, &other]);
                prop_assert!(found.len() <= MOST && found.iter().all(|why| why.value.is_finite()), "{:?}", found);
            }
        }
    }
}
