//! The simulator: known rates come out, and only the seed decides them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate netassay_stats as stats;

mod simulator;
#[macro_use]
mod sizes;

use simulator::{Looking, Method, Outcome, Plan, Rate, SequentialRates, Shape, World, look_often, simulate};
use stats::Design;
use stats::distribution::{noncentral_t, student};

in_two_sizes! { 1_200, 6_000, "6,000 experiments, of which the gate makes 1,200":
    the_table_of_false_positives_comes_out_again
}

in_two_sizes! { 400, 2_000, "2,000 experiments, of which the gate makes 400":
    boot_means_keep_five_percent_whatever_the_runs_look_like
}

in_two_sizes! { 800, 4_000, "4,000 experiments, of which the gate makes 800":
    an_additive_model_cries_wolf_where_boots_treat_conditions_differently
    what_a_boot_does_to_all_conditions_cancels_inside_boots_and_blinds_the_pooled_test
    power_is_that_of_the_noncentral_t
    looking_early_needs_bounds
}

const WORLD: World = World {
    design: Design::Nested,
    conditions: 8,
    boots: 3,
    runs: 10,
    mean: 100.0,
    between: 0.0,
    shared: 0.0,
    within: 1.0,
    shape: Shape::Normal,
};

fn plan(world: World, methods: &[Method], experiments: u32) -> Plan {
    Plan {
        world,
        between: vec![0.0, 0.25, 0.5, 1.0, 2.0],
        differences: Vec::new(),
        methods: methods.to_vec(),
        experiments,
        seed: 1,
    }
}

/// Whether a count agrees with a rate that was itself counted in `of` experiments, within what
/// chance leaves once in a thousand times.
fn agrees(rate: Rate, expected: f64, of: f64) -> bool {
    let variance = expected * (1.0 - expected) * (1.0 / rate.experiments as f64 + 1.0 / of);
    // The expected rates are rounded to 0.1 %.
    (rate.rate - expected).abs() <= 3.29 * variance.sqrt() + 0.0005
}

fn keeps_five_percent(rate: Rate) -> bool {
    agrees(rate, 0.05, f64::INFINITY)
}

/// False positives in % of 20,000 experiments of 3 boots x 10 runs each, by the spread between
/// boots, simulated independently of this crate.
const TABLE: [(Method, [f64; 5]); 9] = [
    (Method::PooledT, [5.2, 11.5, 24.7, 44.5, 55.7]),
    (Method::MannWhitney, [4.9, 10.8, 23.4, 41.7, 52.0]),
    (Method::RunBootstrap, [6.0, 12.8, 26.6, 47.3, 57.9]),
    (Method::HierarchicalBootstrap, [2.4, 5.1, 9.5, 14.3, 18.8]),
    (Method::RemlWald, [4.3, 7.4, 10.4, 11.8, 11.8]),
    (Method::RemlSatterthwaite, [3.3, 4.7, 4.9, 5.0, 5.0]),
    (Method::Ratio, [5.1, 5.0, 4.7, 5.0, 5.0]),
    (Method::BootMeans, [5.1, 5.0, 4.7, 5.0, 5.0]),
    (Method::PooledBootMeans, [4.9, 5.1, 4.8, 4.6, 4.6]),
];

/// Compares the methods that are bootstraps, or those that are none, with the table.
fn compare_with_table(bootstraps: bool, experiments: u32) {
    let is_bootstrap = |m: Method| matches!(m, Method::RunBootstrap | Method::HierarchicalBootstrap);
    let rows: Vec<_> = TABLE.into_iter().filter(|(method, _)| is_bootstrap(*method) == bootstraps).collect();
    let methods: Vec<Method> = rows.iter().map(|(method, _)| *method).collect();
    let outcome = simulate(&plan(WORLD, &methods, experiments), 2).unwrap();
    for (place, (method, expected)) in rows.into_iter().enumerate() {
        for (cell, expected) in outcome.false_positives.iter().zip(expected) {
            let (between, rate) = (cell.between, cell.rates[place]);
            assert!(
                agrees(rate, expected / 100.0, 20_000.0),
                "{method} at {between}: {rate:?} not {expected} %"
            );
        }
    }
}

