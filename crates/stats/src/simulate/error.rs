//! What cannot be simulated.

use thiserror::Error;

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
    #[error("a standard deviation of {sd} {what} is invalid: give a finite number of 0 or more")]
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
        "the simulation takes {0:.0} times as long as the limit of some minutes: simulate fewer experiments, spreads or differences, or leave the bootstraps out"
    )]
    Work(f64),
    /// A look before there are two boots, or none at all.
    #[error("{looks} looks do not fit into {boots} boots: the first look needs 2 boots, so plan 1 to {most} looks", most = .boots.saturating_sub(1))]
    Looks {
        /// How many looks.
        looks: u32,
        /// At how many boots in all.
        boots: usize,
    },
}
