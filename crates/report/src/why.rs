//! Why two conditions differ, as far as stored counters tell: those that differ by a factor that can explain a large effect.
//!
//! A counter that differs is evidence and no proof. So a sentence gives the counter's two figures, and there is none where
//! counters are alike, move against the effect, or overlap between boots.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;
use stats::mean;
use store::StoredStudy;
use study::metric::{Better, Metric, find};

use crate::group::Group;
use crate::means::per_boot;
use crate::number::{percent, rounded};

/// An effect from this share of the baseline on asks for an explanation.
const LARGE: f64 = 0.03;
/// More reasons than this explain nothing.
const MOST: usize = 2;
/// A counter for each hundred of another one.
const PERCENT: f64 = 100.0;
/// A part of a counter from this share of it on is worth a word.
const PART: f64 = 0.5;

/// A counter that differs between two conditions as their effect does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Why {
    /// The counter's metric.
    counter: &'static str,
    /// Its figure in the condition, in the unit that the sentence names.
    value: f64,
    /// The same in the baseline.
    baseline: f64,
    /// Both in words, without a full stop.
    pub(crate) sentence: String,
}

/// Which of a counter's directions costs performance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    Costs,
    Helps,
}

/// What a counter is about; of several about the same thing only the most telling is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Batches,
    Timers,
    OtherCpus,
    Losses,
    Waits,
}

/// A counter, and what it may explain.
struct Rule {
    about: About,
    /// The metric.
    counter: &'static str,
    /// The metric that it is divided by, and what the quotient is multiplied by; none: it is a figure by itself.
    per: Option<(&'static str, f64)>,
    more: More,
    /// What follows the two figures.
    words: &'static str,
    /// Figures up to this are too small to matter, and count as this one.
    floor: f64,
    /// The least factor between the two.
    factor: f64,
    /// A metric that counts a part of this one, and how that part is told after its share.
    part: Option<(&'static str, &'static str)>,
    /// How the keys begin, without the side, of the metrics that it may explain.
    explains: &'static [&'static str],
}

const ALL: &[&str] =
    &["throughput", "packets", "transactions", "latency_", "service_demand_", "host_service_demand_"];
const BYTES: &[&str] = &["throughput", "service_demand_byte", "host_service_demand_byte"];
const ROUND_TRIPS: &[&str] = &["transactions", "latency_"];

/// Every rule of each side. `counter` and `per` are given without the side, which `@` stands for in words.
const RULES: &[Rule] = &[
    Rule {
        about: About::Batches,
        counter: "segments_per_wire_packet",
        per: None,
        more: More::Helps,
        words: "segments per packet at the @",
        floor: 1.0,
        factor: 1.5,
        part: None,
        explains: ALL,
    },
    Rule {
        about: About::Batches,
        counter: "segments_per_underlay_packet",
        per: None,
        more: More::Helps,
        words: "segments per packet under the tunnel at the @",
        floor: 1.0,
        factor: 1.5,
        part: None,
        explains: ALL,
    },
    Rule {
        about: About::Batches,
        counter: "bytes_per_wire_packet",
        per: None,
        more: More::Helps,
        words: "bytes per packet at the @",
        floor: 64.0,
        factor: 1.5,
        part: None,
        explains: BYTES,
    },
    Rule {
        about: About::Timers,
        counter: "timer_interrupts",
        per: None,
        more: More::Costs,
        words: "timer interrupts per second at the @",
        floor: 2_000.0,
        factor: 3.0,
        part: Some(("softirqs_hrtimer", "ran timers such as those of TCP's pacing")),
        explains: ALL,
    },
    Rule {
        about: About::OtherCpus,
        counter: "reschedule_interrupts",
        per: None,
        more: More::Costs,
        words: "reschedule interrupts per second at the @",
        floor: 2_000.0,
        factor: 3.0,
        part: None,
        explains: ALL,
    },
    Rule {
        about: About::OtherCpus,
        counter: "call_interrupts",
        per: None,
        more: More::Costs,
        words: "function-call interrupts per second at the @",
        floor: 2_000.0,
        factor: 3.0,
        part: None,
        explains: ALL,
    },
    Rule {
        about: About::Losses,
        counter: "retransmits",
        per: Some(("segments", PERCENT)),
        more: More::Costs,
        words: "% of segments retransmitted by the @",
        floor: 0.1,
        factor: 3.0,
        part: Some(("retransmits_needless", "had arrived: reordering")),
        explains: ALL,
    },
    Rule {
        about: About::Losses,
        counter: "drops",
        per: Some(("wire_packets", PERCENT)),
        more: More::Costs,
        words: "packets dropped at the @ for 100 that crossed its interface",
        floor: 0.5,
        factor: 3.0,
        part: None,
        explains: ALL,
    },
    Rule {
        about: About::Losses,
        counter: "underlay_fragments",
        per: Some(("underlay_packets", PERCENT)),
        more: More::Costs,
        words: "fragments for 100 packets under the tunnel at the @",
        floor: 1.0,
        factor: 3.0,
        part: None,
        explains: ALL,
    },
    Rule {
        about: About::Waits,
        counter: "context_switches",
        per: Some(("wire_packets", 1.0)),
        more: More::Costs,
        words: "context switches per packet at the @",
        floor: 0.1,
        factor: 1.5,
        part: None,
        explains: ROUND_TRIPS,
    },
];

