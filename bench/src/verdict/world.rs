//! A world of known spread and known difference, to draw experiments from.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use stats::Observation;
use study::PlannedRun;

use super::experiment::Source;
use super::protocol::{CONDITIONS, Protocol};
use crate::failure::Failure;
use crate::random::normal;

/// How much boots and runs differ: standard deviations in % of the mean. All normal; runs
/// independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct World {
    /// Between boots, common to both conditions.
    pub(crate) boots: f64,
    /// What a boot does to one condition and not to the other.
    pub(crate) interaction: f64,
    /// Between runs, however long they are.
    pub(crate) floor: f64,
    /// Between runs of 1 s beyond that; it falls with the root of their length.
    pub(crate) white: f64,
}

impl World {
    /// The spread between runs of this length, in %.
    pub(crate) fn runs(&self, window: Duration) -> f64 {
        (self.floor.powi(2) + self.white.powi(2) / window.as_secs_f64()).sqrt()
    }
}

/// Boots drawn from a world.
pub(crate) struct Drawn<'a> {
    random: &'a mut ChaCha8Rng,
    world: World,
    /// By how many % condition 1 is lower.
    lower: f64,
    runs: f64,
    schedule: &'a [Vec<PlannedRun>],
}

impl<'a> Drawn<'a> {
    /// Boots of `protocol`, whose runs are `schedule`.
    pub(crate) fn new(
        world: World,
        lower: f64,
        protocol: &Protocol,
        schedule: &'a [Vec<PlannedRun>],
        random: &'a mut ChaCha8Rng,
    ) -> Self {
        Self { random, world, lower, runs: world.runs(protocol.window), schedule }
    }
}

impl Source for Drawn<'_> {
    fn boot(&mut self, boot: u32, observations: &mut Vec<Observation>) -> Result<(), Failure> {
        let common = self.world.boots * normal(self.random);
        let own: [f64; CONDITIONS] = [(); CONDITIONS].map(|()| self.world.interaction * normal(self.random));
        let of_boot = self.schedule.get(boot as usize - 1);
        let of_boot = of_boot.ok_or_else(|| Failure::Internal(format!("boot {boot} is not planned")))?;
        for run in of_boot.iter().filter(|run| !run.warmup) {
            let mean = if run.condition == 0 { 1.0 } else { 1.0 - self.lower / 100.0 };
            let percent = 100.0 + common + own[run.condition] + self.runs * normal(self.random);
            observations.push(Observation { condition: run.condition, boot, value: mean * percent });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng as _;
    use stats::{Question, analyse};

    use crate::verdict::protocol::Rule;

    #[test]
    fn what_is_drawn_has_the_spread_and_the_difference() {
        let world = World { boots: 3.0, interaction: 2.0, floor: 0.6, white: 0.8 };
        assert!((world.runs(Duration::from_secs(1)) - 1.0).abs() < 1e-12);
        assert!((world.runs(Duration::from_millis(10)) - 8.022_468).abs() < 1e-6);

        let protocol = Protocol::of_components(2000, 5, Duration::ZERO, Duration::from_secs(1));
        assert_eq!(protocol.rule, Rule::BootMeans);
        let (schedule, mut random) = (protocol.runs(), ChaCha8Rng::seed_from_u64(1));
        let mut drawn = Drawn::new(world, 10.0, &protocol, &schedule, &mut random);
        let mut observations = Vec::new();
        (1..=2000).for_each(|boot| drawn.boot(boot, &mut observations).unwrap());
        let analysis = analyse(&observations, &Question::against(0)).unwrap();
        let parts = analysis.components;
        let parts = [parts.boots, parts.interaction, parts.runs].map(|part| part.unwrap().sd);
        // Condition 1 has 90 % of everything; four standard errors of each.
        for (sd, expected, most) in [(parts[0], 2.85, 0.25), (parts[1], 1.9, 0.15), (parts[2], 0.951, 0.02)] {
            assert!((sd - expected).abs() < most, "{parts:?}");
        }
        let difference = analysis.comparisons[0].relative.unwrap();
        assert!((difference + 10.0).abs() < 0.3, "{difference}");
    }
}
