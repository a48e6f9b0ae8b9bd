//! What is to be simulated.

use serde::Serialize;

use super::bootstrap::RESAMPLES;
use super::error::SimulateError;
use super::methods::Method;
use super::world::World;

/// Random numbers drawn in all: some minutes of two CPUs.
const MOST_WORK: f64 = 1e11;

/// What is to be simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The world, but for what the tables vary.
    pub world: World,
    /// The standard deviations between boots (crossed designs: of condition x boot) to go through,
    /// in the metric's unit.
    pub between: Vec<f64>,
    /// The differences between condition 1 and condition 0 to go through, in the metric's unit.
    pub differences: Vec<f64>,
    /// Who decides.
    pub methods: Vec<Method>,
    /// How many experiments for each spread and difference.
    pub experiments: u32,
    /// What all random numbers come from.
    pub seed: u64,
}

impl Plan {
    /// Refuses what cannot be, and what would take too long.
    pub(super) fn check(&self) -> Result<(), SimulateError> {
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
                return Err(SimulateError::Count { what, count, least, most });
            }
        }
        let is_spread = |sd: &f64| sd.is_finite() && *sd >= 0.0;
        if let Some(sd) = self.between.iter().find(|sd| !is_spread(sd)) {
            return Err(SimulateError::Spread { what: "between boots", sd: *sd });
        }
        for (what, sd) in [("between runs", world.within), ("shared by all conditions", world.shared)] {
            if !is_spread(&sd) {
                return Err(SimulateError::Spread { what, sd });
            }
        }
        if world.within == 0.0 && self.between.contains(&0.0) {
            return Err(SimulateError::NoSpread);
        }
        let differences = self.differences.iter().map(|difference| ("difference", difference));
        for (what, value) in differences.chain([("mean", &world.mean)]) {
            if !value.is_finite() {
                return Err(SimulateError::Value { what, value: *value });
            }
        }
        let times = self.work() / MOST_WORK;
        if times > 1.0 { Err(SimulateError::Work(times)) } else { Ok(()) }
    }

    /// How many random numbers are drawn at most.
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
