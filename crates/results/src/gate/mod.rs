//! The gate for continuous integration: does a stored study keep its bounds against a baseline?
//!
//! Pure: [`crate::GateCases`] in, [`GateDecision`] out, which is the JSON. `docs/ci.md` says how it
//! is used, and why its decisions hold.

mod acknowledged;
mod bound;
mod check;
mod decision;
mod judge;

pub use acknowledged::{Acknowledgement, MOST_BYTES, acknowledgements, day_of_instant};
pub use bound::{Bound, BoundError, BoundUnit};
pub use check::{GateCheck, GateOutcome, InconclusiveReason, SettlingBoots};
pub use decision::{GateDecision, GateError, GateRequest, check_request};
