//! What limited a run.

use serde::{Deserialize, Serialize};
use words::Label;

use crate::evidence::Evidence;

/// What limited a run, and the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The limit.
    pub label: Label,
    /// First the evidence that decided, then further figures.
    pub evidence: Vec<Evidence>,
}
