//! Drives a study's schedule through a testbed.
//!
//! [`Campaign::run`] tries the study's switches out, merges the conditions that come to the same,
//! and then goes through the boots; [`Campaign::resume`] goes on where an earlier controller
//! stopped. Every run is in the store before the next one starts, and everything that happens is
//! told as one stream of [`Event`]s. Testbeds are reached through [`Lab`] and [`Bench`], so that
//! the whole of this can be driven by a simulator in tests.

mod arrival;
mod boot;
mod campaign;
mod clocks;
mod congestion_control;
mod course;
mod designed;
mod event;
mod exact;
mod foreign;
mod lab;
mod limit;
mod local_lab;
mod loss;
mod measure;
mod need;
mod order;
mod pending;
mod probe;
mod progress;
mod proof;
mod recall;
mod retransmits;
mod session;
mod sheet;
mod validity;
mod waiting;

pub use arrival::nothing_arrived;
pub use campaign::{Campaign, Ending, Error, Summary};
pub use congestion_control::unpaced;
pub use event::{Event, Invalid};
pub use lab::{Bench, Lab, Readings};
pub use limit::limit;
pub use local_lab::LocalLab;
pub use measure::{directions, metrics};
pub use order::{order_of, switches_of};
pub use probe::{Probed, probe};
pub use validity::disturbances;
