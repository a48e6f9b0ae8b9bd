//! Properties of the analysis of any data.

use netassay_stats::{Against, Analysis, Correction, Margin, Observation, Question, Verdict, analyse};
use proptest::prelude::*;

use crate::alone;

/// Any data: cells of any number of runs, boots shared or not.
fn data() -> impl Strategy<Value = Vec<Observation>> {
    let run = (0..4usize, 0..5u32, 50.0..150.0f64);
    (proptest::collection::vec(run, 1..60), any::<bool>()).prop_map(|(runs, is_nested)| {
        let boot = |condition: usize, boot| if is_nested { 10 * condition as u32 + boot } else { boot };
        runs.into_iter()
            .map(|(condition, number, value)| Observation { condition, boot: boot(condition, number), value })
            .chain([Observation { condition: 0, boot: 0, value: 100.0 }])
            .collect()
    })
}

fn question(against: Against) -> Question {
    Question { against, margin: Some(Margin::Percent(20.0)), ..Question::against(0) }
}

fn intervals(analysis: &Analysis) -> Vec<(f64, f64)> {
    analysis.comparisons.iter().filter_map(|comparison| comparison.interval).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_the_runs_does_not_matter(data in data(), turn in 0..60usize) {
        let mut turned = data.clone();
        turned.rotate_left(turn % data.len());
        let question = question(Against::AllPairs);
        prop_assert_eq!(analyse(&data, &question), analyse(&turned, &question));
    }

    #[test]
    fn any_values_have_an_outcome(
        runs in proptest::collection::vec((0..3usize, 0..4u32, prop_oneof![any::<f64>(), -1.0..1.0f64, Just(0.0)]), 0..20)
    ) {
        let data: Vec<Observation> =
            runs.into_iter().map(|(condition, boot, value)| Observation { condition, boot, value }).collect();
        for against in [Against::Baseline(0), Against::AllPairs] {
            let Ok(analysis) = analyse(&data, &question(against)) else { continue };
            for comparison in &analysis.comparisons {
                prop_assert_eq!(comparison.interval.is_none(), comparison.gap.is_some());
            }
        }
    }

    #[test]
    fn a_verdict_its_interval_its_percentage_and_its_p_agree(data in data()) {
        let analysis = analyse(&data, &Question::against(0)).unwrap();
        for one in &analysis.comparisons {
            let Some((low, high)) = one.interval else { continue };
            let is_proven = low > 0.0 || high < 0.0;
            prop_assert_eq!(is_proven, matches!(one.verdict, Verdict::Higher | Verdict::Lower));
            let p = one.p.unwrap();
            prop_assert!((p - 0.05).abs() < 1e-3 || is_proven == (p < 0.05), "{:?}", one);
            if let Some((relative_low, relative_high)) = one.relative_interval {
                prop_assert_eq!((low > 0.0, high < 0.0), (relative_low > 0.0, relative_high < 0.0), "{:?}", one);
            }
        }
    }

    #[test]
    fn shifting_and_scaling_act_as_they_must(data in data(), exponent in -20..20i32, shift in -1e3..1e3f64) {
        let factor = 2.0_f64.powi(exponent);
        let moved: Vec<Observation> =
            data.iter().map(|run| Observation { value: factor * (run.value + shift), ..*run }).collect();
        let pairs = Question { against: Against::AllPairs, correction: Correction::None, ..Question::against(0) };
        let (one, other) = (analyse(&data, &pairs).unwrap(), analyse(&moved, &pairs).unwrap());
        for ((low, high), (moved_low, moved_high)) in intervals(&one).into_iter().zip(intervals(&other)) {
            let tolerance = 1e-4 * (high - low) + 1e-9;
            prop_assert!((moved_low / factor - low).abs() <= tolerance, "{} {}", moved_low / factor, low);
            prop_assert!((moved_high / factor - high).abs() <= tolerance, "{} {}", moved_high / factor, high);
        }
    }

    #[test]
    fn swapped_labels_swap_the_sign(data in data()) {
        let swap = |condition| if condition < 2 { 1 - condition } else { condition };
        let swapped: Vec<Observation> =
            data.iter().map(|run| Observation { condition: swap(run.condition), ..*run }).collect();
        let pairs = Question { against: Against::AllPairs, correction: Correction::None, ..Question::against(0) };
        let of_first = |data: &[Observation]| {
            let analysis = analyse(data, &pairs).unwrap();
            let found = analysis.comparisons.into_iter().find(|one| (one.condition, one.baseline) == (1, 0));
            found.and_then(|one| one.interval)
        };
        if let (Some((low, high)), Some((swapped_low, swapped_high))) = (of_first(&data), of_first(&swapped)) {
            let tolerance = 1e-9 * (1.0 + high - low);
            prop_assert!((low + swapped_high).abs() <= tolerance && (high + swapped_low).abs() <= tolerance, "{low} {high} {swapped_low} {swapped_high}");
        }
    }

    #[test]
    fn a_boot_resumed_in_two_parts_is_one(data in data(), at in 0..60usize) {
        // The runs with the second half recorded after everything else.
        let (first, second) = data.split_at(at % data.len());
        let resumed: Vec<Observation> = second.iter().chain(first).copied().collect();
        let question = question(Against::Baseline(0));
        prop_assert_eq!(analyse(&data, &question), analyse(&resumed, &question));
    }

    #[test]
    fn duplicated_runs_only_narrow_what_runs_explain(data in data()) {
        // Every run twice: the cells' means stay, and so does every difference.
        let twice: Vec<Observation> = data.iter().chain(&data).copied().collect();
        let even = |data: &[Observation]| analyse(data, &alone(0)).unwrap();
        let (one, other) = (even(&data), even(&twice));
        for ((low, high), (other_low, other_high)) in intervals(&one).into_iter().zip(intervals(&other)) {
            let tolerance = 1e-9 * (1.0 + high - low);
            prop_assert!((low - other_low).abs() <= tolerance && (high - other_high).abs() <= tolerance);
        }
    }
}
