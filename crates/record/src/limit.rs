//! What limited a run.

use serde::{Deserialize, Serialize};
use words::Label;

use crate::evidence::Evidence;

/// What limited a run, and why that is believed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What it was.
    pub label: Label,
    /// First what decided, then what else a reader may want to hold against it.
    pub evidence: Vec<Evidence>,
}
