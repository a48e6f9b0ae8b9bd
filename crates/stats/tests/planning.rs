//! Planning: R's powers, what an exhaustive search finds, and that planned power is what comes out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
mod sizes;

use std::f64::consts::TAU;

use netassay_stats::planning::{
    Cost, Pilot, PlannedFamily, PowerGoal, SampleSize, SampleSizePlan, expected_boots, noncentrality,
};
use netassay_stats::sequential::{Schedule, SpendingBounds};
use netassay_stats::{Against, Analysis, Design, Observation, Question, Verdict, analyse};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

in_two_sizes! { 300, 1_500, "1,500 experiments, of which the gate makes 300":
    the_planned_power_comes_out
}

in_two_sizes! { 120, 600, "600 pilots, of which the gate makes 120":
    the_upper_limit_of_a_pilot_assures_power
}

#[derive(Deserialize)]
struct Oracle {
    powers: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    design: String,
    conditions: usize,
    family: String,
    alpha: f64,
    cell: f64,
    run: f64,
    boots: u32,
    runs: u32,
    delta: f64,
    power: f64,
    tolerance: f64,
}

fn two(cell: f64, run: f64) -> SampleSizePlan {
    SampleSizePlan {
        design: Design::Nested,
        conditions: 2,
        cell,
        run,
        family: PlannedFamily::Alone,
        alpha: 0.05,
        looks: None,
    }
}

#[test]
fn powers_equal_those_of_r() {
    let oracle: Oracle = serde_json::from_str(include_str!("fixtures/planning.json")).unwrap();
    // R's are for one variance common to all conditions; with two conditions nothing is borrowed,
    // and the t-test is exact.
    let exact: Vec<Row> = oracle.powers.into_iter().filter(|row| row.conditions == 2).collect();
    assert!(exact.len() > 15);
    for row in exact {
        let plan = SampleSizePlan {
            design: if row.design == "nested" { Design::Nested } else { Design::Crossed },
            conditions: row.conditions,
            cell: row.cell,
            run: row.run,
            family: match row.family.as_str() {
                "alone" => PlannedFamily::Alone,
                "baseline" => PlannedFamily::Baseline,
                _ => PlannedFamily::AllPairs,
            },
            alpha: row.alpha,
            looks: None,
        };
        let power = plan.power(row.delta, row.boots, row.runs).unwrap();
        assert!((power - row.power).abs() < row.tolerance, "{plan:?}: {power} instead of {}", row.power);
        if power > row.alpha && power < 0.9999 {
            let delta = plan.detectable(power, row.boots, row.runs).unwrap();
            assert!((delta / row.delta - 1.0).abs() < 1e-8, "{plan:?}: {delta} instead of {}", row.delta);
        }
    }
}

/// 3 boots of 10 runs, 3 of 100 and 10 of 3 where boots and runs vary alike: the smallest
/// differences seen with 80 % power.
#[test]
fn more_boots_help_and_more_runs_hardly() {
    let plan = two(1.0, 1.0);
    for (boots, runs, delta) in [(3, 10, 3.22), (3, 100, 3.09), (10, 3, 1.53)] {
        let found = plan.detectable(0.8, boots, runs).unwrap();
        assert!((found - delta).abs() < 0.01, "{boots} x {runs}: {found} instead of {delta}");
    }
}

#[test]
fn the_cheapest_is_that_of_an_exhaustive_search() {
    use Design::{Crossed, Nested};
    use PlannedFamily::{AllPairs, Alone, Baseline};
    let mut unreachable = 0;
    for (design, conditions, family, cell, run, boot) in [
        (Nested, 2, Alone, 1.0, 1.0, 10.0),
        (Nested, 2, Alone, 0.1, 3.0, 30.0),
        (Nested, 2, Alone, 0.0, 2.0, 1.0),
        (Nested, 2, Alone, 2.0, 0.0, 5.0),
        (Crossed, 2, Alone, 0.5, 2.0, 0.0),
        (Crossed, 3, Alone, 3.0, 3.0, 1.0),
        (Crossed, 3, Baseline, 0.5, 1.5, 4.0),
        (Nested, 4, AllPairs, 0.3, 1.0, 9.0),
    ] {
        let plan = SampleSizePlan { design, conditions, cell, run, family, alpha: 0.05, looks: None };
        let most = if family == Alone { 30 } else { 9 };
        let goal = PowerGoal { delta: 2.0, power: 0.8, boots_at_most: most, runs_at_most: most };
        let cost = Cost { boot, run: 1.0 };
        let mut best: Option<SampleSize> = None;
        for runs in 1..=goal.runs_at_most {
            // The power grows with the boots: the first that do are the cheapest.
            let power = |boots| plan.power(goal.delta, boots, runs).unwrap();
            let enough = (2..=goal.boots_at_most).find(|boots| power(*boots) >= goal.power);
            assert_eq!(plan.boots_needed(goal, runs), enough, "{plan:?}, {runs} runs");
            if let Some(boots) = enough {
                let whole = plan.cost(cost, boots, runs);
                if best.is_none_or(|best| whole < best.seconds) {
                    best = Some(SampleSize { boots, runs, seconds: whole, power: power(boots) });
                }
            }
        }
        let found = plan.cheapest(goal, cost);
        assert_eq!(found, best, "{plan:?}");
        let Some(found) = found else {
            unreachable += 1;
            continue;
        };
        let table = plan.around(found, goal, cost);
        assert!(table.contains(&found));
        assert!(table.iter().all(|other| other.seconds >= found.seconds && other.power >= goal.power));
        assert!(table.is_sorted_by_key(|other| other.runs));
    }
    assert_eq!(unreachable, 1);
}