fn the_table_of_false_positives_comes_out_again(experiments: u32) {
    compare_with_table(false, experiments);
    compare_with_table(true, experiments / 4);
}

fn boot_means_keep_five_percent_whatever_the_runs_look_like(experiments: u32) {
    let methods = [Method::BootMeans, Method::PooledBootMeans, Method::Ratio, Method::PooledT];
    for design in [Design::Nested, Design::Crossed] {
        for shape in [Shape::Normal, Shape::Skewed, Shape::Bimodal, Shape::Ar1] {
            let world = World { design, shape, boots: 5, ..WORLD };
            let outcome = simulate(&plan(world, &methods, experiments), 2).unwrap();
            for cell in &outcome.false_positives {
                for (method, rate) in methods.iter().zip(&cell.rates).take(3) {
                    assert!(keeps_five_percent(*rate), "{method} at {}: {rate:?} in {world:?}", cell.between);
                }
                // And the pooled test does not, so these worlds can tell.
                let pooled = cell.rates[3];
                assert!(cell.between < 0.5 || pooled.rate > 0.15, "{}: {pooled:?}", cell.between);
            }
            // Correlated runs alone are enough to mislead it.
            let alone = outcome.false_positives[0].rates[3];
            assert!(keeps_five_percent(alone) != (shape == Shape::Ar1), "{alone:?} in {world:?}");
        }
    }
}

/// Own spreads are told by fewer boots than pooled ones, which errs to the safe side.
#[test]
fn netassays_own_method_keeps_five_percent_or_less() {
    for design in [Design::Nested, Design::Crossed] {
        let world = World { design, runs: 3, ..WORLD };
        let outcome = simulate(&plan(world, &[Method::Netassay], 600), 2).unwrap();
        for rate in outcome.false_positives.iter().map(|cell| cell.rates[0]) {
            assert!(rate.rate > 0.005 && (rate.rate < 0.05 || keeps_five_percent(rate)), "{rate:?}");
        }
    }
}

fn an_additive_model_cries_wolf_where_boots_treat_conditions_differently(experiments: u32) {
    let world = World { design: Design::Crossed, conditions: 2, boots: 5, ..WORLD };
    let outcome = simulate(&plan(world, &[Method::Additive, Method::BootMeans], experiments), 2).unwrap();
    let rates: Vec<f64> = outcome.false_positives.iter().map(|cell| cell.rates[0].rate).collect();
    assert!(keeps_five_percent(outcome.false_positives[0].rates[0]), "{rates:?}");
    assert!(rates.is_sorted() && rates[3] > 0.25, "{rates:?}");
}

fn what_a_boot_does_to_all_conditions_cancels_inside_boots_and_blinds_the_pooled_test(experiments: u32) {
    let world = World { design: Design::Crossed, boots: 5, shared: 3.0, ..WORLD };
    let methods = [Method::BootMeans, Method::PooledBootMeans, Method::PooledT];
    let plan = Plan { between: vec![0.0], differences: vec![1.0], ..plan(world, &methods, experiments) };
    let outcome = simulate(&plan, 2).unwrap();
    let (wolves, power) = (&outcome.false_positives[0].rates, &outcome.power[0].rates);
    assert!(wolves[..2].iter().all(|rate| keeps_five_percent(*rate)), "{wolves:?}");
    assert!(wolves[2].rate < 0.01, "{wolves:?}");
    assert!(power[0].rate > 0.9 && power[1].rate > 0.9 && power[2].rate < 0.5, "{power:?}");
}

