//! Group-sequential bounds: the published tables, another way of computing them, and what must hold
//! of all.

#[macro_use]
mod sizes;

use std::f64::consts::TAU;

use netassay_stats::distribution::{normal, student};
use netassay_stats::sequential::{Schedule, SpendingBounds, crossings};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

in_two_sizes! { 20_000, 100_000, "100,000 experiments, of which the gate makes 20,000":
    t_crosses_as_often_as_stated
}

#[derive(Deserialize)]
struct Oracle {
    designs: Vec<Design>,
}

#[derive(Deserialize)]
struct Design {
    bounds: SpendingBounds,
    fractions: Vec<f64>,
    alpha: f64,
    z: Vec<f64>,
    drift: Option<f64>,
    crossings: Option<Vec<f64>>,
}

fn equal(looks: u32) -> Vec<f64> {
    (1..=looks).map(|look| f64::from(look) / f64::from(looks)).collect()
}

fn is_close(one: &[f64], other: &[f64], absolute: f64) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| (one - other).abs() < absolute)
}

#[test]
fn equals_transition_matrices_on_a_fine_grid() {
    let oracle: Oracle = serde_json::from_str(include_str!("fixtures/sequential.json")).unwrap();
    assert!(oracle.designs.len() > 30);
    for Design { bounds, fractions, alpha, z, drift, crossings: expected } in oracle.designs {
        let found = bounds.z(&fractions, alpha);
        assert!(is_close(&found, &z, 2e-9), "{bounds:?} {fractions:?} {alpha}: {found:?} instead of {z:?}");
        if let (Some(drift), Some(expected)) = (drift, expected) {
            let found = crossings(&fractions, &z, drift);
            assert!(
                is_close(&found, &expected, 1e-9),
                "{bounds:?} {fractions:?}: {found:?} not {expected:?}"
            );
        }
    }
}

/// Jennison and Turnbull (2000), tables 2.1 and 2.3, two-sided, alpha 0.05.
#[test]
fn equals_the_published_constants() {
    for (looks, pocock, obrien_fleming) in [
        (1, 1.960, 1.960),
        (2, 2.178, 1.977),
        (3, 2.289, 2.004),
        (4, 2.361, 2.024),
        (5, 2.413, 2.040),
        (10, 2.555, 2.087),
        (20, 2.672, 2.126),
    ] {
        for (bounds, constant) in
            [(SpendingBounds::Pocock, pocock), (SpendingBounds::ObrienFleming, obrien_fleming)]
        {
            let last = bounds.z(&equal(looks), 0.05).pop().unwrap();
            assert!(
                (last - constant).abs() < 6e-4,
                "{bounds:?}, {looks} looks: {last} instead of {constant}"
            );
        }
    }
}

#[test]
fn one_look_has_all_of_alpha() {
    for bounds in SpendingBounds::ALL {
        for alpha in [1e-9, 0.05, 0.9] {
            let one = Schedule { bounds, looks: 1, boots: 9 };
            for df_per_boot in [1.0, 1.7, 7.0, f64::INFINITY] {
                let nominal = one.looks(df_per_boot).nominal(alpha);
                assert!(is_close(&nominal, &[alpha], 1e-9 * alpha), "{df_per_boot} {alpha}: {nominal:?}");
            }
        }
    }
}

#[test]
fn fifty_looks_have_bounds() {
    many_looks_have_bounds(50);
}

#[test]
#[ignore = "integrates over 200 looks: the gate over 50"]
fn two_hundred_looks_have_bounds() {
    many_looks_have_bounds(200);
}

fn many_looks_have_bounds(looks: u32) {
    let fractions = equal(looks);
    let z = SpendingBounds::Pocock.z(&fractions, 0.05);
    let crossed: f64 = crossings(&fractions, &z, 0.0).iter().sum();
    assert!((crossed - 0.05).abs() < 1e-9, "{crossed}");
}

