//! The rate at which a robust check disagrees: seldom on normal data, whatever differs; often if
//! wild runs hide a difference.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysed;
#[macro_use]
mod sizes;

use std::f64::consts::TAU;

use analysed::analysed;
use netassay_stats::{Comparison, Observation, Question, Verdict};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

in_two_sizes! { 200, 1_000, "1,000 experiments, of which the gate makes 200":
    on_normal_data_a_check_seldom_disagrees
}

#[derive(Clone, Copy, Debug)]
struct World {
    crossed: bool,
    conditions: usize,
    boots: u32,
    runs: usize,
    /// sd of what a boot does to a condition, that of runs being 1.
    boot: f64,
    /// The difference of condition 1 from condition 0.
    difference: f64,
    /// The chance that a run is wild, and by how much.
    wild: (f64, f64),
}

const WORLD: World =
    World { crossed: true, conditions: 2, boots: 10, runs: 5, boot: 0.5, difference: 0.0, wild: (0.0, 0.0) };

/// Box and Muller's transformation.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

impl World {
    fn draw(self, random: &mut ChaCha8Rng) -> Vec<Observation> {
        let mut observations = Vec::new();
        let (chance, size) = self.wild;
        let wild = |random: &mut ChaCha8Rng| if random.random::<f64>() < chance { size } else { 0.0 };
        for condition in 0..self.conditions {
            for number in 0..self.boots {
                let boot = if self.crossed { number } else { condition as u32 * self.boots + number };
                let shift = if condition == 1 { self.difference } else { 0.0 };
                let level = 100.0 + shift + self.boot * normal(random);
                // Boots were wild too once: the seeds keep their worlds.
                random.random::<f64>();
                for _ in 0..self.runs {
                    let value = level + normal(random) + wild(random);
                    observations.push(Observation { condition, boot, value });
                }
            }
        }
        observations
    }

    /// Of so many experiments, how many prove the difference of condition 1, and in how many the
    /// check disagrees there.
    fn count(self, experiments: usize, seed: u64) -> (usize, usize) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut proven, mut shown) = (0, 0);
        for _ in 0..experiments {
            let one = self.judged(&mut random);
            proven += usize::from(matches!(one.verdict, Verdict::Higher | Verdict::Lower));
            shown += usize::from(one.checks.iter().any(|check| !check.agrees));
        }
        (proven, shown)
    }

    fn judged(self, random: &mut ChaCha8Rng) -> Comparison {
        analysed(&self.draw(random), &Question::against(0)).comparisons.swap_remove(0)
    }

    /// The standard error of the difference.
    fn error(self) -> f64 {
        (2.0 * (self.boot * self.boot + 1.0 / self.runs as f64) / f64::from(self.boots)).sqrt()
    }
}

/// The chance that any check disagrees on normal data where nothing differs, and where something
/// does: once in a thousand times it leaves more than 20, or 40, of 1,000 experiments.
const SELDOM: [f64; 2] = [0.0101, 0.0245];

fn on_normal_data_a_check_seldom_disagrees(experiments: usize) {
    let designs =
        [(true, 2, 3, 10), (true, 2, 10, 3), (false, 2, 3, 10), (false, 2, 10, 3), (false, 4, 5, 5)];
    for (seed, (crossed, conditions, boots, runs)) in (1..).zip(designs) {
        for boot in [0.0, 1.0] {
            let base = World { crossed, conditions, boots, runs, boot, ..WORLD };
            // No difference, and differences found in about half and in most experiments.
            for times in [0.0, 2.0, 3.5] {
                let world = World { difference: times * base.error(), ..base };
                let (_, shown) = world.count(experiments, seed);
                let chance = SELDOM[usize::from(times > 0.0)];
                let mean = chance * experiments as f64;
                let most = mean + 3.29 * (mean * (1.0 - chance)).sqrt();
                assert!(shown as f64 <= most, "{shown} of {experiments} in {world:?}");
            }
        }
    }
}

#[test]
fn wild_runs_that_hide_a_difference_are_reported() {
    let experiments = 300;
    for crossed in [true, false] {
        // One run in fifty is 50 sd off: nearly every experiment has one.
        let base = World { crossed, wild: (0.02, 50.0), ..WORLD };
        let (proven, shown) = World { difference: 6.0 * base.error(), ..base }.count(experiments, 9);
        // A clean experiment would prove it in 99 of 100.
        assert!(proven < experiments / 2, "{proven} of {experiments} in {base:?}");
        assert!(shown > (experiments - proven) / 2, "{shown} of {experiments} in {base:?}");
        // Without a difference nothing is reported.
        let (_, shown) = base.count(experiments, 10);
        assert!(shown <= experiments / 33, "{shown} of {experiments} in {base:?}");
    }
}

#[test]
fn a_wild_run_is_said_to_hide_a_difference() {
    let base = World { difference: 5.0, ..WORLD };
    let mut runs = base.draw(&mut ChaCha8Rng::seed_from_u64(4));
    // The third run of boot 6 of the baseline.
    let place = runs.iter().position(|run| (run.condition, run.boot) == (0, 6)).unwrap() + 2;
    runs[place].value = 4000.0;
    let one = analysed(&runs, &Question::against(0)).comparisons.remove(0);
    assert_eq!(one.verdict, Verdict::NoDifferenceProven);
    let [check] = one.checks.as_slice() else { panic!("{one:?}") };
    assert_eq!((check.looks, check.agrees), ("run_medians", false));
    let said = check.sentence(false);
    assert!(
        said.starts_with(
            "robust check disagrees: by the medians of the boots' runs there is a difference (+"
        ) && said.ends_with("single runs hide the difference from the verdict"),
        "{said}"
    );
}
