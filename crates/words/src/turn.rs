//! The turns that conditions take in one flow.

use serde::{Deserialize, Serialize};

/// The most conditions of one flow. Each follows each other one, and itself, equally often: a block
/// of turns grows with the square.
pub const MOST_IN_TURNS: usize = 8;

/// The most turns of one flow.
pub const MOST_TURNS: usize = 4096;

/// A stretch of time of a flow in which one condition's switches are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The condition, as an index into those of the flow.
    pub state: usize,
    /// Whether it is counted. A turn that only leads to the next one is not.
    pub counts: bool,
}
