//! What cannot be simulated.

use thiserror::Error;

use super::{Method, Plan};

/// Why nothing is simulated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SimulateError {
    /// A count that is too small or too large.
    #[error("{count} {what} cannot be simulated: give {least} to {most}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
        /// The fewest.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A spread that is none.
    #[error("a standard deviation of {sd} {what} means nothing: give a number from 0")]
    Spread {
        /// Between what.
        what: &'static str,
        /// The number.
        sd: f64,
    },
    /// A mean or difference that is no number.
    #[error("a {what} of {value} cannot be simulated: give a finite number")]
    Value {
        /// Which.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// No spread at all.
    #[error(
        "with no spread between boots and none between runs there is nothing to simulate: give one of them"
    )]
    NoSpread,
    /// More work than anybody waits for.
    #[error(
        "that is {times:.0} times as much work as fits into some minutes: simulate fewer experiments, spreads or differences, or leave the bootstraps out"
    )]
    Work {
        /// How many times the most.
        times: f64,
    },
    /// A look before there are two boots, or none at all.
    #[error("{looks} looks at {boots} boots cannot be: the first needs 2 boots, so plan 1 to {most} looks", most = .boots.saturating_sub(1))]
    Looks {
        /// How many looks.
        looks: u32,
        /// At how many boots in all.
        boots: usize,
    },
}

/// Random numbers drawn in all: some minutes of two CPUs.
const MOST_WORK: f64 = 1e11;

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
        if times > 1.0 { Err(SimulateError::Work { times }) } else { Ok(()) }
    }

    /// How many random numbers are drawn at most.
    fn work(&self) -> f64 {
        let world = &self.world;
        let cells = self.between.len() * (1 + self.differences.len());
        let of_pair = 2.0 * world.boots as f64 * world.runs as f64;
        let bootstraps = self.methods.iter().filter(|method| method.is_bootstrap()).count();
        let resampled = bootstraps as f64 * f64::from(super::bootstrap::RESAMPLES) * of_pair;
        let drawn = of_pair / 2.0 * world.conditions as f64;
        f64::from(self.experiments) * cells as f64 * (drawn + resampled + self.methods.len() as f64 * of_pair)
    }
}

impl Method {
    pub(super) fn is_bootstrap(self) -> bool {
        matches!(self, Method::RunBootstrap | Method::HierarchicalBootstrap)
    }
}
