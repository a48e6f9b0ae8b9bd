//! No interval, and no difference that would have been seen, leaves what a metric can be.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use stats::{Comparison, Design, Observation, Question, ValueRange, analyse, power_sentence};
use study::metric::{METRICS, Metric};

/// Values of three conditions in a few boots, at one end of what the metric can be or between: as
/// shares of its range, or of 10 where it has no upper end.
fn shares() -> impl Strategy<Value = (Vec<f64>, usize, Design)> {
    let value = prop_oneof![3 => 0.0..0.02_f64, 3 => 0.98..=1.0_f64, 2 => 0.0..=1.0_f64, 1 => Just(0.0), 1 => Just(1.0)];
    let design = prop::sample::select(vec![Design::Crossed, Design::Nested]);
    (2_usize..5, design).prop_flat_map(move |(boots, design)| {
        (prop::collection::vec(value.clone(), 3 * 2 * boots), Just(boots), Just(design))
    })
}

fn keeps_to_its_range(metric: &Metric, (shares, boots, design): &(Vec<f64>, usize, Design)) {
    let (least, most) = metric.range();
    let value = |share: f64| least + share * (most.unwrap_or(least + 10.0) - least);
    let run = |(place, share): (usize, &f64)| {
        let (condition, cell) = (place % 3, place / 3 % boots);
        let boot = if *design == Design::Nested { condition * boots + cell } else { cell };
        Observation { condition, boot: u32::try_from(boot).unwrap(), value: value(*share) }
    };
    // The first boot lacks a condition, so that the others' means are estimated.
    let is_there = |(place, _): &(usize, &f64)| place % (3 * boots) != 0;
    let runs: Vec<Observation> = shares.iter().enumerate().filter(is_there).map(run).collect();
    let range = ValueRange { least: Some(least), most };
    let question = Question { range, design: Some(*design), ..Question::against(0) };
    let analysis = analyse(&runs, &question).unwrap();
    let key = metric.key;
    let (end, slack) = (most.unwrap_or(f64::INFINITY), 1e-9);
    for one in &analysis.conditions {
        assert!(least - slack <= one.mean && one.mean <= end + slack, "{key}: {one:?}");
        let Some((low, high)) = one.interval else { continue };
        assert!(least - slack <= low && high <= end + slack, "{key}: {one:?}");
    }
    for one in &analysis.comparisons {
        if let Some((low, high)) = one.interval {
            let reach = end - least + slack;
            assert!(-reach <= low && high <= reach, "{key}: {one:?}");
            assert!(low <= one.difference + slack && one.difference <= high + slack, "{key}: {one:?}");
        }
        if let Some((low, high)) = one.relative_interval {
            assert!(low >= -100.0 && low <= high, "{key}: {one:?}");
        }
        let (size, is_percent) = match one.relative_interval.and(one.detectable_relative) {
            Some(size) => (size, true),
            None => (one.detectable.unwrap_or(0.0), false),
        };
        let (fall, rise) = one.possible_sizes(is_percent);
        let sentence = power_sentence((size, size), (fall, rise), |size| size.to_string(), metric.unit);
        for (words, is_possible) in [
            ("a difference of", size <= fall.min(rise)),
            ("a fall of", size <= fall && size > rise),
            ("a rise of", size <= rise && size > fall),
            ("no possible difference would", size > fall.max(rise)),
        ] {
            assert!(is_possible || !sentence.contains(words), "{key}: {sentence}: {one:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_figure_leaves_what_its_metric_can_be(shares in shares()) {
        // Metrics of one range are alike.
        let mut seen = Vec::new();
        for metric in METRICS {
            let kind = format!("{:?}", metric.range());
            if !seen.contains(&kind) {
                keeps_to_its_range(metric, &shares);
                seen.push(kind);
            }
        }
        prop_assert_eq!(seen.len(), 3, "not negative, at least 1, a share");
    }
}

/// Real cases: 1.003 segments per packet with an interval from 0.4 to 1.6; a difference of 148 %
/// (84 to 550 %) of a rate, which cannot fall by more than 100.
#[test]
fn figures_that_were_impossible_are_possible() {
    let runs = |values: [[f64; 3]; 2]| -> Vec<Observation> {
        let of = |(condition, values): (usize, [f64; 3])| {
            let boots = values.into_iter().zip(1..);
            boots.map(move |(value, boot)| Observation { condition, boot, value }).collect::<Vec<_>>()
        };
        values.into_iter().enumerate().flat_map(of).collect()
    };
    let segments = study::metric::SEGMENTS_PER_WIRE_PACKET.transmitter;
    let range = ValueRange { least: Some(segments.range().0), most: segments.range().1 };
    let question = Question { range, design: Some(Design::Nested), ..Question::against(0) };
    let found = analyse(&runs([[1.0, 1.0, 1.009], [1.3, 1.0, 1.0]]), &question).unwrap();
    let (low, high) = found.conditions[1].interval.unwrap();
    assert!(low == 1.0 && high > 1.5, "{low} to {high}");
    let question = Question { range: ValueRange::NON_NEGATIVE, ..question };
    let found = analyse(&runs([[100.0, 101.0, 99.0], [60.0, 100.0, 150.0]]), &question).unwrap();
    let said = power(&found.comparisons[0]);
    assert!(said.contains("a rise of 1"), "{said}");
    let found = analyse(&runs([[100.0, 101.0, 99.0], [90.0, 100.0, 110.0]]), &question).unwrap();
    let said = power(&found.comparisons[0]);
    assert!(said.contains("a difference of"), "{said}");
}

fn power(one: &Comparison) -> String {
    let size = one.detectable_relative.unwrap();
    power_sentence((size, size), one.possible_sizes(true), |size| format!("{size:.0}"), " %")
}

#[test]
fn what_is_below_the_resolution_of_numbers_is_equal() {
    let compared = |one: f64, other: f64| {
        let runs: Vec<Observation> = (1..=4)
            .flat_map(|boot| {
                [(0, one), (1, other)].map(|(condition, value)| Observation { condition, boot, value })
            })
            .collect();
        analyse(&runs, &Question::against(0)).unwrap().comparisons.remove(0)
    };
    for (one, other, is_equal) in [
        (1e15, 1e15 + 1.0, true),
        (1e15, 1e15 + 6.5, true),
        (0.1 + 0.2, 0.3, true),
        (5.0, 5.0, true),
        (1e15, 1e15 + 100.0, false),
        (1.0, 1.000_001, false),
    ] {
        let found = compared(one, other);
        assert_eq!(found.is_equal(), is_equal, "{one} {other}: {found:?}");
    }
}
