//! An effect over machine pairs: equal to statsmodels and to calculation by hand, and its error
//! rates by simulation with a fixed seed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod normal;
#[macro_use]
mod sizes;

use std::ops::RangeInclusive;

use netassay_stats::fleet::{
    FleetEffect, GroupDifference, GroupEffect, PairCount, PairEffect, over_groups, over_pairs,
};
use netassay_stats::{Against, Correction, Design, Observation, Question, StatsError, Verdict, analyse};
use normal::normal;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

in_two_sizes! { 100, 10_000, "10,000 fleets in each world, of which the gate makes 100":
    intervals_contain_the_truth_in_95_percent_of_fleets
    unequal_errors_leave_intervals_near_their_level
    a_pair_stands_apart_in_at_most_5_percent_of_fleets_without_one
    any_pair_is_counted_wrongly_in_at_most_5_percent_of_fleets
    equal_groups_differ_in_at_most_5_percent_of_fleets
}

// Simulations.

/// Machine pairs with a true effect, and the spread of their estimates.
#[derive(Clone, Copy, Debug)]
struct World {
    pairs: usize,
    /// The boots of each pair.
    boots: u32,
    /// True effects, one pair after the other, repeated as often as needed.
    effects: &'static [f64],
    /// The standard deviation between machines.
    spread: f64,
    /// Standard errors of the estimates, repeated as often as needed.
    errors: &'static [f64],
}

const WORLD: World = World { pairs: 10, boots: 5, effects: &[0.0], spread: 0.0, errors: &[1.0] };
const PAIRS: [usize; 6] = [3, 4, 6, 10, 20, 40];
const SPREADS: [f64; 3] = [0.0, 1.0, 4.0];

impl World {
    fn pair(self, place: usize, random: &mut ChaCha8Rng) -> PairEffect {
        let error = self.errors[place % self.errors.len()];
        let machine = self.effects[place % self.effects.len()] + self.spread * normal(random);
        let df = f64::from(self.boots - 1);
        let squares: f64 = (1..self.boots).map(|_| normal(random).powi(2)).sum();
        PairEffect {
            estimate: machine + error * normal(random),
            standard_error: error * (squares / df).sqrt(),
            degrees_of_freedom: df,
        }
    }

    fn fleet(self, random: &mut ChaCha8Rng) -> Vec<PairEffect> {
        (0..self.pairs).map(|place| self.pair(place, random)).collect()
    }

    /// Worlds of every number of pairs and spread between machines.
    fn all() -> impl Iterator<Item = World> {
        PAIRS.into_iter().flat_map(|pairs| SPREADS.map(|spread| World { pairs, spread, ..WORLD }))
    }

    fn random(self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(1000 * self.pairs as u64 + (10.0 * self.spread) as u64)
    }
}

fn judged(pairs: &[PairEffect]) -> FleetEffect {
    over_pairs(pairs, 0.95, None).unwrap()
}

fn contains(interval: Option<(f64, f64)>, truth: f64) -> bool {
    interval.is_some_and(|(low, high)| low <= truth && truth <= high)
}

/// How far a count may be from its expectation: it is farther once in a thousand times.
fn reach(share: f64, fleets: usize) -> f64 {
    3.29 * (fleets as f64 * share * (1.0 - share)).sqrt()
}

/// Counts of a share of fleets between these two: of many fleets exactly, of few by chance more.
fn between(least: f64, most: f64, fleets: usize) -> RangeInclusive<f64> {
    let is_exact = fleets >= 10_000;
    let reach = |share| if is_exact { 0.0 } else { reach(share, fleets) };
    let count = |share: f64| share * fleets as f64;
    count(least) - reach(least)..=count(most) + reach(most)
}

fn at_most_5_percent(count: usize, fleets: usize) -> bool {
    count as f64 <= 0.05 * fleets as f64 + reach(0.05, fleets)
}

/// How often the intervals of the mean, of the spread and of one more pair contain the truth.
fn covered(world: World, fleets: usize) -> [f64; 3] {
    let mut random = world.random();
    let mut counts = [0.0; 3];
    for _ in 0..fleets {
        let fleet = judged(&world.fleet(&mut random));
        let place = random.random_range(0..world.pairs);
        let hits = [
            contains(fleet.mean.interval, 0.0),
            contains(fleet.spread.unwrap().interval, world.spread),
            contains(fleet.prediction, world.pair(place, &mut random).estimate),
        ];
        counts.iter_mut().zip(hits).for_each(|(count, hit)| *count += f64::from(u8::from(hit)));
    }
    counts
}

