//! Whether several comparisons hold together where conditions spread unequally: a small part of
//! `bench verdict --families`, with a fixed seed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysed;
#[macro_use]
mod sizes;

use std::f64::consts::TAU;

use analysed::analysed;
use netassay_stats::distribution::dunnett::Dunnett;
use netassay_stats::distribution::normal as gauss;
use netassay_stats::{Against, Design, Observation, Question, Verdict};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

in_two_sizes! { 100, 500, "500 studies, of which the gate makes 100":
    a_family_holds_together_however_its_conditions_spread
    lost_runs_and_cells_do_no_harm
    all_pairs_hold_together_too
}

/// Conditions that do not differ, condition 0 being the baseline.
#[derive(Clone, Copy, Debug)]
struct World {
    design: Design,
    conditions: usize,
    boots: usize,
    /// The standard deviation of the baseline's cells, and of condition 1's; the others have 1.
    /// None: log-normal.
    spreads: Option<(f64, f64)>,
    against: Against,
    /// Each third cell has one run, the next six, and of the rest one in four is lost; a run
    /// spreads as much as its cell.
    is_ragged: bool,
}

const BASE: World = World {
    design: Design::Nested,
    conditions: 8,
    boots: 3,
    spreads: Some((1.0, 1.0)),
    against: Against::Baseline(0),
    is_ragged: false,
};

impl World {
    fn study(self, random: &mut ChaCha8Rng) -> Vec<Observation> {
        let common: Vec<f64> = (0..self.boots).map(|_| 3.0 * normal(random)).collect();
        let mut runs = Vec::new();
        for condition in 0..self.conditions {
            let sd = match (self.spreads, condition) {
                (None, _) => (0.94 * normal(random)).exp(),
                (Some((baseline, _)), 0) => baseline,
                (Some((_, first)), 1) => first,
                _ => 1.0,
            };
            for (number, common) in common.iter().enumerate() {
                let (boot, shared) = match self.design {
                    Design::Nested => (condition * self.boots + number, 0.0),
                    Design::Crossed => (number, *common),
                };
                let cell = 100.0 + shared + sd * normal(random);
                let place = condition * 5 + number;
                let count = match place % 3 {
                    _ if !self.is_ragged => 1,
                    0 => 1,
                    1 => 6,
                    _ if number > 1 && place.is_multiple_of(4) => 0,
                    _ => 3,
                };
                for _ in 0..count {
                    let run = if self.is_ragged { sd * normal(random) } else { 0.0 };
                    runs.push(Observation { condition, boot: boot as u32, value: cell + run });
                }
            }
        }
        runs
    }

    /// The share of `studies` that claim a difference, in %.
    fn wrong(self, seed: u64, studies: u32) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let question = Question { against: self.against, design: Some(self.design), ..Question::against(0) };
        let is_wrong = |random: &mut ChaCha8Rng| {
            let analysis = analysed(&self.study(random), &question);
            analysis.comparisons.iter().any(|one| matches!(one.verdict, Verdict::Higher | Verdict::Lower))
        };
        let wrong = (0..studies).filter(|_| is_wrong(&mut random)).count();
        100.0 * wrong as f64 / f64::from(studies)
    }
}

/// Box and Muller's transformation.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// 99.9 % of shares of so many studies whose chance is 6 % lie below this, in %: 9.5 % of 500.
fn most(studies: u32) -> f64 {
    6.0 + 3.3 * (6.0 * 94.0 / f64::from(studies)).sqrt()
}

/// A baseline three times as noisy, at three boots, made one study in five claim a difference as
/// long as the error was pooled unless a test of equal spreads objected.
fn a_family_holds_together_however_its_conditions_spread(studies: u32) {
    let mut seed = 0;
    for design in [Design::Nested, Design::Crossed] {
        for (conditions, boots) in [(2, 3), (3, 3), (8, 3), (8, 5)] {
            for spreads in [Some((3.0, 1.0)), Some((6.0, 1.0)), Some((1.0, 6.0)), None] {
                seed += 1;
                let world = World { design, conditions, boots, spreads, ..BASE };
                let wrong = world.wrong(seed, studies);
                assert!(wrong <= most(studies), "{wrong} % in {world:?}");
            }
        }
    }
}

fn lost_runs_and_cells_do_no_harm(studies: u32) {
    let mut seed = 100;
    for design in [Design::Nested, Design::Crossed] {
        for spreads in [Some((3.0, 1.0)), Some((1.0, 3.0)), None] {
            for boots in [4, 6] {
                seed += 1;
                let world = World { design, conditions: 5, boots, spreads, is_ragged: true, ..BASE };
                let wrong = world.wrong(seed, studies);
                assert!(wrong <= most(studies), "{wrong} % in {world:?}");
            }
        }
    }
}

