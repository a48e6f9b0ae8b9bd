//! The distributions: what must hold of them whatever the numbers, and reference values.

use std::f64::consts::FRAC_1_SQRT_2;

use netassay_stats::distribution::dunnett::Dunnett;
use netassay_stats::distribution::{beta, chi_squared, fisher, noncentral_t, normal, student};
use proptest::prelude::*;
use serde::Deserialize;

const INFINITE: f64 = f64::INFINITY;

#[track_caller]
fn assert_close(found: f64, expected: f64, relative: f64, what: &str) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{what}: {found} instead of {expected}, relative difference {:e}",
        found / expected - 1.0
    );
}

/// The output of `fixtures/distributions.py`; its comments name the columns. Infinite degrees of
/// freedom are none.
#[derive(Deserialize)]
struct Oracle {
    normal: Vec<(f64, f64, f64)>,
    student: Vec<(f64, f64, f64, f64)>,
    chi_squared: Vec<(f64, f64, f64, f64, f64, f64)>,
    fisher: Vec<(f64, f64, f64, f64, f64, f64, f64)>,
    beta: Vec<(f64, f64, f64, f64, f64, f64, f64)>,
    binomial_interval: Vec<(u64, u64, f64, f64, f64)>,
    dunnett: Vec<(Lambdas, Option<f64>, f64, f64, f64)>,
    dunnett_quantiles: Vec<(Lambdas, Option<f64>, f64, f64)>,
    noncentral_t: Vec<(Option<f64>, f64, f64, f64, f64)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Lambdas {
    Equal(usize),
    Given(Vec<f64>),
}

impl Lambdas {
    fn into_vec(self) -> Vec<f64> {
        match self {
            Lambdas::Equal(count) => vec![FRAC_1_SQRT_2; count],
            Lambdas::Given(lambdas) => lambdas,
        }
    }
}

/// The value that the largest |t| of the family stays below with probability `p`.
fn critical(p: f64, lambdas: &[f64], df: f64) -> f64 {
    Dunnett::new(lambdas, df).and_then(|family| family.upper_quantile(1.0 - p)).expect("a family")
}

/// The chance of a |t| of the family above `d`.
fn beyond(d: f64, lambdas: &[f64], df: f64) -> f64 {
    Dunnett::new(lambdas, df).expect("a family").sf(d)
}

#[test]
fn equals_forty_digits_and_fine_grids() {
    const ALL: f64 = 1e-10;
    let oracle: Oracle = serde_json::from_str(include_str!("fixtures/distributions.json")).unwrap();
    let tails = |what: &str, found: (f64, f64), expected: (f64, f64)| {
        for (found, expected) in [(found.0, expected.0), (found.1, expected.1)] {
            // Below 1e-14 the grids of the oracle end.
            assert!(
                (found - expected).abs() <= ALL * expected.abs() + 1e-24,
                "{what}: {found:e} instead of {expected:e}, relative difference {:e}",
                found / expected - 1.0
            );
        }
    };
    for (x, lower, upper) in oracle.normal {
        tails(&format!("normal {x}"), (normal::sf(-x), normal::sf(x)), (lower, upper));
        // Near one half p itself has too few digits.
        if lower > 1e-9 && lower < 0.49 {
            assert_close(normal::quantile(lower).unwrap(), x, 1e-13, "normal quantile");
        }
    }
    for (df, x, lower, upper) in oracle.student {
        let what = format!("t {df} {x}");
        tails(&what, (student::sf(-x, df), student::sf(x, df)), (lower, upper));
    }
    for (df, p, quantile, x, lower, upper) in oracle.chi_squared {
        let what = format!("chi-squared {df} {p} {x}");
        tails(&what, (chi_squared::cdf(x, df), chi_squared::sf(x, df)), (lower, upper));
        assert_close(chi_squared::quantile(p, df).unwrap(), quantile, ALL, &what);
    }
    for (one, other, p, quantile, ..) in oracle.fisher {
        let what = format!("F {one} {other} {p}");
        assert_close(fisher::quantile(p, one, other).unwrap(), quantile, ALL, &what);
    }
    for (a, b, p, quantile, x, lower, _) in oracle.beta {
        let what = format!("beta {a} {b} {p} {x}");
        tails(&what, (beta::cdf(x, a, b), lower), (lower, lower));
        assert_close(beta::quantile(p, a, b).unwrap(), quantile, ALL, &what);
    }
    for (successes, trials, level, low, high) in oracle.binomial_interval {
        let what = format!("{successes} of {trials}, {level}");
        let found = beta::binomial_interval(successes, trials, level).unwrap();
        assert_close(found.0, low, ALL, &what);
        assert_close(found.1, high, ALL, &what);
    }
    for (lambdas, df, d, _, upper) in oracle.dunnett {
        let (lambdas, df) = (lambdas.into_vec(), df.unwrap_or(INFINITE));
        let what = format!("dunnett {} {:?} {df} {d}", lambdas.len(), lambdas.first());
        tails(&what, (beyond(d, &lambdas, df), upper), (upper, upper));
    }
    for (lambdas, df, p, quantile) in oracle.dunnett_quantiles {
        let (lambdas, df) = (lambdas.into_vec(), df.unwrap_or(INFINITE));
        let what = format!("dunnett {} {:?} {df} {p}", lambdas.len(), lambdas.first());
        if p >= 0.5 {
            assert_close(critical(p, &lambdas, df), quantile, ALL, &what);
        }
    }
    for (df, nc, x, lower, upper) in oracle.noncentral_t {
        let df = df.unwrap_or(INFINITE);
        let found = (noncentral_t::cdf(x, df, nc), noncentral_t::sf(x, df, nc));
        tails(&format!("noncentral t {df} {nc} {x}"), found, (lower, upper));
    }
}

#[test]
fn dunnett_has_the_values_of_the_tables() {
    for (k, df, d) in [
        (2, 6.0, 2.8627),
        (3, 8.0, 2.8797),
        (4, 10.0, 2.8905),
        (7, 16.0, 2.9238),
        (7, 32.0, 2.7617),
        (15, 32.0, 3.0064),
        (7, INFINITE, 2.6130),
    ] {
        let found = critical(0.95, &vec![FRAC_1_SQRT_2; k], df);
        assert!((found - d).abs() < 5.1e-5, "{k} comparisons, df {df}: {found} instead of {d}");
    }
}

#[test]
fn one_comparison_is_student() {
    for df in [1.0, 2.0, 3.5, 16.0, 1000.0, 1e6, INFINITE] {
        for p in [0.5, 0.95, 0.9999] {
            let t = student::upper_quantile(0.5 * (1.0 - p), df).unwrap();
            let what = format!("p {p}, df {df}");
            for lambda in [0.0, FRAC_1_SQRT_2, 0.99] {
                assert_close(critical(p, &[lambda], df), t, 1e-10, &what);
                assert_close(beyond(t, &[lambda], df), 2.0 * student::sf(t, df), 1e-11, &what);
            }
            assert_close(noncentral_t::sf(t, df, 1e-300), student::sf(t, df), 1e-11, &what);
        }
    }
}

#[test]
fn uncorrelated_comparisons_are_those_of_independent_normal_variables() {
    for k in [2, 10, 500] {
        for d in [0.5, 3.0, 6.0] {
            let each = 2.0 * normal::sf(d);
            let expected = -(k as f64 * (-each).ln_1p()).exp_m1();
            assert_close(beyond(d, &vec![0.0; k], INFINITE), expected, 1e-12, &format!("{k}, {d}"));
        }
    }
}

#[test]
fn the_largest_families_have_quantiles() {
    let lambdas = [FRAC_1_SQRT_2; 200];
    for df in [1.0, 16.0, 1e6] {
        let d = critical(0.95, &lambdas, df);
        assert_close(beyond(d, &lambdas, df), 0.05, 1e-9, &format!("{df}"));
    }
}

#[test]
fn outside_the_domain_there_is_none() {
    for p in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(normal::quantile(p), None);
        assert_eq!(student::quantile(p, 5.0), None);
        assert_eq!(chi_squared::quantile(p, 5.0), None);
        assert_eq!(fisher::quantile(p, 5.0, 5.0), None);
        assert_eq!(beta::quantile(p, 5.0, 5.0), None);
        assert_eq!(Dunnett::new(&[0.5], 5.0).unwrap().upper_quantile(p), None);
        assert_eq!(beta::binomial_interval(1, 2, p), None);
    }
    for df in [0.0, -1.0, 0.5, f64::NAN] {
        assert_eq!(student::quantile(0.9, df), None);
        assert!(Dunnett::new(&[0.5], df).is_none());
        for nan in [student::sf(1.0, df), noncentral_t::cdf(1.0, df, 1.0)] {
            assert!(nan.is_nan(), "df {df}: {nan}");
        }
    }
    for df in [5.0, INFINITE] {
        assert_eq!((beyond(INFINITE, &[0.5], df), beyond(-1.0, &[0.5], df)), (0.0, 1.0));
        assert!(beyond(f64::NAN, &[0.5], df).is_nan());
    }
    for lambdas in [&[][..], &[1.0], &[0.5, -1.0], &[f64::NAN]] {
        assert!(Dunnett::new(lambdas, 5.0).is_none());
    }
    assert_eq!(beta::binomial_interval(3, 2, 0.95), None);
    assert_eq!(beta::binomial_interval(0, 0, 0.95), None);
}