fn intervals_contain_the_truth_in_95_percent_of_fleets(fleets: usize) {
    for world in World::all() {
        let (counts, allowed) = (covered(world, fleets), between(0.94, 0.96, fleets));
        assert!(
            counts.iter().all(|count| allowed.contains(count)),
            "mean, spread and prediction in {counts:?} of {fleets} in {world:?}"
        );
    }
}

fn unequal_errors_leave_intervals_near_their_level(fleets: usize) {
    for world in World::all().map(|world| World { errors: &[5.0, 1.0, 1.0], ..world }) {
        let [mean, spread, prediction] = covered(world, fleets);
        let allowed = between(0.91, 0.975, fleets);
        assert!(
            between(0.94, 1.0, fleets).contains(&mean)
                && allowed.contains(&spread)
                && allowed.contains(&prediction),
            "{mean}, {spread} and {prediction} of {fleets} in {world:?}"
        );
    }
}

fn a_pair_stands_apart_in_at_most_5_percent_of_fleets_without_one(fleets: usize) {
    for world in World::all() {
        for errors in [WORLD.errors, &[5.0, 1.0, 1.0]] {
            let world = World { errors, ..world };
            let mut random = world.random();
            let named = |_: &usize| !judged(&world.fleet(&mut random)).apart.is_empty();
            let count = (0..fleets).filter(named).count();
            assert!(at_most_5_percent(count, fleets), "{count} of {fleets} in {world:?}");
        }
    }
}

fn any_pair_is_counted_wrongly_in_at_most_5_percent_of_fleets(fleets: usize) {
    // Effects of zero, of the margin, within it, and of a size that is always proven.
    const MARGIN: f64 = 3.0;
    let cases: [(&[f64], Option<f64>); 5] = [
        (&[0.0], None),
        (&[0.0, 50.0], None),
        (&[0.0, 50.0], Some(MARGIN)),
        (&[MARGIN, 0.0, 1.0], Some(MARGIN)),
        (&[-MARGIN], Some(MARGIN)),
    ];
    for pairs in PAIRS {
        for (effects, margin) in cases {
            let world = World { pairs, effects, ..WORLD };
            let mut random = world.random();
            let is_wrong = |(place, verdict): (usize, Verdict)| {
                let effect = effects[place % effects.len()];
                match verdict {
                    Verdict::Higher => effect <= 0.0,
                    Verdict::Lower => effect >= 0.0,
                    Verdict::Equivalent => effect.abs() >= MARGIN,
                    Verdict::NoDifferenceProven | Verdict::Inconclusive => false,
                }
            };
            let any_is_wrong = |_: &usize| {
                let fleet = over_pairs(&world.fleet(&mut random), 0.95, margin).unwrap();
                fleet.pairs.iter().map(|pair| pair.verdict).enumerate().any(is_wrong)
            };
            let count = (0..fleets).filter(any_is_wrong).count();
            assert!(at_most_5_percent(count, fleets), "{count} of {fleets}, margin {margin:?}, {world:?}");
        }
    }
}

fn equal_groups_differ_in_at_most_5_percent_of_fleets(fleets: usize) {
    for (pairs, groups) in [(6, 2), (12, 3), (20, 5), (40, 2)] {
        let world = World { pairs, spread: 2.0, ..WORLD };
        let mut random = world.random();
        let any_differs = |_: &usize| {
            let pairs = world.fleet(&mut random);
            let labelled: Vec<(usize, PairEffect)> =
                pairs.into_iter().enumerate().map(|(place, pair)| (place % groups, pair)).collect();
            let differences = over_groups(&labelled, 0.95).unwrap().differences;
            differences.iter().any(|one| one.difference.verdict != Verdict::NoDifferenceProven)
        };
        let count = (0..fleets).filter(any_differs).count();
        assert!(at_most_5_percent(count, fleets), "{count} of {fleets} in {groups} groups of {world:?}");
    }
}

