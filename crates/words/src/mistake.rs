//! An error in the text of a value.

/// Why a text is not a value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The problem, as a sentence without a full stop.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// Whether the value is only too small or too large.
    pub out_of_range: bool,
}
