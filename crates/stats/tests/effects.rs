//! Effects, shares and steps: equal to statsmodels and brute force, and true to a model that is
//! known.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use netassay_stats::effects::{DesignMatrix, EffectsError, effects_given, factorial, ladder, shapley};
use netassay_stats::{Observation, StatsError};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    factorial: Vec<FactorialCase>,
    shapley: Vec<ShapleyCase>,
}

#[derive(Deserialize)]
struct FactorialCase {
    name: String,
    cells: Vec<Vec<usize>>,
    order: usize,
    runs: Vec<(usize, u32, f64)>,
    effects: Vec<ExpectedEffect>,
}

#[derive(Deserialize)]
struct ExpectedEffect {
    factors: Vec<usize>,
    value: f64,
}

#[derive(Deserialize)]
struct ShapleyCase {
    name: String,
    cells: Vec<Vec<usize>>,
    runs: Vec<(usize, u32, f64)>,
    orders: u64,
    shares: Vec<(f64, (f64, f64))>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/effects.json")).unwrap()
}

fn observations(runs: &[(usize, u32, f64)]) -> Vec<Observation> {
    runs.iter()
        .map(|(condition, boot, value)| Observation { condition: *condition, boot: *boot, value: *value })
        .collect()
}

fn names(count: usize) -> Vec<String> {
    ["checksum", "tso", "gro", "mtu", "family"].into_iter().cycle().take(count).map(str::to_owned).collect()
}

/// Every combination of two levels, factor 0 running slowest.
fn switches(factors: usize) -> Vec<Vec<bool>> {
    let is_on = |set: usize, factor: usize| set >> (factors - 1 - factor) & 1 == 1;
    (0..1_usize << factors).map(|set| (0..factors).map(|factor| is_on(set, factor)).collect()).collect()
}

/// Levels of 0 and 1; `None` if there are others.
fn on(cells: &[Vec<usize>]) -> Option<Vec<Vec<bool>>> {
    let is_switch = cells.iter().flatten().all(|level| *level < 2);
    is_switch.then(|| cells.iter().map(|levels| levels.iter().map(|level| *level == 1).collect()).collect())
}

/// Two boots of two runs of each condition around its mean, the same spread for all.
fn campaign(means: &[f64]) -> Vec<Observation> {
    let mut runs = Vec::new();
    for (condition, mean) in means.iter().enumerate() {
        for (place, noise) in [-0.3, 0.1, 0.2, 0.0].into_iter().enumerate() {
            let boot = (2 * condition + place / 2) as u32;
            runs.push(Observation { condition, boot, value: mean + noise });
        }
    }
    runs
}

#[test]
fn main_effects_and_interactions_equal_statsmodels() {
    for case in fixture().factorial {
        let Some(cells) = on(&case.cells) else { continue };
        let factors = names(cells[0].len());
        let layout = DesignMatrix { factors: &factors, levels: &cells };
        let runs = observations(&case.runs);
        let effects = factorial(&runs, &layout, 9, 0.95).unwrap();
        assert_eq!(
            effects.iter().map(|effect| effect.factors.len()).max(),
            Some(case.order),
            "{}",
            case.name
        );
        assert_eq!(effects.len(), case.effects.len(), "{}", case.name);
        // On the scale of the data: values of 1e9 keep seven digits of a spread of 1.
        let scale = runs.iter().fold(0.0, |most: f64, run| most.max(run.value.abs()));
        for (effect, expected) in effects.iter().zip(&case.effects) {
            let name = format!("{}: {:?}", case.name, effect.factors);
            assert_eq!(effect.factors, expected.factors, "{name}");
            let is_close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs() + 1e-14 * scale;
            // statsmodels takes one variance for all conditions; that of each is held against
            // fixtures/moderated.py.
            let got = effect.effect;
            assert!(is_close(got.value, expected.value), "{name}: {got:?} not {}", expected.value);
            assert!(got.interval.is_some() && got.df > 0.0, "{name}: {got:?}");
        }
    }
}

#[test]
fn shares_equal_those_of_going_through_every_order() {
    for case in fixture().shapley {
        let (factors, cells) = (names(3), on(&case.cells).unwrap());
        let layout = DesignMatrix { factors: &factors, levels: &cells };
        let runs = observations(&case.runs);
        let shares = shapley(&runs, &layout, 0.95).unwrap();
        assert_eq!((shares.orders, shares.all_orders), (case.orders, 6), "{}", case.name);
        for (share, (value, _)) in shares.shares.iter().zip(&case.shares) {
            let got = share;
            let is_close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs();
            assert!(is_close(got.value, *value), "{}: {got:?} not {value}", case.name);
        }
    }
}

