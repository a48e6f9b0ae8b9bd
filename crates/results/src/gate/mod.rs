//! The gate for continuous integration: does a stored study keep its bounds against a baseline?
//!
//! Pure: [`crate::GateCases`] in, [`Gate`] out: blocks of a document, JUnit or JSON. `docs/ci.md`
//! says how it is used, and why its decisions hold.

mod acknowledged;
mod bound;
mod bound_difference;
mod bound_units;
mod check;
mod date;
mod decision;
mod judge;
mod junit;
mod method;
mod sentences;
mod settling_boots;
mod view;

pub use acknowledged::{Acknowledged, AcknowledgedError, Acknowledgement, MOST_BYTES};
pub use bound::{Bound, BoundError, BoundLimit, FailingSide};
pub use check::{GateCheck, GateOutcome, InconclusiveReason};
pub use date::Date;
pub use decision::{Gate, GateError, GateRequest, check_request};
pub use judge::UnusedAcknowledgement;
pub use settling_boots::SettlingBoots;
