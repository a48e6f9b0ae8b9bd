use proptest::prelude::*;
use study::metric;

use super::*;

/// Three boots of a condition, each counter a little different from boot to boot.
fn boots(throughput: f64, counters: &[(Metric, f64)]) -> Vec<Metrics> {
    let boot = |spread: f64| {
        let counters = counters.iter().map(|(metric, value)| (*metric, value * spread));
        counters.chain([(metric::THROUGHPUT, throughput)]).collect()
    };
    [0.98, 1.0, 1.02].map(boot).to_vec()
}

fn sentences(metric: Metric, rises: bool, condition: Vec<Metrics>, baseline: Vec<Metrics>) -> Vec<String> {
    let reasons = reasons(metric, rises, [&condition, &baseline]);
    reasons.into_iter().map(|why| why.sentence).collect()
}

#[test]
fn a_planted_cause_is_reported_with_its_figures() {
    let slow = boots(
        2_200.0,
        &[
            (metric::TIMER_INTERRUPTS.own.transmitter, 41_000.0),
            (metric::SOFTIRQS_HRTIMER.own.transmitter, 40_000.0),
        ],
    );
    let fast = boots(
        21_500.0,
        &[(metric::TIMER_INTERRUPTS.own.transmitter, 500.0), (metric::SOFTIRQS_HRTIMER.own.transmitter, 0.0)],
    );
    let told = "timer interrupts per second at the transmitter, 97.6 % of which ran timers such as those of TCP's pacing";
    assert_eq!(
        sentences(metric::THROUGHPUT, false, slow.clone(), fast.clone()),
        [format!("with 41,000 against 500 {told}")]
    );
    assert_eq!(
        sentences(metric::THROUGHPUT, true, fast.clone(), slow.clone()),
        [format!("with 500 against 41,000 {told}")]
    );
    assert_eq!(sentences(metric::SERVICE_DEMAND_BYTE.transmitter, true, slow.clone(), fast.clone()).len(), 1);
    // It is no reason for what happens at the other end, nor for the contrary.
    assert!(sentences(metric::SERVICE_DEMAND_BYTE.receiver, true, slow.clone(), fast.clone()).is_empty());
    assert!(sentences(metric::THROUGHPUT, true, slow, fast).is_empty());
}

#[test]
fn needless_retransmissions_are_reported_as_reordering() {
    let of = |again: f64| {
        let counters = [
            (metric::SEGMENTS.transmitter, 1e6),
            (metric::RETRANSMITS.transmitter, again),
            (metric::RETRANSMITS_NEEDLESS.transmitter, again * 0.96),
        ];
        boots(6_000.0, &counters)
    };
    assert_eq!(
        sentences(metric::THROUGHPUT, false, of(17_000.0), of(3.0)),
        [
            "with 1.7 against 0.0003 % of segments retransmitted by the transmitter, 96.0 % of which had arrived: reordering"
        ]
    );
    assert!(sentences(metric::THROUGHPUT, false, of(300.0), of(3.0)).is_empty(), "too few to matter");
}

#[test]
fn a_rate_that_is_higher_because_more_was_done_explains_nothing() {
    let slow = boots(1_000.0, &[(metric::CALL_INTERRUPTS.own.transmitter, 3_000.0)]);
    let fast = boots(9_000.0, &[(metric::CALL_INTERRUPTS.own.transmitter, 27_000.0)]);
    assert!(sentences(metric::SERVICE_DEMAND_BYTE.transmitter, true, fast, slow).is_empty());
}

#[test]
fn boots_that_overlap_explain_nothing() {
    let mut slow = boots(400.0, &[(metric::SEGMENTS_PER_WIRE_PACKET.transmitter, 6.7)]);
    let fast = boots(1_000.0, &[(metric::SEGMENTS_PER_WIRE_PACKET.transmitter, 26.0)]);
    let told = sentences(metric::THROUGHPUT, false, slow.clone(), fast.clone());
    assert_eq!(told, ["with 6.7 against 26 segments per packet at the transmitter"]);
    slow[1].insert(metric::SEGMENTS_PER_WIRE_PACKET.transmitter, 27.0);
    assert!(sentences(metric::THROUGHPUT, false, slow, fast).is_empty());
}

fn of_sides() -> impl Iterator<Item = Metric> {
    metric::METRICS.iter().copied().filter(|metric| metric.side.is_some())
}

#[test]
fn more_drops_than_packets_are_no_share() {
    let of =
        |drops| boots(1_000.0, &[(metric::DROPS.receiver, drops), (metric::WIRE_PACKETS.receiver, 1_000.0)]);
    assert!(sentences(metric::THROUGHPUT, false, of(44_200.0), of(7.0)).is_empty());
    assert_eq!(sentences(metric::THROUGHPUT, false, of(442.0), of(7.0)).len(), 1);
}

proptest! {
    #[test]
    fn equal_counters_explain_nothing(values in prop::collection::vec(0.0f64..1e9, 1..120), rises: bool, slow in 1.0f64..1e5) {
        let counters: Vec<(Metric, f64)> = of_sides().zip(values).collect();
        let same = boots(slow, &counters);
        for &metric in metric::METRICS {
            prop_assert_eq!(reasons(metric, rises, [&same, &same]), vec![]);
        }
    }

    #[test]
    fn a_planted_factor_is_reported(factor in 3.5f64..1e4, base in 2_000.0f64..1e5) {
        let slow = boots(1_000.0, &[(metric::RESCHEDULE_INTERRUPTS.own.receiver, base * factor)]);
        let fast = boots(3_000.0, &[(metric::RESCHEDULE_INTERRUPTS.own.receiver, base)]);
        let found = reasons(metric::THROUGHPUT, false, [&slow, &fast]);
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].counter, metric::RESCHEDULE_INTERRUPTS.own.receiver);
        prop_assert!((found[0].value / found[0].baseline / factor - 1.0).abs() < 1e-6);
    }

    #[test]
    fn any_figures_make_no_more_than_two_reasons(
        values in prop::collection::vec(prop_oneof![0.0f64..10.0, 0.0f64..1e300, Just(f64::NAN)], 240),
        rises: bool,
    ) {
        let (one, other) = values.split_at(120);
        let of = |values: &[f64]| -> Vec<Metrics> {
            vec![of_sides().zip(values.iter().copied()).collect()]
        };
        let (one, other) = (of(one), of(other));
        for &metric in metric::METRICS {
            let found = reasons(metric, rises, [&one, &other]);
            prop_assert!(found.len() <= MOST && found.iter().all(|why| why.value.is_finite()), "{:?}", found);
        }
    }
}