/// For many boots, the exact search agrees with the formula of Kalibera and Jones, Rigorous
/// Benchmarking in Reasonable Time (2013), section 6.2; in a crossed design a boot serves all
/// conditions.
#[test]
fn the_best_number_of_runs_is_near_the_formula() {
    for (cell, run, boot) in [(1.0, 3.0, 60.0), (0.5, 4.0, 20.0), (1.0, 1.0, 100.0)] {
        for (design, shared) in [(Design::Nested, 1.0), (Design::Crossed, 2.0)] {
            let plan = SampleSizePlan {
                design,
                conditions: 2,
                cell,
                run,
                family: PlannedFamily::Alone,
                alpha: 0.05,
                looks: None,
            };
            let cost = Cost { boot, run: 1.0 };
            let goal = PowerGoal { delta: 0.2, power: 0.9, boots_at_most: 100_000, runs_at_most: 1000 };
            let formula = ((boot / shared).sqrt() * run / cell).ceil() as u32;
            let found = plan.cheapest(goal, cost).unwrap();
            assert!(found.runs.abs_diff(formula) <= 2, "{found:?} against {formula}");
        }
    }
}

/// Box and Muller's transformation.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// Runs of a study of this plan, in which condition 1 is higher by `delta`.
fn drawn(
    plan: &SampleSizePlan,
    delta: f64,
    boots: u32,
    runs: u32,
    random: &mut ChaCha8Rng,
) -> Vec<Observation> {
    let mut observations = Vec::new();
    for condition in 0..plan.conditions {
        let mean = if condition == 1 { delta } else { 0.0 };
        for number in 0..boots {
            let boot = match plan.design {
                Design::Nested => condition as u32 * boots + number,
                Design::Crossed => number,
            };
            let cell = mean + plan.cell * normal(random);
            let value = |random: &mut ChaCha8Rng| cell + plan.run * normal(random);
            observations.extend((0..runs).map(|_| Observation { condition, boot, value: value(random) }));
        }
    }
    observations
}

fn the_planned_power_comes_out(experiments: u32) {
    let mut random = ChaCha8Rng::seed_from_u64(20);
    for (design, conditions, family, against) in [
        (Design::Nested, 2, PlannedFamily::Alone, Against::Baseline(0)),
        (Design::Crossed, 2, PlannedFamily::Alone, Against::Baseline(0)),
        (Design::Crossed, 5, PlannedFamily::Baseline, Against::Baseline(0)),
        (Design::Nested, 8, PlannedFamily::Baseline, Against::Baseline(0)),
        (Design::Nested, 4, PlannedFamily::AllPairs, Against::AllPairs),
    ] {
        let plan =
            SampleSizePlan { design, conditions, cell: 1.0, run: 2.0, family, alpha: 0.05, looks: None };
        let goal = PowerGoal { delta: 2.5, power: 0.8, boots_at_most: 100, runs_at_most: 50 };
        let SampleSize { boots, runs, power, .. } =
            plan.cheapest(goal, Cost { boot: 10.0, run: 1.0 }).unwrap();
        let question = Question { against, design: Some(design), ..Question::against(0) };
        let is_found = |random: &mut ChaCha8Rng| {
            let analysis = analyse(&drawn(&plan, goal.delta, boots, runs, random), &question).unwrap();
            let one =
                analysis.comparisons.iter().find(|one| (one.condition, one.baseline) == (1, 0)).unwrap();
            one.verdict == Verdict::Higher
        };
        let found =
            (0..experiments).filter(|_| is_found(&mut random)).count() as f64 / f64::from(experiments);
        // The 99.9 % range of a share, and what the varying degrees of freedom bring beyond the
        // plan.
        let chance = 3.3 * (power * (1.0 - power) / f64::from(experiments)).sqrt();
        assert!(
            found > power - chance - 0.01 && found < power + chance + 0.06,
            "{plan:?} {boots} x {runs}: {found}, planned {power}"
        );
    }
}

