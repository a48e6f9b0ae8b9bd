//! The gate for continuous integration: does a stored study keep its bounds against a baseline?
//!
//! Pure: [`report::Cases`] in, [`Gate`] out: blocks of a document, JUnit or JSON. `docs/ci.md`
//! says how it is used, and why its decisions hold.

mod acknowledged;
mod bound;
mod check;
mod date;
mod ends;
mod gate;
mod judge;
mod junit;
mod method;
mod sentences;
mod settle;
mod unit;
mod view;

pub use acknowledged::{Acknowledged, AcknowledgedError, Acknowledgement, MOST_BYTES};
pub use bound::{Bound, BoundError, Fails, Limit};
pub use check::{Check, Open, Outcome};
pub use date::Date;
pub use gate::{Gate, GateError, GateRequest, check_request};
pub use judge::Unused;
pub use settle::Boots;
