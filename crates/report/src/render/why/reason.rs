//! A counter that explains a difference.

use serde::Serialize;

/// A counter that differs between two conditions as their effect does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// The counter's metric.
    pub counter: &'static str,
    /// Its figure in the condition, in the unit that the sentence names.
    pub value: f64,
    /// The figure of the baseline.
    pub baseline: f64,
    /// Both in words, without a full stop.
    pub sentence: String,
}