fn power_is_that_of_the_noncentral_t(experiments: u32) {
    // 2 conditions, 3 boots x 10 runs, both spreads 1: df 4, and the difference has a standard
    // error of √(2 (1 + 0.1) / 3).
    let world = World { conditions: 2, ..WORLD };
    let plan = Plan {
        between: vec![1.0],
        differences: vec![1.0, 2.0, 3.22, 5.0],
        ..plan(world, &[Method::BootMeans], experiments)
    };
    let outcome = simulate(&plan, 2).unwrap();
    assert_eq!(outcome.power.len(), 4);
    for cell in outcome.power {
        let nc = cell.difference / (2.0 * 1.1 / 3.0_f64).sqrt();
        let t = student::quantile(0.975, 4.0).unwrap();
        let expected = noncentral_t::sf(t, 4.0, nc) + noncentral_t::cdf(-t, 4.0, nc);
        assert!(agrees(cell.rates[0], expected, f64::INFINITY), "{cell:?} not {expected}");
    }
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let plan = Plan { differences: vec![1.0], ..plan(WORLD, &Method::of(Design::Nested), 23) };
    let outcome = |plan: &Plan, threads| -> Outcome { simulate(plan, threads).unwrap() };
    let one = outcome(&plan, 1);
    for threads in [0, 2, 3, 7, 1000] {
        assert_eq!(outcome(&plan, threads), one, "{threads} threads");
    }
    assert_ne!(outcome(&Plan { seed: 2, ..plan.clone() }, 2), one);
    // More experiments begin with the same ones.
    let more = outcome(&Plan { experiments: 46, ..plan }, 2);
    for (few, many) in one.false_positives.iter().zip(&more.false_positives) {
        assert!(few.rates.iter().zip(&many.rates).all(|(few, many)| few.hits <= many.hits));
    }
}

#[test]
fn the_unit_does_not_matter() {
    let methods = Method::of(Design::Crossed);
    let world = World { design: Design::Crossed, shared: 0.5, ..WORLD };
    let base = Plan { differences: vec![1.5], ..plan(world, &methods, 60) };
    let scaled = Plan {
        world: World { mean: 128.0 * world.mean, within: 128.0, shared: 64.0, ..world },
        between: base.between.iter().map(|between| 128.0 * between).collect(),
        differences: vec![192.0],
        ..base.clone()
    };
    let rates = |plan: &Plan| {
        let outcome = simulate(plan, 2).unwrap();
        let cells = outcome.false_positives.into_iter().chain(outcome.power);
        cells.map(|cell| cell.rates).collect::<Vec<_>>()
    };
    assert_eq!(rates(&base), rates(&scaled));
}

