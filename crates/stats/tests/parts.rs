//! Whether the functions of a profile hold together at few boots, and how often a difference is
//! found: in worlds like those of `netassay trace STUDY --profile`, with a fixed seed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod normal;

use netassay_stats::parts::{Divided, explain};
use netassay_stats::{Comparison, Verdict};
use normal::normal;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Samples of a run, and what a message takes: some 64 functions with half a hundredth to an eighth
/// of it, as the kernel's path of a datagram has.
const SAMPLES: f64 = 4200.0;
const MESSAGE: f64 = 9000.0;
const FUNCTIONS: usize = 64;
/// The function that takes more, by as many of the differences' standard errors.
const MORE: (usize, f64) = (20, 8.0);

#[derive(Clone, Copy, Debug)]
struct World {
    boots: u32,
    /// Whether a boot measures both conditions.
    shared: bool,
    /// The spread between boots of a function's time, as a part of it.
    between: f64,
    /// The standard deviation, over functions, of the logarithm of how much more their samples
    /// vary than independent ones.
    bunches: f64,
}

impl World {
    fn shares() -> [f64; FUNCTIONS] {
        std::array::from_fn(|place| match place {
            0 => 0.12,
            // From 5 % down to half a hundredth.
            _ => (0.05 * (place as f64 / 2.0 + 0.5).powf(-0.7)).max(0.005),
        })
    }

    fn runs(self, random: &mut ChaCha8Rng, is_null: bool) -> Vec<Divided> {
        let shares = Self::shares();
        let bunches: Vec<f64> = shares.iter().map(|_| (self.bunches * normal(random)).exp()).collect();
        let sample = MESSAGE / SAMPLES;
        let mut runs = Vec::new();
        for boot in 0..self.boots {
            for of_condition in [false, true] {
                let cost = |(place, share): (usize, &f64)| {
                    let count = SAMPLES * share;
                    let error = (2.0 * count / f64::from(self.boots)).sqrt();
                    let more = if of_condition && !is_null && place == MORE.0 { MORE.1 * error } else { 0.0 };
                    let boot = count * self.between * normal(random);
                    let chance = (count * bunches[place]).sqrt() * normal(random);
                    sample * (count + more + boot + chance).max(0.0)
                };
                let parts: Vec<f64> = shares.iter().enumerate().map(cost).collect();
                let by_count = parts.iter().map(|part| part * sample).collect();
                let boot = if self.shared || !of_condition { boot } else { self.boots + boot };
                runs.push(Divided { of_condition, boot, whole: MESSAGE, parts, by_count });
            }
        }
        runs
    }

    /// The share of studies, in %, in which any function is found to differ though none does.
    fn wrong(self, random: &mut ChaCha8Rng) -> f64 {
        let is_wrong = |_: &u32| {
            explain(&[self.runs(random, true)], 0.95)
                .unwrap()
                .iter()
                .any(|one| one.parts.iter().any(is_found))
        };
        100.0 * (0..NULL).filter(is_wrong).count() as f64 / f64::from(NULL)
    }

    /// The share in which that is found which does: with moderated spreads, and each function by
    /// itself.
    fn found(self, random: &mut ChaCha8Rng) -> [f64; 2] {
        let mut found = [0.0; 2];
        for _ in 0..DIFFERENT {
            let mut runs = self.runs(random, false);
            for found in &mut found {
                let part = explain(&[runs.clone()], 0.95).unwrap().remove(0).parts.remove(MORE.0);
                *found += 100.0 * f64::from(u8::from(is_found(&part))) / f64::from(DIFFERENT);
                runs.iter_mut().for_each(|run| run.by_count.clear());
            }
        }
        found
    }
}

fn is_found(part: &Comparison) -> bool {
    matches!(part.verdict, Verdict::Higher | Verdict::Lower)
}

/// Studies of each kind: an analysis of so many functions takes long.
const NULL: u32 = 100;
const DIFFERENT: u32 = 25;
/// 99.9 % of shares whose chance is 5 % lie below this, in %.
const MOST: f64 = 13.0;

const fn world(boots: u32, shared: bool, between: f64, bunches: f64) -> World {
    World { boots, shared, between, bunches }
}

fn holds_together_and_finds(world: World) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (wrong, [found, alone]) = (world.wrong(&mut random), world.found(&mut random));
    assert!(wrong <= MOST, "{wrong} % in {world:?}");
    assert!(found >= 30.0 && found > alone + 10.0, "{found} %, by itself {alone} % in {world:?}");
}

#[test]
fn functions_hold_together_and_few_boots_find_what_differs() {
    holds_together_and_finds(world(3, false, 0.1, 0.5));
}

#[test]
#[ignore = "boots that are shared, alike or more: the gate has one world"]
fn functions_hold_together_in_other_worlds() {
    holds_together_and_finds(world(3, true, 0.0, 0.0));
    holds_together_and_finds(world(5, true, 0.03, 0.5));
}
