//! What is wrong with the text of a value.

/// Why a text is no value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong, as a sentence without its point.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// Whether it is a value, only too small or too large.
    pub out_of_range: bool,
}