/// Degrees of freedom of every size.
fn degrees() -> impl Strategy<Value = f64> {
    prop_oneof![(0.0..14.0f64).prop_map(f64::exp), Just(INFINITE), (1..100u32).prop_map(f64::from)]
}

/// Probabilities, dense at both ends.
fn probabilities() -> impl Strategy<Value = f64> {
    prop_oneof![(-20.0..-0.7f64).prop_map(f64::exp), (-20.0..-0.7f64).prop_map(|ln| 1.0 - ln.exp())]
}

proptest! {
    #[test]
    fn quantiles_invert_the_tails(p in probabilities(), df in degrees(), other in degrees()) {
        let is_back = |lower: f64, upper: f64| {
            if p < 0.5 { (lower / p - 1.0).abs() < 1e-9 } else { (upper / (1.0 - p) - 1.0).abs() < 1e-9 }
        };
        let z = normal::quantile(p).unwrap();
        prop_assert!(is_back(normal::sf(-z), normal::sf(z)), "normal {}", z);
        let t = student::quantile(p, df).unwrap();
        prop_assert!(is_back(student::sf(-t, df), student::sf(t, df)), "t {}", t);
        if df.is_finite() {
            let x = chi_squared::quantile(p, df).unwrap();
            prop_assert!(is_back(chi_squared::cdf(x, df), chi_squared::sf(x, df)), "chi-squared {}", x);
            if other.is_finite() {
                let x = beta::quantile(p, df, other).unwrap();
                let upper = beta::cdf(1.0 - x, other, df);
                prop_assert!(is_back(beta::cdf(x, df, other), upper) || x > 0.99, "beta {}", x);
            }
        }
    }

    #[test]
    fn t_is_symmetric_and_grows(x in -30.0..30.0f64, more in 0.001..1.0f64, df in degrees()) {
        prop_assert!(student::sf(x, df) >= student::sf(x + more, df));
        let (lower, upper) = (student::sf(-x, df), student::sf(x, df));
        prop_assert!((lower + upper - 1.0).abs() < 1e-15);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn families_invert_and_grow(
        p in 0.5..0.9999f64,
        df in degrees(),
        lambdas in proptest::collection::vec(0.0..0.95f64, 1..6),
    ) {
        let d = critical(p, &lambdas, df);
        prop_assert!((beyond(d, &lambdas, df) / (1.0 - p) - 1.0).abs() < 1e-10);
        prop_assert!(beyond(1.01 * d, &lambdas, df) < 1.0 - p);
        let mut more = lambdas.clone();
        more.push(0.5);
        prop_assert!(beyond(d, &more, df) > 1.0 - p);
    }

    #[test]
    fn noncentral_t_has_two_tails(x in -20.0..40.0f64, df in degrees(), nc in -10.0..30.0f64) {
        let (lower, upper) = (noncentral_t::cdf(x, df, nc), noncentral_t::sf(x, df, nc));
        prop_assert!((lower + upper - 1.0).abs() < 1e-11, "{} and {}", lower, upper);
        prop_assert!(noncentral_t::sf(x, df, nc + 0.1) >= upper * (1.0 - 1e-12));
    }
}