#[test]
fn a_known_model_comes_out() {
    // 10 + 4 a + 2 b + 1 a b + 0 c, levels 0 and 1.
    let cells = switches(3);
    let mean = |levels: &Vec<bool>| {
        let [a, b] = [0, 1].map(|factor| f64::from(u8::from(levels[factor])));
        10.0 + 4.0 * a + 2.0 * b + a * b
    };
    let runs = campaign(&cells.iter().map(mean).collect::<Vec<_>>());
    let factors = names(3);
    let layout = DesignMatrix { factors: &factors, levels: &cells };
    let values: Vec<(Vec<usize>, f64)> = factorial(&runs, &layout, 2, 0.95)
        .unwrap()
        .iter()
        .map(|effect| (effect.factors.clone(), (effect.effect.value * 1e9).round() / 1e9))
        .collect();
    // a averages over b: 4 + 1/2; a x b: half of (5 - 4).
    let expected = [
        (vec![0], 4.5),
        (vec![1], 2.5),
        (vec![2], 0.0),
        (vec![0, 1], 0.5),
        (vec![0, 2], 0.0),
        (vec![1, 2], 0.0),
    ];
    assert_eq!(values, expected);

    // The interaction is divided evenly.
    let shares = shapley(&runs, &layout, 0.95).unwrap();
    for (share, expected) in shares.shares.iter().zip([4.5, 2.5, 0.0]) {
        assert!((share.value - expected).abs() < 1e-12, "{share:?}");
    }
    assert!((shares.total.value - 7.0).abs() < 1e-12);

    // Conditions 0, 2, 6: nothing, b, a and b.
    let steps = ladder(&runs, &[0, 2, 6], 0.95).unwrap();
    let changes: Vec<f64> = steps.steps.iter().map(|step| (step.change.value * 1e9).round() / 1e9).collect();
    assert_eq!(changes, [2.0, 5.0]);
    assert!((steps.total.value - 7.0).abs() < 1e-12);
    assert!(steps.total.interval.unwrap().0 > 6.0);
}

#[test]
fn the_effect_given_another_factor_is_that_of_a_known_model() {
    // 10 + 4 a + 2 b + 3 a b + c, levels 0 and 1.
    let cells = switches(3);
    let mean = |levels: &Vec<bool>| {
        let [a, b, c] = [0, 1, 2].map(|factor| f64::from(u8::from(levels[factor])));
        10.0 + 4.0 * a + 2.0 * b + 3.0 * a * b + c
    };
    let mut runs = campaign(&cells.iter().map(mean).collect::<Vec<_>>());
    let factors = names(3);
    let layout = DesignMatrix { factors: &factors, levels: &cells };
    let found = effects_given(&runs, &layout, 0, 0.95).unwrap();
    assert_eq!(found.iter().map(|one| one.other).collect::<Vec<_>>(), [1, 2]);
    let is_close = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let [off, on] = found[0].on;
    assert!(is_close(off.value, 4.0) && is_close(on.value, 7.0), "{found:?}");
    assert!(is_close(found[0].off[1].value, -7.0), "{found:?}");
    // With a off and b on the mean over c is 12.5.
    assert!(is_close(on.relative.unwrap(), 100.0 * 7.0 / 12.5), "{found:?}");
    assert!(is_close(found[0].interaction.value, 3.0) && is_close(found[1].interaction.value, 0.0));
    // The interaction effect of the model is half of the difference.
    let model = factorial(&runs, &layout, 2, 0.95).unwrap();
    let of_model = model.iter().find(|effect| effect.factors == [0, 1]).unwrap();
    assert!(is_close(found[0].interaction.value, 2.0 * of_model.effect.value));
    assert!(is_close(found[0].interaction.p.unwrap(), of_model.effect.p.unwrap()));
    // Without one state its square is left out of both sides.
    let gone = cells.iter().position(|levels| levels == &[true; 3]).unwrap();
    runs.retain(|run| run.condition != gone);
    let found = effects_given(&runs, &layout, 0, 0.95).unwrap();
    assert_eq!(found[0].conditions.each_ref().map(Vec::len), [2, 2]);
    assert!(is_close(found[0].on[1].value, 7.0), "{found:?}");
    // Without any state of a on and b off no square is left.
    let gone = |condition: usize| cells[condition][..2] == [true, false];
    runs.retain(|run| !gone(run.condition));
    assert_eq!(effects_given(&runs, &layout, 0, 0.95).unwrap(), []);
}

