//! The limit of a run.

use serde::{Deserialize, Serialize};
use words::Label;

use crate::evidence::Evidence;

/// The limit of a run, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The limit.
    pub label: Label,
    /// First the evidence that decided, then further figures.
    pub evidence: Vec<Evidence>,
}
