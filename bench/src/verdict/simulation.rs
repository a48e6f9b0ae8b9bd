//! Thousands of experiments drawn from a world.

use std::thread;

use agent::Interrupt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use stats::Spending;

use super::experiment::{Worth, conduct};
use super::protocol::{Costs, Protocol};
use super::tally::Tally;
use super::world::{Drawn, World};
use crate::failure::Failure;

/// A simulation leaves the machine's other CPUs to other programs.
pub(super) const THREADS: u32 = 2;

/// What experiments are drawn from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) world: World,
    pub(crate) costs: Costs,
    pub(crate) experiments: u32,
    pub(crate) seed: u64,
}

impl Draw {
    /// Conducts the experiments: condition 1 is `lower` % lower. Every protocol is given the same
    /// random numbers, whatever the number of threads.
    pub(crate) fn simulate(
        &self,
        protocol: &Protocol,
        lower: f64,
        interrupt: &Interrupt,
    ) -> Result<Tally, Failure> {
        let part = |thread: u32| {
            let (mut tally, spending) = (Tally::default(), Spending::default());
            for experiment in (thread..self.experiments).step_by(THREADS as usize) {
                if interrupt.is_tripped() {
                    return Err(Failure::Interrupted);
                }
                self.one(protocol, lower, experiment, &mut tally, &spending)?;
            }
            Ok(tally)
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
            threads.into_iter().try_fold(Tally::default(), |sum, thread| {
                let panicked = |_| Failure::Internal("an experiment panicked".to_owned());
                Ok(sum.with(thread.join().map_err(panicked)??))
            })
        })
    }

    fn one(
        &self,
        protocol: &Protocol,
        lower: f64,
        experiment: u32,
        tally: &mut Tally,
        spending: &Spending,
    ) -> Result<(), Failure> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(experiment.into());
        let schedule = protocol.runs();
        let mut drawn = Drawn::new(self.world, lower, protocol, &schedule, &mut random);
        let ended = conduct(protocol, &mut drawn, &mut Vec::new(), spending)?;
        tally.add(Worth::of(ended.verdict, lower > 0.0), protocol.seconds(ended.boots, self.costs));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::verdict::protocol::Rule;

    #[test]
    fn the_pooled_test_cries_wolf_where_boots_differ_and_boot_means_do_not() {
        let world = World { boots: 3.0, interaction: 1.0, floor: 1.0, white: 0.0 };
        let costs = Costs { boot: 0.0, run: 0.0 };
        let draw = Draw { world, costs, experiments: 1000, seed: 1 };
        let interrupt = Interrupt::new().unwrap();
        let wrong = |rule| {
            let protocol = Protocol::of_r1("", rule, Duration::from_secs(10));
            let tally = draw.simulate(&protocol, 0.0, &interrupt).unwrap();
            assert!((tally.median() - 660.0).abs() < 1e-9);
            assert_eq!(
                tally,
                draw.simulate(&protocol, 0.0, &interrupt).unwrap(),
                "the same seed, the same draws"
            );
            tally.wrong().0
        };
        // 5 % of 1000 lie within 2.9 % and 7.4 % with a probability of 99.9 %.
        let boot_means = wrong(Rule::BootMeans);
        assert!((2.9..=7.4).contains(&boot_means), "{boot_means}");
        assert!(wrong(Rule::PooledRuns) > 15.0);
    }
}