#[test]
fn what_cannot_be_simulated_is_named() {
    let good = plan(WORLD, &[Method::BootMeans], 10);
    let message = |plan: Plan| simulate(&plan, 1).unwrap_err().to_string();
    let world = |world: World| Plan { world, ..good.clone() };
    for (plan, start) in [
        (world(World { conditions: 1, ..WORLD }), "1 conditions cannot be simulated: give 2 to"),
        (world(World { boots: 1, ..WORLD }), "1 boots cannot"),
        (world(World { runs: 0, ..WORLD }), "0 runs cannot"),
        (
            world(World { boots: 10_000, runs: 100_000, ..WORLD }),
            "8000000000 runs in all conditions and boots cannot",
        ),
        (Plan { experiments: 0, ..good.clone() }, "0 experiments cannot"),
        (Plan { between: vec![], ..good.clone() }, "0 spreads between boots cannot"),
        (Plan { between: vec![-1.0], ..good.clone() }, "a standard deviation of -1 between boots is invalid"),
        (world(World { within: f64::NAN, ..WORLD }), "a standard deviation of NaN between runs is invalid"),
        (world(World { within: 0.0, ..WORLD }), "with no spread between boots and none between runs"),
        (
            Plan { differences: vec![f64::INFINITY], ..good.clone() },
            "a difference of inf cannot be simulated",
        ),
        (
            Plan { experiments: 10_000_000, methods: Method::ALL.to_vec(), ..good.clone() },
            "the simulation takes ",
        ),
    ] {
        let message = message(plan);
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn one_run_in_a_boot_is_enough() {
    for design in [Design::Nested, Design::Crossed] {
        let world = World { design, runs: 1, boots: 8, ..WORLD };
        let outcome = simulate(&plan(world, &Method::of(design), 500), 2).unwrap();
        for cell in outcome.false_positives {
            assert!(cell.rates.iter().all(|rate| rate.rate < 0.16), "{cell:?}");
        }
    }
}

fn looking_early_needs_bounds(experiments: u32) {
    for design in [Design::Nested, Design::Crossed] {
        let world = World { design, boots: 10, runs: 5, conditions: 4, ..WORLD };
        let plan = Plan { between: vec![0.0, 1.0], differences: vec![3.0], ..plan(world, &[], experiments) };
        let result: SequentialRates = look_often(&plan, 5, 2).unwrap();
        assert_eq!(result.looks, [2, 4, 6, 8, 10]);
        assert_eq!(result.cells.len(), 4);
        for cell in &result.cells[..2] {
            let of = |looking| cell.rates[Looking::ALL.iter().position(|other| *other == looking).unwrap()];
            assert!(keeps_five_percent(of(Looking::Once)), "{cell:?}");
            assert!(of(Looking::Unguarded).rate > 0.1, "{cell:?}");
            for looking in [Looking::ObrienFleming, Looking::Pocock] {
                assert!(keeps_five_percent(of(looking)), "{looking:?}: {cell:?}");
            }
        }
        for cell in &result.cells[2..] {
            // A large difference is seen by all, and early looks save boots.
            assert!(cell.rates.iter().all(|rate| rate.rate > 0.95), "{cell:?}");
            assert!(cell.boots[0] == 10.0 && cell.boots[2] < 7.0 && cell.boots[3] < 6.0, "{cell:?}");
        }
        assert_eq!(look_often(&plan, 5, 1).unwrap(), result);
    }
    let plan = plan(World { boots: 9, ..WORLD }, &[], 10);
    for looks in [0, 9, 10, u32::MAX] {
        let error = look_often(&plan, looks, 1).unwrap_err().to_string();
        let expected = format!("{looks} looks do not fit into 9 boots: the first look needs 2 boots");
        assert!(error.starts_with(&expected) && error.ends_with("plan 1 to 8 looks"), "{error}");
    }
}

/// A difference that looks chose is too large on average. The stated one is off by little more than
/// half as much at most, and above the truth in about half of all experiments: with so few boots in
/// 45 to 50 of 100, because t is taken for normal.
#[test]
#[ignore = "20,000 experiments: fewer do not tell a bias of 1 %"]
fn the_stated_difference_is_median_unbiased() {
    for (design, conditions) in [(Design::Crossed, 2), (Design::Nested, 2), (Design::Crossed, 5)] {
        let world = World { design, conditions, boots: 10, runs: 1, ..WORLD };
        let plan = Plan { between: vec![0.0], differences: vec![0.9, 1.4, 2.2], ..plan(world, &[], 20_000) };
        let result = look_often(&plan, 5, 2).unwrap();
        for cell in &result.cells[1..] {
            let off = |found: f64| 100.0 * (found / cell.difference - 1.0);
            let [once, _, guarded @ ..] = cell.estimates.as_slice() else { panic!("{cell:?}") };
            assert!(off(once.measured).abs() < 1.0 && once.measured == once.adjusted, "{cell:?}");
            for one in guarded {
                let (measured, stated) = (off(one.measured), off(one.adjusted));
                let (above, half) = (100.0 * one.measured_above, 100.0 * one.adjusted_above);
                assert!(measured > 1.0 && above > half, "{cell:?}");
                assert!(stated.abs() < 0.6 * measured && (half - 50.0).abs() < 6.0, "{cell:?}");
            }
        }
    }
}
