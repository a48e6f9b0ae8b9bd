//! The engine of one end: its flows, the threads that serve them, and its account.

mod account;
mod flows;
mod outcome;
pub(crate) mod shares;
mod team;
mod thread;

pub use outcome::{EndOutcome, FlowOutcome, Share};
pub(crate) use team::Team;
