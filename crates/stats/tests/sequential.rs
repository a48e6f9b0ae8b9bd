//! Group-sequential bounds: the published tables, another way of computing them, and what must hold of all.

use netassay_stats::distribution::normal;
use netassay_stats::sequential::{Bounds, crossings};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    designs: Vec<Design>,
}

#[derive(Deserialize)]
struct Design {
    bounds: Bounds,
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
        for (bounds, constant) in [(Bounds::Pocock, pocock), (Bounds::ObrienFleming, obrien_fleming)] {
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
    for bounds in Bounds::ALL {
        for alpha in [1e-9, 0.05, 0.9] {
            assert!(is_close(&bounds.nominal(&[1.0], alpha), &[alpha], 1e-12 * alpha));
        }
    }
}

#[test]
fn two_hundred_looks_have_bounds() {
    let fractions = equal(200);
    let z = Bounds::Pocock.z(&fractions, 0.05);
    let crossed: f64 = crossings(&fractions, &z, 0.0).iter().sum();
    assert!((crossed - 0.05).abs() < 1e-9, "{crossed}");
}

#[test]
fn what_makes_no_schedule_has_no_bounds() {
    for fractions in
        [&[][..], &[0.5], &[0.5, 0.5, 1.0], &[0.0, 1.0], &[0.7, 0.2, 1.0], &[f64::NAN, 1.0], &[0.9999, 1.0]]
    {
        assert!(Bounds::Pocock.nominal(fractions, 0.05).is_empty(), "{fractions:?}");
        assert!(crossings(fractions, &vec![2.0; fractions.len()], 0.0).is_empty(), "{fractions:?}");
    }
    for alpha in [0.0, 1.0, f64::NAN, -0.1] {
        assert!(Bounds::ObrienFleming.nominal(&[0.5, 1.0], alpha).is_empty(), "{alpha}");
    }
    assert!(crossings(&[0.5, 1.0], &[2.0], 0.0).is_empty());
    assert!(crossings(&[0.5, 1.0], &[2.0, f64::NAN], 0.0).is_empty());
    assert!(crossings(&[0.5, 1.0], &[2.0, 2.0], f64::INFINITY).is_empty());
}

#[test]
fn words_are_those_of_files() {
    for bounds in Bounds::ALL {
        assert_eq!(serde_json::to_value(bounds).unwrap(), bounds.as_str());
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
        for bounds in Bounds::ALL {
            let z = bounds.z(&fractions, alpha);
            let whole: f64 = crossings(&fractions, &z, 0.0).iter().sum();
            prop_assert!((whole - alpha).abs() < 1e-10, "{:?}: {}", bounds, whole);
            let nominal = bounds.nominal(&fractions, alpha);
            prop_assert!(nominal.iter().all(|nominal| *nominal <= alpha * (1.0 + 1e-9)));
            prop_assert!(nominal.iter().sum::<f64>() >= alpha * (1.0 - 1e-9));
            prop_assert!(nominal.is_sorted());
            // With a difference, both signs of it act alike, and the last look alone would see at least as much.
            let power: f64 = crossings(&fractions, &z, 2.5).iter().sum();
            let mirrored: f64 = crossings(&fractions, &z, -2.5).iter().sum();
            prop_assert!((power - mirrored).abs() < 1e-11);
            let fixed = normal::upper_quantile(alpha / 2.0).unwrap();
            prop_assert!(power <= normal::sf(fixed - 2.5) + normal::sf(fixed + 2.5) + 1e-9);
        }
    }
}