/// The metrics' means of each boot of a condition.
type Boots = Vec<BTreeMap<String, f64>>;

/// Adds to each large, proven difference of a stored study what explains it.
pub(crate) fn explain(groups: &mut [Group], stored: &StoredStudy) {
    for group in groups {
        let Some(metric) = find(&group.metric) else { continue };
        for row in &mut group.rows {
            let comparison = &row.comparison;
            let is_large = comparison.difference.abs() >= LARGE * comparison.baseline_mean.abs();
            if is_large && row.is_proven() {
                let boots =
                    [comparison.condition, comparison.baseline].map(|condition| per_boot(stored, condition));
                row.why = reasons(metric, comparison.difference > 0.0, &boots);
            }
        }
    }
}

/// The counters that differ between a condition and its baseline as an effect does, the most telling first. `rises`: whether the
/// metric is higher than the baseline's.
fn reasons(metric: &Metric, rises: bool, boots: &[Boots; 2]) -> Vec<Why> {
    let is_worse = match metric.better {
        Better::Higher => !rises,
        Better::Lower => rises,
        Better::Neither => return Vec::new(),
    };
    let bare = metric.side().map_or(metric.key, |side| &metric.key[side.to_string().len() + 1..]);
    let rules = RULES.iter().filter(|rule| rule.explains.iter().any(|begin| bare.starts_with(begin)));
    let sides = || study::Side::BOTH.into_iter().filter(|side| metric.side().is_none_or(|own| own == *side));
    let mut found: Vec<(About, f64, Why)> = rules
        .flat_map(|rule| sides().filter_map(|side| rule.reason(&side.to_string(), is_worse, boots)))
        .collect();
    // The sort is stable: of equals, the first rule's and the transmitter's.
    found.sort_by(|(_, one, _), (_, other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
    let mut told: Vec<About> = Vec::new();
    let mut reasons = Vec::new();
    for (about, _, why) in found {
        if !told.contains(&about) && reasons.len() < MOST {
            told.push(about);
            reasons.push(why);
        }
    }
    reasons
}

impl Rule {
    /// What it is about, how telling it is, and the reason, if the counter differs as the effect does.
    fn reason(&self, side: &str, is_worse: bool, boots: &[Boots; 2]) -> Option<(About, f64, Why)> {
        let counter = find(&format!("{side}.{}", self.counter))?.key;
        let figures = |boots: &Boots| -> Option<Vec<f64>> {
            boots.iter().map(|means| self.figure(side, means)).collect()
        };
        let [value, baseline] = boots.each_ref().map(figures);
        let factor = |[value, baseline]: [&[f64]; 2]| self.factor_between(is_worse, [value, baseline]);
        let (value, baseline) = (value?, baseline?);
        let least = factor([&value, &baseline])?;
        if self.per.is_none() && self.more == More::Costs {
            // A rate may be higher only because more was done.
            let per_work = |figures: &[f64], boots: &Boots| -> Option<Vec<f64>> {
                figures.iter().zip(boots).map(|(figure, means)| Some(figure / work(means)?)).collect()
            };
            let [value, baseline] = [per_work(&value, &boots[0])?, per_work(&baseline, &boots[1])?];
            let (value, baseline) = (mean(&value), mean(&baseline));
            let ratio = if is_worse { value / baseline } else { baseline / value };
            if ratio < self.factor {
                return None;
            }
        }
        let more = if is_worse == (self.more == More::Costs) { &boots[0] } else { &boots[1] };
        let (value, baseline) = (mean(&value), mean(&baseline));
        let words = self.words.replace('@', side);
        let part = self.part(side, more).unwrap_or_default();
        let sentence = format!("with {} against {} {words}{part}", rounded(value), rounded(baseline));
        Some((self.about, least.ln() / self.factor.ln(), Why { counter, value, baseline, sentence }))
    }

    /// The figure of one boot, if there is one.
    fn figure(&self, side: &str, means: &BTreeMap<String, f64>) -> Option<f64> {
        let of = |key: &str| means.get(&format!("{side}.{key}")).copied();
        let counted = of(self.counter)?;
        let figure = match self.per {
            None => counted,
            Some((per, scale)) => of(per).filter(|per| *per > 0.0).map(|per| counted * scale / per)?,
        };
        // More than all of them: a packet of the interface held many of what is counted, and the two are no shares.
        let is_share = self.per.is_some_and(|(_, scale)| scale == PERCENT);
        (figure.is_finite() && !(is_share && figure > PERCENT)).then_some(figure)
    }

    /// By how much the figures differ in the effect's direction, if it is enough and no boot says otherwise.
    fn factor_between(&self, is_worse: bool, [value, baseline]: [&[f64]; 2]) -> Option<f64> {
        let is_higher = is_worse == (self.more == More::Costs);
        let [high, low] = if is_higher { [value, baseline] } else { [baseline, value] };
        if high.is_empty() || low.is_empty() {
            return None;
        }
        let least = high.iter().copied().fold(f64::INFINITY, f64::min);
        let most = low.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let factor = mean(high).max(self.floor) / mean(low).max(self.floor);
        (least > most && factor.is_finite() && factor >= self.factor).then_some(factor)
    }

    /// The share of a part of the counter in the condition that has more of it, where it is most of it.
    fn part(&self, side: &str, boots: &Boots) -> Option<String> {
        let (key, words) = self.part?;
        let sum =
            |key: &str| -> f64 { boots.iter().filter_map(|means| means.get(&format!("{side}.{key}"))).sum() };
        let share = sum(key) / sum(self.counter);
        (share >= PART).then(|| format!(", {} % of which {words}", percent((share * 100.0).min(100.0))))
    }
}

/// What was done in a second of a boot's windows, whatever the workload counts it in.
fn work(means: &BTreeMap<String, f64>) -> Option<f64> {
    let done = ["throughput", "packets", "transactions"].iter().find_map(|key| means.get(*key).copied());
    done.filter(|done| *done > 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Three boots of a condition, each counter a little different from boot to boot.
    fn boots(throughput: f64, counters: &[(&str, f64)]) -> Boots {
        let boot = |spread: f64| {
            let counters = counters.iter().map(|(key, value)| ((*key).to_owned(), value * spread));
            counters.chain([("throughput".to_owned(), throughput)]).collect()
        };
        [0.98, 1.0, 1.02].map(boot).to_vec()
    }

    fn sentences(metric: &str, rises: bool, condition: Boots, baseline: Boots) -> Vec<String> {
        let reasons = reasons(find(metric).unwrap(), rises, &[condition, baseline]);
        reasons.into_iter().map(|why| why.sentence).collect()
    }

    #[test]
    fn a_planted_cause_is_told_with_its_figures() {
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
    fn needless_retransmissions_are_told_as_reordering() {
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

    fn side_keys() -> Vec<&'static str> {
        study::metric::METRICS
            .iter()
            .filter(|metric| metric.side().is_some())
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
            for metric in study::metric::METRICS {
                prop_assert_eq!(reasons(metric, rises, &[boots(slow, &counters), boots(slow, &counters)]), vec![]);
            }
        }

        #[test]
        fn a_planted_factor_is_told(factor in 3.5f64..1e4, base in 2_000.0f64..1e5) {
            let slow = boots(1_000.0, &[("receiver.reschedule_interrupts", base * factor)]);
            let fast = boots(3_000.0, &[("receiver.reschedule_interrupts", base)]);
            let found = reasons(find("throughput").unwrap(), false, &[slow, fast]);
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
            let of = |values: &[f64]| -> Boots {
                vec![side_keys().into_iter().map(str::to_owned).zip(values.iter().copied()).collect()]
            };
            for metric in study::metric::METRICS {
                let found = reasons(metric, rises, &[of(one), of(other)]);
                prop_assert!(found.len() <= MOST && found.iter().all(|why| why.value.is_finite()), "{:?}", found);
            }
        }
    }
}
