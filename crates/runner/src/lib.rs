//! Runs a study's schedule on testbeds.
//!
//! [`Campaign::run`] merges the conditions that read back the same, and runs the boots;
//! [`Campaign::resume`] continues a stored study. Each run is stored before the next one starts.
//! Through [`Lab`] and [`Bench`] tests can use a simulator.

mod attempt;
mod boot;
mod campaign;
mod clocks;
mod event;
mod flows;
mod foreign;
mod kernel_metrics;
mod lab;
mod limit;
mod local_lab;
mod loss;
mod measure;
mod probe;
mod progress;
mod rate;
#[cfg(test)]
mod sample_guest;
mod session;
mod settling;
mod switchable_factors;
mod validity;
mod waiting;

pub use campaign::{Campaign, Error, Summary};
pub use event::{Event, Invalid};
pub use flows::{order_of, switches_of};
pub use lab::{Bench, BenchResult, Lab, Readings};
pub use limit::limit;
pub use local_lab::LocalLab;
pub use loss::nothing_arrived;
pub use measure::metrics;
pub use probe::{Probed, probe, unpaced};
pub use rate::{JudgedRun, TRIALS, carry_out, no_rate, repeated};
pub use validity::disturbances;
