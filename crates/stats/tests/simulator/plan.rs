//! The plan of a simulation.

use super::bootstrap::RESAMPLES;
use super::methods::Method;
use super::world::World;

/// The most random numbers: some minutes of two CPUs.
const MOST_WORK: f64 = 1e11;

const NO_SPREAD: &str =
    "with no spread between boots and none between runs there is nothing to simulate: give one of them";

/// The experiments to simulate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// The world, except for what the tables vary.
    pub(crate) world: World,
    /// The standard deviations between boots (crossed designs: of condition x boot) to simulate, in
    /// the metric's unit.
    pub(crate) between: Vec<f64>,
    /// The differences between condition 1 and condition 0 to simulate, in the metric's unit.
    pub(crate) differences: Vec<f64>,
    /// The deciding methods.
    pub(crate) methods: Vec<Method>,
    /// The number of experiments for each spread and difference.
    pub(crate) experiments: u32,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
}

impl Plan {
    /// Rejects an impossible plan, and one that would take too long.
    pub(super) fn check(&self) -> Result<(), String> {
        let world = &self.world;
        let values = world.conditions.saturating_mul(world.boots).saturating_mul(world.runs);
        for (what, count, least, most) in [
            ("conditions", world.conditions, 2_usize, 1000_usize),
            ("boots", world.boots, 2, 10_000),
            ("runs", world.runs, 1, 100_000),
            ("runs in all conditions and boots", values, 4, 10_000_000),
            ("experiments", self.experiments as usize, 1, 10_000_000),
            ("spreads between boots", self.between.len(), 1, 100),
            ("differences", self.differences.len(), 0, 100),
        ] {
            let (count, least, most) = (count as u64, least as u64, most as u64);
            if !(least..=most).contains(&count) {
                return Err(format!("{count} {what} cannot be simulated: give {least} to {most}"));
            }
        }
        let between = self.between.iter().map(|sd| ("between boots", *sd));
        let others = [("between runs", world.within), ("shared by all conditions", world.shared)];
        for (what, sd) in between.chain(others) {
            if !(sd.is_finite() && sd >= 0.0) {
                return Err(format!(
                    "a standard deviation of {sd} {what} is invalid: give a finite number of 0 or more"
                ));
            }
        }
        if world.within == 0.0 && self.between.contains(&0.0) {
            return Err(NO_SPREAD.to_owned());
        }
        let differences = self.differences.iter().map(|difference| ("difference", difference));
        for (what, value) in differences.chain([("mean", &world.mean)]) {
            if !value.is_finite() {
                return Err(format!("a {what} of {value} cannot be simulated: give a finite number"));
            }
        }
        let times = self.work() / MOST_WORK;
        if times <= 1.0 {
            return Ok(());
        }
        Err(format!(
            "the simulation takes {times:.0} times as long as the limit of some minutes: simulate fewer experiments, \
             spreads or differences, or leave the bootstraps out"
        ))
    }

    /// The most random numbers drawn.
    fn work(&self) -> f64 {
        let world = &self.world;
        let cells = self.between.len() * (1 + self.differences.len());
        let of_pair = 2.0 * world.boots as f64 * world.runs as f64;
        let bootstraps = self.methods.iter().filter(|method| method.is_bootstrap()).count();
        let resampled = bootstraps as f64 * f64::from(RESAMPLES) * of_pair;
        let drawn = of_pair / 2.0 * world.conditions as f64;
        f64::from(self.experiments) * cells as f64 * (drawn + resampled + self.methods.len() as f64 * of_pair)
    }
}
