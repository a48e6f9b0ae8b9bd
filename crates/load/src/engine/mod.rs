//! The engine of one end: its flows, the threads that serve them, and its account.

mod account;
mod flows;
mod team;

pub use self::account::{EndOutcome, FlowOutcome, Share};
pub(crate) use team::Team;
