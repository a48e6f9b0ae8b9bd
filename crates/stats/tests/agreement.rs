//! The rate at which two ways of measuring are said to disagree: in worlds like the measured ones,
//! with a fixed seed.

mod normal;
#[macro_use]
mod sizes;

use netassay_stats::agreement::{EitherWay, agree};
use normal::normal;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

in_two_sizes! { 2_000, 10_000, "10,000 experiments, of which the gate makes 2,000":
    ways_that_agree_are_said_to_disagree_as_rarely_as_stated
}

/// A condition `lower` % below its baseline, and `more` points more the second way. Boots differ
/// by 6 %. Standard deviations in %: of what a boot does to one condition, whichever way, of a
/// flow with turns, and of each run of its own.
struct World {
    boots: u32,
    lower: f64,
    more: f64,
    interaction: f64,
    turns: f64,
    run: f64,
}

const WORLD: World = World { boots: 5, lower: 20.0, more: 0.0, interaction: 1.0, turns: 0.6, run: 3.6 };

impl World {
    fn draw(&self, random: &mut ChaCha8Rng) -> Vec<EitherWay> {
        let mut runs = Vec::new();
        for boot in 1..=self.boots {
            let common = 6.0 * normal(random);
            let own = [0.0, self.interaction * normal(random)];
            // A flow's common effect on its conditions.
            let flow = self.run * normal(random);
            for second in [false, true] {
                for of_condition in [false, true] {
                    let lower = self.lower + if second { self.more } else { 0.0 };
                    let level = if of_condition { 1.0 - lower / 100.0 } else { 1.0 };
                    let chance =
                        if second { self.run * normal(random) } else { flow + self.turns * normal(random) };
                    let percent = 100.0 + common + own[usize::from(of_condition)] + chance;
                    runs.push(EitherWay { boot, second, of_condition, value: level * percent });
                }
            }
        }
        runs
    }

    /// The number of experiments that find a disagreement in any of the comparisons.
    fn disagree(&self, experiments: u32, comparisons: usize) -> u32 {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut found = 0;
        for _ in 0..experiments {
            let all: Vec<Vec<EitherWay>> = (0..comparisons).map(|_| self.draw(&mut random)).collect();
            found += u32::from(agree(&all, 0.95).iter().flatten().any(|one| !one.agree));
        }
        found
    }
}

fn ways_that_agree_are_said_to_disagree_as_rarely_as_stated(experiments: u32) {
    // A chance of 5 % leaves more or less than this once in 10,000 times: 86 more of 10,000.
    let (mean, reach) = (0.05 * f64::from(experiments), 3.946 * (0.0475 * f64::from(experiments)).sqrt());
    for boots in [2, 3, 5, 10] {
        for comparisons in [1, 3] {
            let found = World { boots, ..WORLD }.disagree(experiments, comparisons);
            assert!(f64::from(found) < mean + reach, "{boots} boots, {comparisons} comparisons: {found}");
        }
    }
    // And not much more rarely.
    let found = WORLD.disagree(experiments, 1);
    assert!(f64::from(found) > mean - reach, "{found}");
}

#[test]
fn a_planted_disagreement_is_found() {
    let quiet = World { boots: 10, run: 2.0, ..WORLD };
    assert!(World { more: 6.0, ..quiet }.disagree(1000, 1) > 950);
    assert!(World { more: -6.0, ..quiet }.disagree(1000, 3) > 950);
}