// Reference values.

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    /// By pair, then by boot.
    effects: Vec<Vec<f64>>,
    mean: f64,
    standard_error: f64,
    variance_between_pairs: f64,
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * other.abs()
}

fn close_ends(interval: Option<(f64, f64)>, low: f64, high: f64) -> bool {
    interval.is_some_and(|ends| is_close(ends.0, low) && is_close(ends.1, high))
}

fn from_boots(boots: &[f64]) -> PairEffect {
    let count = boots.len() as f64;
    let mean = boots.iter().sum::<f64>() / count;
    let squares: f64 = boots.iter().map(|boot| (boot - mean).powi(2)).sum();
    let standard_error = (squares / (count - 1.0) / count).sqrt();
    PairEffect { estimate: mean, standard_error, degrees_of_freedom: count - 1.0 }
}

#[test]
fn balanced_fleets_equal_the_mixed_model_of_statsmodels() {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/fleet.json")).unwrap();
    assert_eq!(fixture.cases.len(), 20);
    for case in &fixture.cases {
        let pairs: Vec<PairEffect> = case.effects.iter().map(|boots| from_boots(boots)).collect();
        let fleet = judged(&pairs);
        let (error, spread) = (fleet.mean.standard_error.unwrap(), fleet.spread.unwrap().sd.powi(2));
        assert!(is_close(fleet.mean.estimate, case.mean), "{} not {}", fleet.mean.estimate, case.mean);
        assert!(is_close(error, case.standard_error), "{error} not {}", case.standard_error);
        assert!(
            is_close(spread, case.variance_between_pairs),
            "{spread} not {}",
            case.variance_between_pairs
        );
    }
}

// By hand.

fn pair(estimate: f64, standard_error: f64) -> PairEffect {
    PairEffect { estimate, standard_error, degrees_of_freedom: 4.0 }
}

fn pairs(estimates: &[f64], standard_error: f64) -> Vec<PairEffect> {
    estimates.iter().map(|estimate| pair(*estimate, standard_error)).collect()
}

#[test]
fn four_pairs_by_hand() {
    let fleet = judged(&pairs(&[1.0, 2.0, 3.0, 6.0], 1.0));
    // The variance is 14 / 3, and t(3) at 97.5 % is 3.182446.
    let (t, variance) = (3.182_446_305_284_264, 14.0_f64 / 3.0);
    let half = t * (variance / 4.0).sqrt();
    assert!(close_ends(fleet.mean.interval, 3.0 - half, 3.0 + half), "{:?}", fleet.mean);
    assert_eq!((fleet.mean.degrees_of_freedom, fleet.mean.verdict), (3.0, Verdict::NoDifferenceProven));
    assert!(is_close(fleet.spread.unwrap().sd, (variance - 1.0).sqrt()));
    let half = t * (variance * 1.25).sqrt();
    assert!(close_ends(fleet.prediction, 3.0 - half, 3.0 + half), "{:?}", fleet.prediction);
    // Student's t is 1, 2, 3 and 6 with 4 degrees of freedom: p is 0.0039 for the last, below 0.05
    // / 4, and 0.0399 for the third, above 0.05 / 3.
    assert_eq!(fleet.count, PairCount { holds: 1, not_proven: 3, ..PairCount::default() });
    // The fourth is 4 from the mean of the others, whose standard deviation is 1: t(2) is 3.46.
    assert_eq!(fleet.apart, [0; 0]);
}

#[test]
fn one_pair_has_its_own_interval_and_no_spread() {
    let fleet = judged(&[pair(2.0, 0.5)]);
    let half = 0.5 * 2.776_445_105_197_793;
    assert!(close_ends(fleet.mean.interval, 2.0 - half, 2.0 + half), "{:?}", fleet.mean);
    assert_eq!(fleet.pairs, [fleet.mean]);
    assert_eq!((fleet.spread, fleet.prediction, fleet.apart), (None, None, vec![]));
    assert_eq!(fleet.count, PairCount { holds: 1, ..PairCount::default() });
}