#[test]
fn early_looks_spare_boots_where_the_difference_is_large() {
    let schedule = Schedule { bounds: SpendingBounds::ObrienFleming, looks: 5, boots: 20 };
    let boots = |drift| expected_boots(schedule, 0.05, drift).unwrap();
    // Without a difference nearly all are needed, with a vast one only the first look's.
    assert!(boots(0.0) > 19.5 && boots(0.0) < 20.0);
    assert!((boots(60.0) - 4.0).abs() < 1e-9);
    // Jennison and Turnbull (2000), table 2.8: at power 0.8 the expected number is 81.8 % of what a
    // fixed number would be, and the largest 102.8 % of it.
    let drift = (1.959_963_985 + 0.841_621_234) * 1.028_f64.sqrt();
    assert!((boots(drift) / 20.0 * 1.028 - 0.818).abs() < 0.002, "{}", boots(drift));
    assert_eq!(expected_boots(Schedule { looks: 0, ..schedule }, 0.05, 1.0), None);
    // A look at the end of several asks for more than the only one, and for boots that all looks
    // have.
    let once = two(1.0, 1.0);
    let looking = SampleSizePlan { looks: Some((SpendingBounds::ObrienFleming, 5)), ..once };
    assert_eq!((looking.critical(5), looking.power(1.0, 5, 10)), (None, None));
    for boots in [6, 10, 40] {
        let (one, last) = (once.critical(boots).unwrap(), looking.critical(boots).unwrap());
        assert!(last > 1.02 * one && last < 1.1 * one, "{boots}: {one} {last}");
    }
}

/// A pilot of two conditions that share their boots: what a boot does to one of them has sd `cell`,
/// runs have sd 1.
fn pilot(cell: f64, boots: u32, runs: u32, level: f64, random: &mut ChaCha8Rng) -> Analysis {
    let mut observations = Vec::new();
    for boot in 1..=boots {
        for condition in 0..2 {
            let own = 100.0 + cell * normal(random);
            observations.extend((0..runs).map(|_| Observation {
                condition,
                boot,
                value: own + normal(random),
            }));
        }
    }
    analyse(&observations, &Question { level, ..Question::against(0) }).expect("numbers of two conditions")
}

/// The size for the upper limit of a pilot's spread has its power with the confidence of the limit,
/// that for the estimate more seldom than not, and no pilot of three boots can tell whether there
/// is a spread of boots at all.
fn the_upper_limit_of_a_pilot_assures_power(pilots: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let noise = |cell| SampleSizePlan { design: Design::Crossed, ..two(cell, 1.0) };
    let goal = PowerGoal { delta: 1.0, power: 0.8, boots_at_most: 10_000, runs_at_most: 100 };
    let cost = Cost { boot: 4.0, run: 1.0 };
    let (mut assured, mut likely, mut unseen) = (0, 0, 0);
    for _ in 0..pilots {
        // The upper end of an interval of 60 % is a limit of 80 %.
        let components = pilot(0.5, 3, 10, 0.6, &mut random).components;
        let interaction = components.interaction.unwrap();
        unseen += usize::from(interaction.sd == 0.0);
        let has_power = |cell: f64| {
            let choice = noise(cell).cheapest(goal, cost).unwrap();
            noise(0.5).power(goal.delta, choice.boots, choice.runs).unwrap() >= 0.799
        };
        assured += usize::from(has_power(interaction.interval.unwrap().1));
        likely += usize::from(has_power(interaction.sd));
    }
    let share = |count: usize| count as f64 / pilots as f64;
    // The deviation of a rate that chance exceeds once in a thousand times.
    let reach = |rate: f64| 3.29 * (rate * (1.0 - rate) / pilots as f64).sqrt();
    let within = |low: f64, high: f64| low - reach(low)..high + reach(high);
    // The limit is approximate (Ting and others 1990), and sizes are whole numbers: of 600 pilots
    // 77 to 88 %; then 30 to 60 %, and 10 % or more.
    assert!(within(0.8225, 0.83).contains(&share(assured)), "{}", share(assured));
    assert!(within(0.365, 0.535).contains(&share(likely)), "{}", share(likely));
    assert!(share(unseen) > 0.148 - reach(0.148), "{}", share(unseen));
}

