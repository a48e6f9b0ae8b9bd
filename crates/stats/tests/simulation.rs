//! The promises of the intervals, by simulation with a fixed seed: y = condition + boot + (condition x boot) + run, all
//! normal, with the spread inside a boot as the unit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::f64::consts::TAU;

use netassay_stats::ministat::{Level, Set};
use netassay_stats::{Comparison, Observation, Question, Verdict, analyse};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EXPERIMENTS: usize = 4000;

/// The world an experiment is drawn from.
#[derive(Clone, Copy, Debug)]
struct World {
    means: [f64; 2],
    /// sd between boots.
    boots: f64,
    /// sd of what a boot does to one condition and not to the other.
    interaction: f64,
    boot_count: u32,
    runs: usize,
}

impl World {
    fn a_a(boots: f64, interaction: f64) -> World {
        World { means: [100.0; 2], boots, interaction, boot_count: 3, runs: 10 }
    }

    fn experiment(self, random: &mut ChaCha8Rng) -> Vec<Observation> {
        let mut observations = Vec::new();
        for boot in 1..=self.boot_count {
            let boot_effect = self.boots * normal(random);
            for (condition, mean) in self.means.into_iter().enumerate() {
                let centre = mean + boot_effect + self.interaction * normal(random);
                observations.extend((0..self.runs).map(|_| Observation {
                    condition,
                    boot,
                    value: centre + normal(random),
                }));
            }
        }
        observations
    }

    /// How many experiments of `EXPERIMENTS` satisfy `is_hit`.
    fn count(self, seed: u64, is_hit: impl Fn(&[Observation]) -> bool) -> usize {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..EXPERIMENTS).filter(|_| is_hit(&self.experiment(&mut random))).count()
    }
}

/// Box and Muller's transformation.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// The range that a count with chance `p` leaves once in a thousand times.
fn expected(p: f64) -> std::ops::RangeInclusive<usize> {
    let n = EXPERIMENTS as f64;
    let (mean, reach) = (n * p, 3.29 * (n * p * (1.0 - p)).sqrt());
    (mean - reach).ceil() as usize..=(mean + reach).floor() as usize
}

fn first(observations: &[Observation]) -> Comparison {
    analyse(observations, &Question::against(0)).unwrap().comparisons.remove(0)
}

fn cries_wolf(observations: &[Observation]) -> bool {
    first(observations).verdict != Verdict::NoDifferenceProven
}

fn pooled_t_cries_wolf(observations: &[Observation]) -> bool {
    let set = |condition| {
        let runs = observations.iter().filter(|run| run.condition == condition);
        Set::new("a", runs.map(|run| run.value).collect()).unwrap()
    };
    set(1).against(&set(0), Level::default()).is_proven
}

#[test]
fn five_percent_false_positives_however_boots_differ() {
    for (case, (boots, interaction)) in
        [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 1.0), (1.0, 1.0), (2.0, 2.0)].into_iter().enumerate()
    {
        let world = World::a_a(boots, interaction);
        let count = world.count(case as u64, cries_wolf);
        assert!(expected(0.05).contains(&count), "{count} of {EXPERIMENTS} in {world:?}");
    }
}

#[test]
fn runs_left_out_and_boots_left_out_keep_the_five_percent() {
    let world = World { boot_count: 5, ..World::a_a(1.0, 1.0) };
    // Boot 1 lacks the baseline, boot 2 has lost most of its runs.
    let ragged = |observations: &[Observation]| {
        let mut runs = observations.to_vec();
        runs.retain(|run| !(run.boot == 1 && run.condition == 0));
        let mut kept = 0;
        runs.retain(|run| {
            kept += usize::from(run.boot == 2);
            run.boot != 2 || run.condition == 0 || kept % 4 == 0
        });
        let result = first(&runs);
        assert_eq!((result.boots, result.boots_left_out), (4, 1));
        result.verdict != Verdict::NoDifferenceProven
    };
    let count = world.count(11, ragged);
    assert!(expected(0.05).contains(&count), "{count} of {EXPERIMENTS}");
}

#[test]
fn the_pooled_test_does_not_keep_it_so_this_simulation_can_tell() {
    let count = World::a_a(1.0, 1.0).count(4, pooled_t_cries_wolf);
    assert!(count > EXPERIMENTS / 4, "{count} of {EXPERIMENTS}");
    // And without any boot effect it does, so it is the boots that break it.
    let count = World::a_a(0.0, 0.0).count(0, pooled_t_cries_wolf);
    assert!(expected(0.05).contains(&count), "{count} of {EXPERIMENTS}");
}

#[test]
fn intervals_hold_the_truth_in_ninety_five_of_a_hundred() {
    let world = World { means: [100.0, 80.0], boot_count: 4, ..World::a_a(2.0, 1.0) };
    let holds = |interval: Option<(f64, f64)>, truth: f64| {
        let (low, high) = interval.unwrap();
        low <= truth && truth <= high
    };
    let difference = world.count(21, |runs| holds(first(runs).interval, -20.0));
    assert!(expected(0.95).contains(&difference), "{difference} of {EXPERIMENTS}");
    let percentage = world.count(22, |runs| holds(first(runs).relative_interval, -20.0));
    assert!(expected(0.95).contains(&percentage), "{percentage} of {EXPERIMENTS}");
}

#[test]
fn a_percentage_of_a_noisy_baseline_is_right_or_not_defined() {
    // The baseline's mean is about two standard errors from zero: often there is no percentage, and a stated
    // one may miss no oftener than in 5 of 100 experiments.
    let world = World { means: [1.5, 3.0], boot_count: 4, ..World::a_a(1.0, 0.5) };
    let undefined = world.count(31, |runs| first(runs).relative_interval.is_none());
    assert!(undefined > EXPERIMENTS / 4, "{undefined} of {EXPERIMENTS}");
    let wrong = world.count(31, |runs| {
        first(runs).relative_interval.is_some_and(|(low, high)| 100.0 < low || high < 100.0)
    });
    assert!(wrong <= *expected(0.05).end(), "{wrong} of {EXPERIMENTS}");
}

#[test]
fn a_real_difference_is_found() {
    let world = World { means: [100.0, 95.0], ..World::a_a(2.0, 0.3) };
    let found = world.count(41, |runs| first(runs).verdict == Verdict::Lower);
    assert!(found > EXPERIMENTS * 95 / 100, "{found} of {EXPERIMENTS}");
}