#[test]
fn two_pairs_have_a_spread_and_none_stands_apart() {
    let fleet = judged(&pairs(&[0.1, 0.9], 0.001));
    assert!(is_close(fleet.spread.unwrap().sd, (0.32_f64 - 1e-6).sqrt()));
    // t(1) is 12.7.
    assert!(close_ends(fleet.mean.interval, 0.5 - 0.4 * 12.706_204_736, 0.5 + 0.4 * 12.706_204_736));
    assert_eq!((fleet.count.holds, fleet.apart), (2, vec![]));
}

#[test]
fn pairs_that_contradict_the_mean_are_counted_separately() {
    let fleet = judged(&pairs(&[0.30, 0.25, -0.10, 0.01], 0.01));
    let expected = PairCount { holds: 2, contradicts: 1, not_proven: 1, ..PairCount::default() };
    assert_eq!(fleet.count, expected);
    // Without a direction of the mean, none holds.
    assert_eq!(judged(&pairs(&[0.3, -0.3], 0.01)).count.contradicts, 2);
    // Within a margin of 0.05 the last one is equivalent.
    let fleet = over_pairs(&pairs(&[0.30, 0.25, -0.10, 0.01], 0.005), 0.95, Some(0.05)).unwrap();
    assert_eq!(fleet.count, PairCount { equivalent: 1, not_proven: 0, ..expected });
    assert_eq!(fleet.mean.verdict, Verdict::Inconclusive);
}

#[test]
fn one_of_four_that_differs_by_40_percent_stands_apart() {
    for others in [[0.98_f64, 1.0, 1.02], [0.98, 1.02, 1.02], [0.98, 0.98, 1.02], [1.0, 1.0, 1.0]] {
        for (place, odd) in [(0, 1.4_f64), (2, 1.4), (3, 0.6)] {
            let mut ratios = others.to_vec();
            ratios.insert(place, odd);
            let effects: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
            assert_eq!(judged(&pairs(&effects, 0.015)).apart, [place], "{ratios:?}");
            // An error of its own explains as much.
            let mut noisy = pairs(&effects, 0.015);
            noisy[place].standard_error = 0.2;
            assert_eq!(judged(&noisy).apart, [0; 0], "{ratios:?}");
        }
    }
}

#[test]
fn others_that_happen_to_agree_do_not_set_a_pair_apart_within_its_error() {
    assert_eq!(judged(&pairs(&[1.0, 1.0, 1.2], 0.2)).apart, [0; 0]);
    assert_eq!(judged(&pairs(&[1.0, 1.0, 1.2], 0.0)).apart, [2]);
}

#[test]
fn groups_by_hand_and_as_conditions_with_boots_of_their_own() {
    let (one, two, alone) = (pairs(&[1.0, 2.0, 3.0], 0.1), pairs(&[5.0, 7.0], 0.1), pairs(&[4.0], 0.1));
    let label = |label: &'static str, pairs: &[PairEffect]| {
        pairs.iter().map(|pair| (label, *pair)).collect::<Vec<_>>()
    };
    let all = [label("two", &two), label("alone", &alone), label("one", &one)].concat();
    let found = over_groups(&all, 0.95).unwrap();
    let rounded = |value: f64| (1e9 * value).round() / 1e9;
    let group = |one: &GroupEffect<&'static str>| (one.label, one.pairs, rounded(one.mean.estimate));
    let groups: Vec<(&str, usize, f64)> = found.groups.iter().map(group).collect();
    assert_eq!(groups, [("alone", 1, 4.0), ("one", 3, 2.0), ("two", 2, 6.0)]);
    assert_eq!((found.groups[0].mean.interval, found.groups[0].mean.standard_error), (None, None));
    let half = 4.302_652_729_749_464 / 3.0_f64.sqrt();
    assert!(close_ends(found.groups[1].mean.interval, 2.0 - half, 2.0 + half));
    let difference = |one: &GroupDifference| (one.group, one.baseline, rounded(one.difference.estimate));
    let differences: Vec<(usize, usize, f64)> = found.differences.iter().map(difference).collect();
    assert_eq!(differences, [(1, 0, -2.0), (2, 0, 2.0), (2, 1, 4.0)]);
    assert!(found.differences[..2].iter().all(|one| one.difference.interval.is_none()));
    // The variances of the means are 1 / 3 and 1.
    let difference = found.differences[2].difference;
    assert!(is_close(difference.standard_error.unwrap(), (4.0_f64 / 3.0).sqrt()));
    // A pair is to its group as a boot is to its condition.
    let boot = |condition, place: usize, pair: &PairEffect| Observation {
        condition,
        boot: (10 * condition + place) as u32,
        value: pair.estimate,
    };
    let boots: Vec<Observation> = [&one, &two]
        .into_iter()
        .enumerate()
        .flat_map(|(group, pairs)| {
            pairs.iter().enumerate().map(move |(place, pair)| boot(group, place, pair))
        })
        .collect();
    let question = Question {
        against: Against::AllPairs,
        design: Some(Design::Nested),
        correction: Correction::None,
        ..Question::against(0)
    };
    let compared = &analyse(&boots, &question).unwrap().comparisons[0];
    let (low, high) = compared.interval.unwrap();
    assert!(close_ends(difference.interval, low, high), "{difference:?} not {low} to {high}");
    assert!(is_close(difference.degrees_of_freedom, compared.df));
}