#[test]
fn what_makes_no_plan_has_no_answer() {
    let plan = two(1.0, 1.0);
    assert_eq!(plan.power(1.0, 1, 5), None);
    assert_eq!(plan.power(1.0, 5, 0), None);
    assert_eq!(plan.power(-1.0, 5, 5), None);
    assert_eq!(plan.power(f64::NAN, 5, 5), None);
    assert_eq!(two(f64::NAN, 1.0).power(1.0, 5, 5), None);
    assert_eq!(two(1.0, -1.0).detectable(0.8, 5, 5), None);
    assert_eq!(SampleSizePlan { conditions: 1, ..plan }.power(1.0, 5, 5), None);
    assert_eq!(SampleSizePlan { conditions: 0, ..plan }.power(1.0, 5, 5), None);
    for alpha in [0.0, 1.0, f64::NAN] {
        for family in [PlannedFamily::Alone, PlannedFamily::Baseline, PlannedFamily::AllPairs] {
            assert_eq!(SampleSizePlan { alpha, family, ..plan }.critical(5), None, "{family:?} {alpha}");
        }
    }
    for power in [0.0, 1.0, f64::NAN] {
        assert_eq!(plan.detectable(power, 5, 5), None);
    }
    let goal = PowerGoal { delta: 1.0, power: 0.8, boots_at_most: 3, runs_at_most: 10 };
    let cost = Cost { boot: 1.0, run: 1.0 };
    assert_eq!(plan.cheapest(goal, cost), None);
    assert_eq!(plan.cheapest(PowerGoal { delta: 0.0, boots_at_most: 100, ..goal }, cost), None);
    assert_eq!(
        plan.cheapest(PowerGoal { boots_at_most: 100, ..goal }, Cost { boot: f64::NAN, run: 1.0 }),
        None
    );
    assert_eq!(plan.cheapest(PowerGoal { boots_at_most: 0, ..goal }, cost), None);
    // Without any noise two boots of one run do.
    let found = two(0.0, 0.0).cheapest(PowerGoal { boots_at_most: 100, ..goal }, cost).unwrap();
    assert_eq!((found.boots, found.runs, found.power), (2, 1, 1.0));
    assert_eq!(noncentrality(f64::NAN, 5.0, 0.8), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn power_grows_with_all_that_helps(
        cell in 0.0..3.0f64, run in 0.01..3.0f64, delta in 0.01..5.0f64, boots in 2..50u32, runs in 1..50u32, conditions in 2..6usize,
    ) {
        for design in [Design::Nested, Design::Crossed] {
            let plan = SampleSizePlan { design, conditions, cell, run, family: PlannedFamily::Baseline, alpha: 0.05, looks: None };
            let power = plan.power(delta, boots, runs).unwrap();
            prop_assert!((0.0..=1.0).contains(&power));
            let least = power * (1.0 - 1e-9);
            prop_assert!(plan.power(delta, boots + 1, runs).unwrap() >= least);
            prop_assert!(plan.power(delta, boots, runs + 1).unwrap() >= least);
            prop_assert!(plan.power(delta * 1.1, boots, runs).unwrap() >= least);
            // In another unit it is the same.
            let scaled = SampleSizePlan { cell: 1e9 * cell, run: 1e9 * run, ..plan };
            prop_assert!((scaled.power(1e9 * delta, boots, runs).unwrap() - power).abs() < 1e-9);
        }
    }
}

#[test]
fn a_pilot_needs_as_many_boots_as_a_plan_with_its_spread() {
    for (cell, run, runs, delta) in [(1.0, 2.0, 3, 1.5), (0.4, 0.1, 1, 0.5), (2.0, 1.0, 4, 1.0)] {
        for design in [Design::Nested, Design::Crossed] {
            let plan = SampleSizePlan { design, ..two(cell, run) };
            let goal = PowerGoal { delta, power: 0.8, boots_at_most: 1000, runs_at_most: 10 };
            let pilot = |boots: u32| Pilot {
                boots,
                standard_error: plan.standard_error(boots, runs),
                df: plan.df(boots),
            };
            let needed = plan.boots_needed(goal, runs).unwrap();
            assert_eq!(pilot(3).boots_needed(delta, 0.95, 0.8, 1000), Some(needed), "{plan:?}");
            // A pilot that is large enough needs no more, and one that is allowed too few gets
            // none.
            assert_eq!(pilot(needed + 5).boots_needed(delta, 0.95, 0.8, 1000), Some(needed + 5));
            assert_eq!(pilot(3).boots_needed(delta, 0.95, 0.8, needed - 1), None);
        }
    }
}

#[test]
fn what_is_no_pilot_needs_no_number_of_boots() {
    let pilot = Pilot { boots: 3, standard_error: 1.0, df: 2.0 };
    for wrong in
        [Pilot { boots: 1, ..pilot }, Pilot { standard_error: f64::NAN, ..pilot }, Pilot { df: 0.0, ..pilot }]
    {
        assert_eq!(wrong.boots_needed(1.0, 0.95, 0.8, 100), None, "{wrong:?}");
    }
    for (delta, level) in [(0.0, 0.95), (-1.0, 0.95), (f64::INFINITY, 0.95), (1.0, 1.0), (1.0, 0.0)] {
        assert_eq!(pilot.boots_needed(delta, level, 0.8, 100), None, "{delta} {level}");
    }
}