#[test]
fn half_the_combinations_give_main_effects_only() {
    // The half of 2^4 with an even number on: each pair of factors is confounded with the other
    // pair.
    let is_even = |levels: &Vec<bool>| levels.iter().filter(|is_on| **is_on).count() % 2 == 0;
    let cells: Vec<Vec<bool>> = switches(4).into_iter().filter(is_even).collect();
    let means: Vec<f64> = cells.iter().map(|levels| if levels[2] { 8.0 } else { 5.0 }).collect();
    let factors = names(4);
    let layout = DesignMatrix { factors: &factors, levels: &cells };
    let effects = factorial(&campaign(&means), &layout, 4, 0.95).unwrap();
    assert_eq!(effects.len(), 4);
    for effect in &effects {
        let expected = if effect.factors == [2] { 3.0 } else { 0.0 };
        assert!((effect.effect.value - expected).abs() < 1e-12, "{effect:?}");
    }
}

#[test]
fn what_has_no_effects_is_named() {
    let factors = names(2);
    let error = |cells: &[Vec<bool>], means: &[f64]| {
        let layout = DesignMatrix { factors: &factors, levels: cells };
        factorial(&campaign(means), &layout, 2, 0.95).unwrap_err()
    };
    let together = [vec![false; 2], vec![true; 2]];
    assert_eq!(error(&together, &[1.0, 2.0]), EffectsError::Confounded("tso".to_owned()));
    assert_eq!(error(&[vec![true, false]], &[1.0]), EffectsError::NothingVaried);
    assert_eq!(error(&[vec![true, false], vec![true, false]], &[1.0, 2.0]), EffectsError::Levels(1));
    assert_eq!(error(&together, &[1.0, 2.0, 3.0]), EffectsError::Levels(2));

    let layout = DesignMatrix { factors: &factors, levels: &together };
    let share = |levels: &[Vec<bool>], means: &[f64]| {
        shapley(&campaign(means), &DesignMatrix { levels, ..layout }, 0.95).unwrap_err()
    };
    assert_eq!(share(&together, &[1.0, 2.0]), EffectsError::NoOrder);
    let message = share(&[vec![false; 2], vec![true, false]], &[1.0, 2.0]).to_string();
    assert!(message.starts_with("the combination with only checksum, tso on was not measured"), "{message}");
    let many = DesignMatrix { factors: &names(17), levels: &[vec![false; 17]] };
    let too_many = shapley(&campaign(&[1.0]), &many, 0.95).unwrap_err();
    assert_eq!(too_many, EffectsError::TooMany { given: 17, most: 16 });

    let runs = campaign(&[1.0, 2.0]);
    assert_eq!(ladder(&runs, &[0], 0.95), Err(EffectsError::ShortLadder));
    let unmeasured = EffectsError::Unconnected("the step from condition 0 to 7".to_owned());
    assert_eq!(ladder(&runs, &[0, 7], 0.95), Err(unmeasured));
    let level = EffectsError::Numbers(StatsError::Level(95.0));
    assert_eq!(ladder(&runs, &[0, 1], 95.0), Err(level));
}

#[test]
fn one_boot_of_each_gives_values_without_intervals() {
    let runs: Vec<Observation> =
        (0..4).map(|condition| Observation { condition, boot: 9, value: condition as f64 }).collect();
    let (factors, cells) = (names(2), switches(2));
    for effect in factorial(&runs, &DesignMatrix { factors: &factors, levels: &cells }, 2, 0.95).unwrap() {
        assert_eq!(
            (effect.effect.interval, effect.effect.standard_error, effect.effect.p),
            (None, None, None)
        );
        assert_eq!(effect.effect.df, 0.0);
    }
}

#[test]
fn sixteen_factors_are_shared_between_in_time() {
    let cells = switches(16);
    let runs: Vec<Observation> = cells
        .iter()
        .enumerate()
        .flat_map(|(condition, levels)| {
            let value =
                levels.iter().zip(1..).map(|(is_on, worth)| if *is_on { f64::from(worth) } else { 0.0 });
            let value = value.sum::<f64>();
            [1, 2].map(|boot| Observation { condition, boot, value: value + f64::from(boot) })
        })
        .collect();
    let factors = names(16);
    let shares = shapley(&runs, &DesignMatrix { factors: &factors, levels: &cells }, 0.95).unwrap();
    assert_eq!(shares.orders, 20_922_789_888_000);
    for (share, worth) in shares.shares.iter().zip(1..) {
        assert!((share.value - f64::from(worth)).abs() < 1e-8, "{share:?}");
    }
}

