//! A world of known spread and known difference, to draw experiments from.

use std::time::Duration;

use agent::Interrupt;
use clap::Args;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use stats::simulate::normal;
use stats::{Observation, Spending};
use study::PlannedRun;

use super::experiment::{conduct, experiments};
use super::protocol::{CONDITIONS, Costs, Protocol, number};
use super::tally::{Tally, Worth};
use crate::failure::Failure;

/// How much boots and runs differ, and what they cost: standard deviations in % of the mean, all
/// normal, runs independent of each other; by default what was measured of `udp_stream` on the
/// machine of `README.md`, which others were using.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Args)]
pub(crate) struct World {
    /// Spread between boots, common to both conditions, in % of the mean
    #[arg(long, default_value_t = 6.4, value_parser = number)]
    boot_sd: f64,
    /// Spread of what a boot does to one condition only
    #[arg(long, default_value_t = 1.1, value_parser = number)]
    pub(super) interaction: f64,
    /// Spread between runs, however long they are
    #[arg(long, default_value_t = 6.3, value_parser = number)]
    floor: f64,
    /// Spread between runs of 1 s beyond that; it falls with the root of their length
    #[arg(long, default_value_t = 4.6, value_parser = number)]
    white: f64,
    #[command(flatten)]
    pub(super) costs: Costs,
}

impl World {
    /// What the world is, for a reader.
    pub(super) fn words(&self) -> String {
        let Self { boot_sd, interaction, .. } = self;
        let (short, long) = (self.runs(Duration::from_millis(200)), self.runs(Duration::from_secs(10)));
        format!(
            "simulated: standard deviations of {boot_sd} % between boots, {interaction} % of condition x boot, {short:.2} % between runs of \
             0.2 s and {long:.2} % between runs of 10 s"
        )
    }

    /// The spread between runs of this length, in %.
    pub(super) fn runs(&self, window: Duration) -> f64 {
        (self.floor.powi(2) + self.white.powi(2) / window.as_secs_f64()).sqrt()
    }

    /// Conducts experiments: condition 1 is `lower` % lower. Every protocol is given the same
    /// random numbers, whatever the number of threads.
    pub(super) fn simulate(
        &self,
        protocol: &Protocol,
        lower: f64,
        count: u32,
        interrupt: &Interrupt,
    ) -> Result<Tally, Failure> {
        let window = protocol.window;
        let tally = experiments(count, interrupt, Spending::default, |spending, number| {
            let mut random = ChaCha8Rng::seed_from_u64(1);
            random.set_stream(number.into());
            let (boots, verdict) =
                conduct(protocol, spending, &mut Vec::new(), |boot, runs, observations| {
                    self.draw(&mut random, (lower, window), boot, runs, observations);
                    Ok(())
                })?;
            Ok((Worth::of(verdict, lower > 0.0), protocol.seconds(boots, self.costs)))
        });
        tally.map(Tally)
    }

    /// Draws the runs of a boot; condition 1 is `lower` % lower.
    fn draw(
        &self,
        random: &mut ChaCha8Rng,
        (lower, window): (f64, Duration),
        boot: u32,
        runs: &[PlannedRun],
        observations: &mut Vec<Observation>,
    ) {
        let common = self.boot_sd * normal(random);
        let own = [(); CONDITIONS].map(|()| self.interaction * normal(random));
        for run in runs.iter().filter(|run| !run.warmup) {
            let condition = run.condition;
            let mean = if condition == 0 { 1.0 } else { 1.0 - lower / 100.0 };
            let percent = 100.0 + common + own[condition] + self.runs(window) * normal(random);
            observations.push(Observation { condition, boot, value: mean * percent });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::protocol::Rule;
    use stats::{Question, analyse};

    const COSTS: Costs = Costs { boot: 0.0, run: 0.0 };

    #[test]
    fn what_is_drawn_has_the_spread_and_the_difference() {
        let world = World { boot_sd: 3.0, interaction: 2.0, floor: 0.6, white: 0.8, costs: COSTS };
        let second = Duration::from_secs(1);
        assert!((world.runs(second) - 1.0).abs() < 1e-12);
        assert!((world.runs(Duration::from_millis(10)) - 8.022_468).abs() < 1e-6);

        let runs = &Protocol::of_r1("", Rule::BootMeans, second).runs()[0];
        let (mut random, mut observations) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
        (1..=2000).for_each(|boot| world.draw(&mut random, (10.0, second), boot, runs, &mut observations));
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

    #[test]
    fn the_pooled_test_errs_often_where_boots_differ_and_boot_means_do_not() {
        let world = World { boot_sd: 3.0, interaction: 1.0, floor: 1.0, white: 0.0, costs: COSTS };
        let interrupt = Interrupt::new().unwrap();
        let wrong = |rule| {
            let protocol = Protocol::of_r1("", rule, Duration::from_secs(10));
            let simulate = || world.simulate(&protocol, 0.0, 1000, &interrupt).unwrap();
            let tally = simulate();
            assert!((tally.median() - 660.0).abs() < 1e-9);
            assert_eq!(tally, simulate(), "the same seed, the same draws");
            100.0 * tally.share(Worth::Wrong).rate
        };
        // 5 % of 1000 lie within 2.9 % and 7.4 % with a probability of 99.9 %.
        let boot_means = wrong(Rule::BootMeans);
        assert!((2.9..=7.4).contains(&boot_means), "{boot_means}");
        assert!(wrong(Rule::PooledRuns) > 15.0);
    }
}