#[test]
fn what_makes_no_schedule_has_no_bounds() {
    for fractions in
        [&[][..], &[0.5], &[0.5, 0.5, 1.0], &[0.0, 1.0], &[0.7, 0.2, 1.0], &[f64::NAN, 1.0], &[0.9999, 1.0]]
    {
        assert!(SpendingBounds::Pocock.z(fractions, 0.05).is_empty(), "{fractions:?}");
        assert!(crossings(fractions, &vec![2.0; fractions.len()], 0.0).is_empty(), "{fractions:?}");
    }
    for alpha in [0.0, 1.0, f64::NAN, -0.1] {
        assert!(SpendingBounds::ObrienFleming.z(&[0.5, 1.0], alpha).is_empty(), "{alpha}");
    }
    assert!(crossings(&[0.5, 1.0], &[2.0], 0.0).is_empty());
    assert!(crossings(&[0.5, 1.0], &[2.0, f64::NAN], 0.0).is_empty());
    assert!(crossings(&[0.5, 1.0], &[2.0, 2.0], f64::INFINITY).is_empty());
}

#[test]
fn looks_need_boots() {
    for (looks, boots) in [(0, 5), (5, 5), (6, 5), (1, 1), (u32::MAX, u32::MAX)] {
        let schedule = Schedule { bounds: SpendingBounds::Pocock, looks, boots };
        assert_eq!(
            (schedule.after(), schedule.looks(1.0).nominal(0.05)),
            (vec![], vec![]),
            "{looks} {boots}"
        );
        assert_eq!(schedule.looks(1.0).p(1, 0.05), None);
    }
    let schedule = Schedule { bounds: SpendingBounds::Pocock, looks: 5, boots: 6 };
    assert_eq!(schedule.after(), [2, 3, 4, 5, 6]);
    let looks = schedule.looks(1.0);
    assert_eq!((looks.p(0, 0.05), looks.p(6, 0.05), looks.p(1, f64::NAN)), (None, None, None));
    assert_eq!((looks.p(1, 0.0), looks.p(1, 1.0)), (Some(0.0), Some(1.0)));
    for alpha in [0.0, 1.0, f64::NAN] {
        assert!(looks.nominal(alpha).is_empty(), "{alpha}");
    }
}

/// The rate at which t crosses at any look. Each boot brings `df_per_boot` normal values of equal
/// spread: the first is the difference, and all of them tell the error.
fn crossed(schedule: Schedule, df_per_boot: u32, nominal: &[f64], experiments: u32, seed: u64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut spare = None;
    let mut normal = || {
        spare.take().unwrap_or_else(|| {
            let (share, turn) = (1.0 - random.random::<f64>(), random.random::<f64>());
            let (sine, cosine) = (TAU * turn).sin_cos();
            let radius = (-2.0 * share.ln()).sqrt();
            spare = Some(radius * sine);
            radius * cosine
        })
    };
    let after = schedule.after();
    let bounds: Vec<(f64, f64)> = after
        .iter()
        .zip(nominal)
        .map(|(boots, nominal)| {
            let df = f64::from(df_per_boot) * f64::from(boots - 1);
            (df, student::upper_quantile(nominal / 2.0, df).map_or(f64::NAN, |t| t * t))
        })
        .collect();
    let found = (0..experiments)
        .filter(|_| {
            let mut sums = vec![(0.0, 0.0); df_per_boot as usize];
            let (mut look, mut is_found) = (0, false);
            for boot in 1..=schedule.boots {
                for (sum, squares) in &mut sums {
                    let value = normal();
                    *sum += value;
                    *squares += value * value;
                }
                if boot == after[look] {
                    let n = f64::from(boot);
                    let error: f64 = sums.iter().map(|(sum, squares)| squares - sum * sum / n).sum();
                    let (df, bound) = bounds[look];
                    is_found |= sums[0].0 * sums[0].0 / n * df > bound * error;
                    look += 1;
                }
            }
            is_found
        })
        .count();
    found as f64 / f64::from(experiments)
}

fn t_crosses_as_often_as_stated(experiments: u32) {
    let is_kept = |schedule: Schedule, df_per_boot: u32, alpha: f64| {
        let nominal = schedule.looks(f64::from(df_per_boot)).nominal(alpha);
        let seen = crossed(schedule, df_per_boot, &nominal, experiments, 11);
        // The deviation that chance exceeds once in a thousand times.
        let range = 3.29 * (alpha * (1.0 - alpha) / f64::from(experiments)).sqrt();
        assert!(
            (seen - alpha).abs() < range,
            "{schedule:?}, {df_per_boot} a boot: {seen} instead of {alpha}"
        );
    };
    for bounds in SpendingBounds::ALL {
        for looks in 2..=10 {
            is_kept(Schedule { bounds, looks, boots: if looks < 10 { 10 } else { 11 } }, 1, 0.05);
        }
        for (looks, boots, df_per_boot) in
            [(2, 3, 1), (2, 3, 2), (5, 6, 2), (5, 10, 3), (5, 20, 1), (3, 8, 7)]
        {
            is_kept(Schedule { bounds, looks, boots }, df_per_boot, 0.05);
        }
        // A comparison of ten, by Šidák's rule.
        is_kept(Schedule { bounds, looks: 5, boots: 10 }, 1, 0.005_116);
    }
}

