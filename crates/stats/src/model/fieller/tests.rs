use proptest::prelude::*;

use crate::model::ROUNDING;
use crate::{Comparison, Observation, Question, analyse, oracles};

/// One run of each condition in every boot.
fn compared(pairs: &[(f64, f64)], level: f64) -> Comparison {
    let runs = (0..).zip(pairs).flat_map(|(boot, (treated, baseline))| {
        let run = |condition, value| Observation { condition, boot, value };
        [run(0, *baseline), run(1, *treated)]
    });
    let question = Question { level, ..Question::against(0) };
    analyse(&runs.collect::<Vec<_>>(), &question).unwrap().comparisons.remove(0)
}

#[test]
fn equals_scipy_and_fiellers_definition() {
    for case in &oracles::oracles().comparisons {
        let pairs: Vec<(f64, f64)> =
            case.treated.iter().copied().zip(case.baseline.iter().copied()).collect();
        let (got, name) = (compared(&pairs, case.level), &case.name);
        // scipy subtracts means of about 1e9 from each other in the hardest case, so compare on
        // the data's scale.
        let largest = pairs.iter().fold(0.0, |most: f64, (one, other)| most.max(one.abs()).max(other.abs()));
        let scale = 4.0 * ROUNDING * largest;
        let is_equal = |one: f64, other: f64| (one - other).abs() <= scale + 1e-10 * other.abs();
        assert!(is_equal(got.difference, case.difference), "{name}: {}", got.difference);
        let interval = got.interval.unwrap();
        assert!(is_equal(interval.0, case.interval.0), "{name}: {interval:?}");
        assert!(is_equal(interval.1, case.interval.1), "{name}: {interval:?}");
        assert_eq!(!(interval.0 <= 0.0 && interval.1 >= 0.0), case.p < 1.0 - case.level, "{name}");
        let p = got.p.unwrap();
        // The effect of rounding is subtracted first: it is large for a spread of 1e-10 of the
        // mean.
        assert!((p - case.p).abs() <= 1e-4 * case.p, "{name}: p {p} not {}", case.p);

        let (Some(relative), Some(expected)) = (got.relative_interval, case.relative_interval) else {
            assert_eq!(got.relative_interval, case.relative_interval, "{name}");
            continue;
        };
        let scale = 100.0 * scale / got.baseline_mean.abs();
        let is_equal = |one: f64, other: f64| (one - other).abs() <= scale + 1e-9 * other.abs();
        assert!(
            is_equal(relative.0, expected.0) && is_equal(relative.1, expected.1),
            "{name}: {relative:?} not {expected:?}"
        );
    }
}

#[test]
fn rounding_alone_proves_nothing() {
    // 0.1 + 0.2 is not 0.3 in binary, and it is off by the same amount in each boot.
    let result = compared(&[(0.1 + 0.2, 0.3); 5], 0.95);
    assert_eq!((result.is_equal(), result.p), (true, Some(1.0)), "{result:?}");
    // Beside a spread it is part of the interval.
    let result = compared(&[(1e15, 1e15 + 3.0), (1e15 + 8.0, 1e15), (1e15, 1e15 + 4.0)], 0.95);
    let (low, high) = result.interval.unwrap();
    assert!(!result.is_equal() && low < -10.0 && high > 10.0, "{low} to {high}");
}

#[test]
fn equal_zeros_have_no_percentage() {
    let result = compared(&[(0.0, 0.0); 3], 0.95);
    assert_eq!((result.interval, result.relative_interval), (Some((0.0, 0.0)), None));
}

#[test]
fn one_boot_has_no_interval() {
    let result = compared(&[(2.0, 1.0)], 0.95);
    assert_eq!((result.interval, result.relative_interval), (None, None));
}

fn boots() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let pair = (50.0..150.0f64, 50.0..150.0f64);
    proptest::collection::vec(pair, 2..8)
}

proptest! {
    #[test]
    fn the_percentage_never_contradicts_the_difference(boots in boots()) {
        let result = compared(&boots, 0.95);
        let (low, high) = result.interval.unwrap();
        if let Some((relative_low, relative_high)) = result.relative_interval {
            prop_assert_eq!((low > 0.0, high < 0.0), (relative_low > 0.0, relative_high < 0.0));
            let point = result.relative.unwrap();
            prop_assert!(relative_low <= point && point <= relative_high);
        }
    }

    #[test]
    fn scaling_both_scales_the_difference_and_keeps_the_percentage(boots in boots(), factor in 1e-6..1e6f64) {
        let one = compared(&boots, 0.95);
        let scaled: Vec<(f64, f64)> =
            boots.iter().map(|(treated, baseline)| (factor * treated, factor * baseline)).collect();
        let scaled = compared(&scaled, 0.95);
        let ((low, high), (scaled_low, scaled_high)) = (one.interval.unwrap(), scaled.interval.unwrap());
        let width = high - low;
        prop_assert!((scaled_low / factor - low).abs() <= 1e-9 * width);
        prop_assert!((scaled_high / factor - high).abs() <= 1e-9 * width);
        match (one.relative_interval, scaled.relative_interval) {
            (Some(one), Some(scaled)) => {
                let width = one.1 - one.0;
                prop_assert!((one.0 - scaled.0).abs() <= 1e-6 * width && (one.1 - scaled.1).abs() <= 1e-6 * width);
            }
            (one, scaled) => prop_assert_eq!(one, scaled),
        }
    }

    #[test]
    fn swapping_the_labels_swaps_the_sign(boots in boots()) {
        let swapped: Vec<(f64, f64)> = boots.iter().map(|(treated, baseline)| (*baseline, *treated)).collect();
        let ((low, high), (swapped_low, swapped_high)) =
            (compared(&boots, 0.95).interval.unwrap(), compared(&swapped, 0.95).interval.unwrap());
        // An end near 0 is the difference of two large numbers, so they are compared on the
        // scale of the data and of the interval.
        let scale = 1e-14 * (150.0 + high - low);
        prop_assert!((low + swapped_high).abs() <= scale && (high + swapped_low).abs() <= scale);
    }
}
