//! The kernel's own path of a packet: so far, what tracing this kernel allows.

mod capabilities;

pub use capabilities::{Capabilities, Capability, Verdict};