proptest! {
    #[test]
    fn shares_add_up_and_steps_add_up(
        means in proptest::collection::vec(-1e3..1e3f64, 16),
        left_out in proptest::collection::btree_set(1..15usize, 0..5),
    ) {
        let cells = switches(4);
        let mut runs = campaign(&means);
        runs.retain(|run| !left_out.contains(&run.condition));
        let factors = names(4);
        let layout = DesignMatrix { factors: &factors, levels: &cells };
        match shapley(&runs, &layout, 0.95) {
            Ok(shares) => {
                let sum: f64 = shares.shares.iter().map(|share| share.value).sum();
                prop_assert!((sum - shares.total.value).abs() < 1e-9);
                prop_assert_eq!(shares.orders == shares.all_orders, left_out.is_empty());
                prop_assert_eq!(shares.planned_orders, shares.all_orders, "every combination is in the layout");
                // Combinations outside of the layout cannot be had.
                let reached: Vec<Vec<bool>> =
                    (0..16).map(|set| if left_out.contains(&set) { cells[0].clone() } else { cells[set].clone() }).collect();
                let fewer = shapley(&runs, &DesignMatrix { factors: &factors, levels: &reached }, 0.95);
                prop_assert_eq!(fewer.map(|fewer| fewer.planned_orders), Ok(shares.orders));
            }
            Err(error) => prop_assert_eq!(error, EffectsError::NoOrder),
        }
        let rungs: Vec<usize> = (0..16).filter(|condition| !left_out.contains(condition)).collect();
        let steps = ladder(&runs, &rungs, 0.95).unwrap();
        let sum: f64 = steps.steps.iter().map(|step| step.change.value).sum();
        prop_assert!((sum - steps.total.value).abs() < 1e-9);
    }

    #[test]
    fn swapping_two_levels_swaps_the_sign(means in proptest::collection::vec(-1e3..1e3f64, 8), factor in 0..3usize) {
        let cells = switches(3);
        let swapped: Vec<Vec<bool>> = cells
            .iter()
            .map(|levels| {
                let mut levels = levels.clone();
                levels[factor] = !levels[factor];
                levels
            })
            .collect();
        let (factors, runs) = (names(3), campaign(&means));
        let of = |levels: &[Vec<bool>]| {
            factorial(&runs, &DesignMatrix { factors: &factors, levels }, 3, 0.95).unwrap()
        };
        for (one, other) in of(&cells).iter().zip(of(&swapped)) {
            let sign = if one.factors.contains(&factor) { -1.0 } else { 1.0 };
            prop_assert!((one.effect.value - sign * other.effect.value).abs() < 1e-9);
        }
    }

    #[test]
    fn any_layout_is_taken(
        cells in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 3), 1..9),
        values in proptest::collection::vec((0..9usize, 0..4u32, any::<f64>()), 0..60),
        order in 0..5usize,
    ) {
        let runs: Vec<Observation> =
            values.into_iter().map(|(condition, boot, value)| Observation { condition, boot, value }).collect();
        let factors = names(3);
        let layout = DesignMatrix { factors: &factors, levels: &cells };
        let seen: BTreeSet<usize> = runs.iter().map(|run| run.condition).collect();
        if let Ok(effects) = factorial(&runs, &layout, order, 0.95) {
            prop_assert!(!effects.is_empty());
            prop_assert!(effects.iter().all(|effect| effect.factors.len() <= order.max(1)));
        }
        let _ = shapley(&runs, &layout, 0.95);
        let _ = ladder(&runs, &seen.into_iter().collect::<Vec<_>>(), 0.95);
    }
}

/// Percentages say how much of their base, and leave zero out exactly where the difference does.
#[test]
fn percentages_are_of_the_base_that_is_named() {
    let cells = switches(2);
    // Off 40, the second on 60, the first 50, both 100.
    let runs = campaign(&[40.0, 60.0, 50.0, 100.0]);
    let factors = names(2);
    let layout = DesignMatrix { factors: &factors, levels: &cells };
    let close = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 1e-9;
    let shares = shapley(&runs, &layout, 0.95).unwrap();
    assert!(close(shares.total.relative, 150.0) && close(shares.back.relative, -60.0), "{shares:?}");
    let [first, second] = shares.shares.as_slice() else { panic!("{shares:?}") };
    // (50 - 40 + 100 - 60) / 2 = 25 of 40, and (60 - 40 + 100 - 50) / 2 = 35 of 40.
    assert!(close(first.relative, 62.5) && close(second.relative, 87.5), "{shares:?}");
    let steps = ladder(&runs, &[3, 1, 0], 0.95).unwrap();
    assert!(close(steps.steps[1].change.relative, -100.0 / 3.0) && close(steps.back.relative, 150.0));
    let effects = factorial(&runs, &layout, 1, 0.95).unwrap();
    // The first's effect is 75 - 50, of a mean of 62.5.
    assert!(close(effects[0].effect.relative, 40.0), "{effects:?}");

    // One condition against another: the interval of a comparison.
    let question = netassay_stats::Question {
        correction: netassay_stats::Correction::None,
        ..netassay_stats::Question::against(0)
    };
    let compared = netassay_stats::analyse(&runs, &question).unwrap();
    let (one, other) =
        (shares.total.relative_interval.unwrap(), compared.comparisons[2].relative_interval.unwrap());
    assert!((one.0 - other.0).abs() < 1e-6 && (one.1 - other.1).abs() < 1e-6, "{one:?} {other:?}");
}