#[test]
fn differences_of_groups_are_corrected_together() {
    // Welch's t of the first two groups alone is below 5 %.
    let group = |label: u32, estimates: &[f64]| {
        pairs(estimates, 0.1).into_iter().map(|pair| (label, pair)).collect::<Vec<_>>()
    };
    let (first, second) = (group(1, &[1.0, 2.0, 3.0]), group(2, &[3.7, 4.5, 5.5]));
    let verdicts = |all: &[Vec<(u32, PairEffect)>]| {
        let differences = over_groups(&all.concat(), 0.95).unwrap().differences;
        differences.iter().map(|one| one.difference.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&[first.clone(), second.clone()]), [Verdict::Higher]);
    let third = group(3, &[2.0, 3.0, 4.0]);
    assert_eq!(verdicts(&[first, second, third]), [Verdict::NoDifferenceProven; 3]);
}

#[test]
fn a_pair_of_one_boot_counts_in_the_mean_and_proves_nothing_by_itself() {
    let unknown = PairEffect { estimate: 9.0, standard_error: 0.0, degrees_of_freedom: 0.0 };
    let mut all = pairs(&[8.0, 10.0], 0.5);
    all.push(unknown);
    let fleet = judged(&all);
    assert!(is_close(fleet.mean.estimate, 9.0));
    assert_eq!(fleet.pairs[2].interval, None);
    assert_eq!(fleet.count, PairCount { holds: 2, not_proven: 1, ..PairCount::default() });
    // Its error counts as the mean of the others'.
    assert!(is_close(fleet.spread.unwrap().sd, 0.75_f64.sqrt()));
    let fleet = judged(&[unknown]);
    assert_eq!((fleet.mean.interval, fleet.mean.verdict), (None, Verdict::Inconclusive));
    assert_eq!(judged(&[unknown, unknown]).spread, None);
}

#[test]
fn invalid_input_is_named() {
    let valid = pair(1.0, 0.1);
    let message = |pairs: &[PairEffect]| over_pairs(pairs, 0.95, None).unwrap_err().to_string();
    let infinite = PairEffect { degrees_of_freedom: f64::INFINITY, ..valid };
    for (pair, problem) in [
        (pair(f64::NAN, 0.1), "the estimate of machine pair 2 is NaN"),
        (pair(1.0, -0.1), "the standard error of machine pair 2 is -0.1"),
        (pair(1.0, f64::INFINITY), "the standard error of machine pair 2 is inf"),
        (infinite, "the number of degrees of freedom of machine pair 2 is inf"),
    ] {
        assert!(message(&[valid, pair, valid]).starts_with(problem), "{}", message(&[valid, pair]));
        let grouped = over_groups(&[("a", valid), ("b", pair)], 0.95).unwrap_err().to_string();
        assert!(grouped.starts_with(problem), "{grouped}");
    }
    assert_eq!(over_pairs(&[], 0.95, None), Err(StatsError::NoPairs));
    assert_eq!(over_pairs(&[valid], 95.0, None), Err(StatsError::Level(95.0)));
    assert_eq!(over_pairs(&[valid], 0.95, Some(0.0)), Err(StatsError::Margin(0.0)));
}

