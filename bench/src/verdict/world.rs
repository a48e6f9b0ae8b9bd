//! A world of known spread and known difference, to draw experiments from.

use std::time::Duration;

use agent::Interrupt;
use clap::Args;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use stats::{Observation, Spending};
use study::{PlannedRun, Turn};

use super::experiment::{conduct, experiments};
use super::protocol::{CONDITIONS, Costs, Protocol, number};
use super::tally::{Tally, Worth};
use crate::failure::Failure;
use crate::normal::normal;

/// How much boots, runs and turns differ, and what they cost: standard deviations in % of the mean,
/// all normal, runs independent of each other; by default what was measured of `udp_stream` on the
/// machine of `README.md`, which others were using.
///
/// A flow in which conditions take turns has the floor of a run, the same for both of them. Its
/// turns spread by a part that is independent and by a slow one, an autoregression of first order.
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
    /// Spread between turns of 100 ms in a flow, from one turn to the next
    #[arg(long, default_value_t = 17.0, value_parser = number)]
    turn_white: f64,
    /// Slow spread of a flow's turns, of which a turn hands on 85 % to the next
    #[arg(long, default_value_t = 12.0, value_parser = number)]
    turn_slow: f64,
    #[command(flatten)]
    pub(super) costs: Costs,
}

impl World {
    /// What the world is, for a reader.
    pub(super) fn description(&self) -> String {
        let Self { boot_sd, interaction, .. } = self;
        let (short, long) = (self.runs(Duration::from_millis(200)), self.runs(Duration::from_secs(10)));
        let [flow, longer] = [4, 32].map(|turns| self.in_flow(&alternating(turns)));
        format!(
            "simulated: standard deviations of {boot_sd} % between boots, {interaction} % of condition x boot, {short:.2} % between runs of \
             0.2 s and {long:.2} % between runs of 10 s; of a condition in a flow with turns, beside what it shares with the other, {flow:.2} % \
             with 4 turns of each and {longer:.2} % with 32"
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
        let tally = experiments(count, interrupt, Spending::default, |spending, number| {
            let mut random = ChaCha8Rng::seed_from_u64(1);
            random.set_stream(number.into());
            let (boots, verdict) =
                conduct(protocol, spending, &mut Vec::new(), |boot, runs, observations| {
                    self.draw(&mut random, (lower, protocol), boot, runs, observations);
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
        (lower, protocol): (f64, &Protocol),
        boot: u32,
        runs: &[PlannedRun],
        observations: &mut Vec<Observation>,
    ) {
        let common = self.boot_sd * normal(random);
        let own = [(); CONDITIONS].map(|()| self.interaction * normal(random));
        let mut observe = |condition: usize, chance: f64| {
            let mean = if condition == 0 { 1.0 } else { 1.0 - lower / 100.0 };
            let value = mean * (100.0 + common + own[condition] + chance);
            observations.push(Observation { condition, boot, value });
        };
        for run in runs.iter().filter(|run| !run.warmup) {
            match protocol.turns(run) {
                None => observe(run.condition, self.runs(protocol.window) * normal(random)),
                // Both conditions have one run in each block.
                Some(turns) if run.condition == 0 => {
                    let shared = self.floor * normal(random);
                    let chances = self.turns(random, &turns);
                    (0..).zip(chances).for_each(|(condition, chance)| observe(condition, shared + chance));
                }
                Some(_) => {}
            }
        }
    }

    /// The mean of each condition's counted turns in a flow.
    fn turns(&self, random: &mut ChaCha8Rng, turns: &[Turn]) -> [f64; CONDITIONS] {
        let mut slow = self.turn_slow * normal(random);
        let (mut sums, mut counts) = ([0.0; CONDITIONS], [0.0; CONDITIONS]);
        for turn in turns {
            slow = MEMORY * slow + (1.0 - MEMORY * MEMORY).sqrt() * self.turn_slow * normal(random);
            let chance = slow + self.turn_white * normal(random);
            if turn.counts {
                sums[turn.state] += chance;
                counts[turn.state] += 1.0;
            }
        }
        std::array::from_fn(|own| sums[own] / f64::max(counts[own], 1.0))
    }

    /// The spread of a condition in a flow with these turns, beside what it shares with the other:
    /// that of their difference over the root of 2.
    pub(super) fn in_flow(&self, turns: &[Turn]) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut square = || {
            let [one, other] = self.turns(&mut random, turns);
            (one - other).powi(2) / 2.0
        };
        ((0..PILOT).map(|_| square()).sum::<f64>() / f64::from(PILOT)).sqrt()
    }
}

/// What a turn hands on of the slow part to the next. Autocorrelations of turns of 100 ms in flows
/// in which nothing was switched, eight flows of `udp_stream` of 200 bytes on a busy machine: 0.36,
/// 0.26, 0.28, 0.16, 0.14, 0.08, which is 0.85^lag of a third of the variance.
const MEMORY: f64 = 0.85;

/// Flows from which a spread is known to 1 %.
const PILOT: u32 = 5000;

/// So many counted turns of each condition, in blocks as a study has them.
fn alternating(turns: usize) -> Vec<Turn> {
    let turn = |state, counts| Turn { state, counts };
    let block =
        [(0, false), (0, true), (1, true), (1, true), (0, true), (0, true), (1, true), (1, true), (0, true)];
    (0..turns / 4).flat_map(|_| block.map(|(state, counts)| turn(state, counts))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::protocol::Rule;
    use stats::{Question, analyse};
    use study::Percent;

    const WORLD: World = World {
        boot_sd: 0.0,
        interaction: 0.0,
        floor: 0.0,
        white: 0.0,
        turn_white: 4.0,
        turn_slow: 3.0,
        costs: Costs { boot: 0.0, run: 0.0 },
    };

    #[test]
    fn what_is_drawn_has_the_spread_and_the_difference() {
        let world = World { boot_sd: 3.0, interaction: 2.0, floor: 0.6, white: 0.8, ..WORLD };
        let second = Duration::from_secs(1);
        assert!((world.runs(second) - 1.0).abs() < 1e-12);
        assert!((world.runs(Duration::from_millis(10)) - 8.022_468).abs() < 1e-6);

        let protocol = Protocol::of_r1("", Rule::BootMeans, second);
        let runs = &protocol.runs()[0];
        let (mut random, mut observations) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
        (1..=2000).for_each(|boot| world.draw(&mut random, (10.0, &protocol), boot, runs, &mut observations));
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
    fn what_a_flow_does_to_both_conditions_is_not_in_their_difference() {
        let world = World { floor: 5.0, ..WORLD };
        let window = Duration::from_millis(320);
        let percent = Percent::parse("2%").unwrap();
        let protocol =
            Protocol::in_turns(percent, (20, 2), (Duration::ZERO, window), Duration::from_millis(100))
                .unwrap();
        let runs = &protocol.runs()[0];
        let (mut random, mut observations) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
        (1..=2000).for_each(|boot| world.draw(&mut random, (0.0, &protocol), boot, runs, &mut observations));
        assert_eq!(observations.len(), 2000 * 2 * 2);
        let differences = observations.chunks(2).map(|pair| pair[1].value - pair[0].value);
        let sd = (differences.map(|one| one * one).sum::<f64>() / 8000.0).sqrt();
        // Independent turns alone would give 4 % / 2, and the slow part adds little of its 3 %.
        assert!((2.0..3.0).contains(&sd), "{sd}");
        let planned = world.in_flow(&alternating(4));
        assert!((sd / planned - 1.0).abs() < 0.1, "{sd} {planned}");
        // Longer flows know it better.
        assert!(world.in_flow(&alternating(32)) < planned / 2.0);
    }

    #[test]
    fn the_pooled_test_errs_often_where_boots_differ_and_boot_means_do_not() {
        let world = World { boot_sd: 3.0, interaction: 1.0, floor: 1.0, white: 0.0, ..WORLD };
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
