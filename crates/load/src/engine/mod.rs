//! One end at work: its flows, the threads that serve them, and the account at its end.

mod account;
pub(crate) mod crew;
mod flows;
mod life;
mod outcome;
mod team;

pub use outcome::{FlowOutcome, Outcome, Share};
pub(crate) use team::Team;
