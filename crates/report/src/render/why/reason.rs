//! A counter that explains a difference.

use serde::Serialize;

/// A counter that differs between two conditions as their effect does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Why {
    /// The counter's metric.
    pub(super) counter: &'static str,
    /// Its figure in the condition, in the unit that the sentence names.
    pub(super) value: f64,
    /// The same in the baseline.
    pub(super) baseline: f64,
    /// Both in words, without a full stop.
    pub(crate) sentence: String,
}