#[test]
fn estimates_without_any_error_have_exact_results() {
    let equal = judged(&pairs(&[0.1; 5], 0.0));
    assert_eq!((equal.mean.verdict, equal.count.holds, equal.apart), (Verdict::Higher, 5, vec![]));
    assert_eq!(equal.spread.map(|spread| (spread.sd, spread.interval)), Some((0.0, None)));
    let zero = judged(&pairs(&[0.0; 5], 0.0));
    assert_eq!((zero.mean.interval, zero.count.not_proven), (Some((0.0, 0.0)), 5));
    // Rounding errors are no effect.
    assert_eq!(judged(&pairs(&[0.3, 1e-17, 0.1 + 0.2], 0.0)).count.holds, 2);
}

// Any numbers.

fn number() -> impl Strategy<Value = f64> {
    let special =
        prop::sample::select(vec![0.0, 1.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e-160, 1e160, 0.1]);
    prop_oneof![
        special,
        0.0..2.0f64,
        any::<f64>().prop_filter("finite", |one| one.is_finite()).prop_map(f64::abs)
    ]
}

fn any_pair() -> impl Strategy<Value = PairEffect> {
    let df = prop_oneof![0.0..9.0f64, (0..9u32).prop_map(f64::from), number()];
    (number(), any::<bool>(), number(), df).prop_map(|(size, is_negative, standard_error, df)| PairEffect {
        estimate: if is_negative { -size } else { size },
        standard_error,
        degrees_of_freedom: df,
    })
}

fn ordinary_pair() -> impl Strategy<Value = PairEffect> {
    (-1.0..1.0f64, 1e-3..0.5f64, 1..20u32).prop_map(|(estimate, standard_error, df)| PairEffect {
        estimate,
        standard_error,
        degrees_of_freedom: f64::from(df),
    })
}

proptest! {
    #[test]
    fn any_numbers_give_numbers(
        pairs in prop::collection::vec((0..4u32, any_pair()), 1..12),
        confidence in prop_oneof![Just(0.95), Just(0.5), 0.001..0.999_999f64],
        margin in prop::option::of(number().prop_filter("positive", |margin| *margin > 0.0)),
    ) {
        let effects: Vec<PairEffect> = pairs.iter().map(|(_, pair)| *pair).collect();
        let fleet = over_pairs(&effects, confidence, margin).unwrap();
        let groups = over_groups(&pairs, confidence).unwrap();
        let written = format!("{fleet:?} {groups:?}");
        prop_assert!(!written.contains("NaN") && !written.contains("inf"), "{written}");
        let PairCount { holds, contradicts, equivalent, not_proven } = fleet.count;
        prop_assert_eq!(holds + contradicts + equivalent + not_proven, pairs.len());
        prop_assert!(fleet.mean.interval.is_none_or(|(low, high)| low <= high));
        if let Some((low, high)) = fleet.spread.and_then(|spread| spread.interval) {
            prop_assert!(0.0 <= low && low <= high);
        }
    }

    #[test]
    fn the_unit_and_the_order_change_nothing(
        pairs in prop::collection::vec(ordinary_pair(), 1..12),
        power in -300..300i32,
    ) {
        let plain = judged(&pairs);
        let unit = 2.0_f64.powi(power);
        let scaled: Vec<PairEffect> = pairs
            .iter()
            .map(|pair| PairEffect {
                estimate: unit * pair.estimate,
                standard_error: unit * pair.standard_error,
                ..*pair
            })
            .collect();
        let other = judged(&scaled);
        prop_assert_eq!(other.mean.estimate, unit * plain.mean.estimate);
        prop_assert_eq!(
            other.spread.map(|spread| spread.sd),
            plain.spread.map(|spread| unit * spread.sd)
        );
        prop_assert_eq!(other.prediction, plain.prediction.map(|(low, high)| (unit * low, unit * high)));
        prop_assert_eq!((other.count, &other.apart), (plain.count, &plain.apart));
        let turned: Vec<PairEffect> = pairs.iter().rev().copied().collect();
        let turned = judged(&turned);
        let apart: Vec<usize> = turned.apart.iter().rev().map(|place| pairs.len() - 1 - place).collect();
        prop_assert_eq!((turned.count, apart), (plain.count, plain.apart));
    }
}