/// With the normal bounds' constants the default design, 10 boots and 5 looks, errs in 5.5 and 5.8
/// % of cases.
#[test]
#[ignore = "200,000 experiments: fewer do not tell 5.5 % from 5 %"]
fn normal_bounds_err_more_often_with_t() {
    for bounds in SpendingBounds::ALL {
        let schedule = Schedule { bounds, looks: 5, boots: 10 };
        let nominal = schedule.looks(f64::INFINITY).nominal(0.05);
        assert!(crossed(schedule, 1, &nominal, 100_000, 11) > 0.053, "{bounds:?}");
    }
}

#[test]
fn constants_of_t_approach_those_of_the_normal_distribution() {
    for bounds in SpendingBounds::ALL {
        for (looks, boots) in [(2, 4), (5, 10), (5, 6), (10, 20), (20, 40)] {
            let schedule = Schedule { bounds, looks, boots };
            let last = |df_per_boot: f64| schedule.looks(df_per_boot).nominal(0.05).pop().unwrap();
            let levels = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 1000.0].map(last);
            assert!(levels.is_sorted(), "{schedule:?}: {levels:?}");
            let normal = 2.0 * normal::sf(bounds.z(&schedule.fractions(), 0.05).pop().unwrap());
            assert_eq!(levels[7], normal);
            assert!(levels[6] / normal > 0.985, "{schedule:?}: {levels:?}");
        }
    }
}

/// The repeated p-value is alpha where the level is just reached, at every look.
#[test]
fn p_over_all_looks_is_below_alpha_where_the_level_is_reached() {
    for bounds in SpendingBounds::ALL {
        for df_per_boot in [1.0, 1.4, 5.0, f64::INFINITY] {
            let looks = Schedule { bounds, looks: 4, boots: 9 }.looks(df_per_boot);
            for alpha in [0.001, 0.05] {
                for (number, nominal) in (1..).zip(looks.nominal(alpha)) {
                    let p = looks.p(number, nominal).unwrap();
                    assert!((p / alpha - 1.0).abs() < 1e-6, "{bounds:?} {df_per_boot} look {number}: {p}");
                    assert!(looks.p(number, 0.9 * nominal).unwrap() < alpha);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_whole_is_alpha_and_each_look_less(
        steps in proptest::collection::vec(0.05..1.0f64, 1..8),
        alpha in 0.001..0.3f64,
    ) {
        let total: f64 = steps.iter().sum();
        let mut sum = 0.0;
        let mut fractions: Vec<f64> = steps.iter().map(|step| { sum += step; sum / total }).collect();
        *fractions.last_mut().unwrap() = 1.0;
        for bounds in SpendingBounds::ALL {
            let z = bounds.z(&fractions, alpha);
            let whole: f64 = crossings(&fractions, &z, 0.0).iter().sum();
            prop_assert!((whole - alpha).abs() < 1e-10, "{:?}: {}", bounds, whole);
            let nominal: Vec<f64> = z.iter().map(|z| 2.0 * normal::sf(*z)).collect();
            prop_assert!(nominal.iter().all(|nominal| *nominal <= alpha * (1.0 + 1e-9)));
            prop_assert!(nominal.iter().sum::<f64>() >= alpha * (1.0 - 1e-9));
            prop_assert!(nominal.is_sorted());
            // With a difference, both signs of it act alike, and the last look alone would see at
            // least as much.
            let power: f64 = crossings(&fractions, &z, 2.5).iter().sum();
            let mirrored: f64 = crossings(&fractions, &z, -2.5).iter().sum();
            prop_assert!((power - mirrored).abs() < 1e-11);
            let fixed = normal::upper_quantile(alpha / 2.0).unwrap();
            prop_assert!(power <= normal::sf(fixed - 2.5) + normal::sf(fixed + 2.5) + 1e-9);
        }
    }
}
