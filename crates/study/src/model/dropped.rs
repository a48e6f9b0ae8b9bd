//! Parts that a plan leaves out.

use serde::{Deserialize, Serialize};

/// A combination of levels that is not measured, or a comparison that is not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Its label.
    pub label: String,
    /// The reason, as a fragment of a sentence.
    pub why: String,
}