fn all_pairs_hold_together_too(studies: u32) {
    for (seed, design) in [(200, Design::Nested), (201, Design::Crossed)] {
        for spreads in [Some((1.0, 1.0)), Some((3.0, 1.0)), None] {
            let world = World { design, conditions: 5, spreads, against: Against::AllPairs, ..BASE };
            let wrong = world.wrong(seed, studies);
            assert!(wrong <= most(studies), "{wrong} % in {world:?}");
        }
    }
}

/// Four conditions in four boots whose cells have two to six runs: the difference stands out from
/// how differently boots treat the conditions as it does in means of equally many runs. Weights
/// that had to be estimated made the interval wide enough to hold zero.
#[test]
fn unequal_numbers_of_runs_leave_a_clear_difference_clear() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let counts = [[2, 6, 3, 5], [6, 2, 4, 3], [3, 5, 6, 2], [5, 3, 2, 6]];
    let (mut widths, studies) = (Vec::new(), 400);
    for _ in 0..studies {
        let boots: Vec<f64> = (0..4).map(|_| 2.0 * normal(&mut random)).collect();
        let (mut ragged, mut even) = (Vec::new(), Vec::new());
        for (condition, counts) in counts.iter().enumerate() {
            for (number, count) in counts.iter().enumerate() {
                let cell = 100.0 + boots[number] + 0.3 * normal(&mut random);
                let values: Vec<f64> = (0..*count).map(|_| cell + normal(&mut random)).collect();
                let mean = values.iter().sum::<f64>() / f64::from(*count);
                let run = |value: f64| Observation { condition, boot: number as u32, value };
                ragged.extend(values.into_iter().map(run));
                even.push(run(mean));
            }
        }
        let width = |runs: &[Observation]| {
            let (low, high) = analysed(runs, &Question::against(0)).comparisons[0].interval.unwrap();
            high - low
        };
        widths.push(width(&ragged) / width(&even));
    }
    assert!(widths.iter().all(|ratio| (ratio - 1.0).abs() < 1e-9), "{widths:?}");
}

/// The oracle knows the spreads, and finds the difference in 80 %. Šidák's rule, which knows
/// nothing of what the comparisons share, finds it in 39 %.
#[test]
fn a_noisy_baseline_does_not_take_a_family_its_power() {
    let world = World { conditions: 20, boots: 10, spreads: Some((6.0, 1.0)), ..BASE };
    let variance = (6.0 * 6.0 + 1.0) / world.boots as f64;
    let critical =
        Dunnett::new(&[6.0 / 37.0_f64.sqrt(); 19], f64::INFINITY).unwrap().upper_quantile(0.05).unwrap();
    let difference = (critical + gauss::quantile(0.8).unwrap()) * variance.sqrt();
    let mut random = ChaCha8Rng::seed_from_u64(21);
    let question = Question { design: Some(Design::Nested), ..Question::against(0) };
    let is_found = |random: &mut ChaCha8Rng| {
        let mut study = world.study(random);
        for run in study.iter_mut().filter(|run| run.condition == 1) {
            run.value += difference;
        }
        analysed(&study, &question).comparisons[0].verdict == Verdict::Higher
    };
    let studies = 400;
    let found = (0..studies).filter(|_| is_found(&mut random)).count();
    let power = found as f64 / f64::from(studies);
    // Two standard errors of 400 studies below 0.60, what was found in 1000 of them.
    assert!(power > 0.55, "{power}");
}

/// With equal weights in the effects of the boots a sixth of the mean variance, 22, is in the
/// estimated variance of each quiet condition, which is 1.
#[test]
fn noisy_conditions_in_the_same_boots_do_not_hide_a_difference_of_quiet_ones() {
    let mut random = ChaCha8Rng::seed_from_u64(22);
    let is_found = |random: &mut ChaCha8Rng| {
        let mut study = World { design: Design::Crossed, conditions: 6, boots: 10, ..BASE }.study(random);
        for run in &mut study {
            match run.condition {
                1 => run.value += 2.0,
                4 | 5 => run.value += 20.0 * normal(random),
                _ => {}
            }
        }
        analysed(&study, &Question::against(0)).comparisons[0].verdict == Verdict::Higher
    };
    let studies = 200;
    let found = (0..studies).filter(|_| is_found(&mut random)).count();
    assert!(found as f64 > 0.6 * f64::from(studies), "{found} of {studies}");
}
