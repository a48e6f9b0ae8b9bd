//! A counted rate, with its interval.

use serde::Serialize;
use stats::distribution::beta::binomial_interval;

/// A share of experiments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Rate {
    /// The experiments in which a difference was found.
    pub(crate) hits: u64,
    /// Of how many.
    pub(crate) experiments: u64,
    /// `hits` / `experiments`.
    pub(crate) rate: f64,
    /// Clopper and Pearson's 95 % interval of the rate.
    pub(crate) interval: (f64, f64),
}

impl Rate {
    /// The rate of `hits` among `experiments`.
    pub(crate) fn new(hits: u64, experiments: u64) -> Rate {
        let rate = if experiments == 0 { 0.0 } else { hits as f64 / experiments as f64 };
        let interval = binomial_interval(hits, experiments, 0.95).unwrap_or((0.0, 1.0));
        Rate { hits, experiments, rate, interval }
    }
}
