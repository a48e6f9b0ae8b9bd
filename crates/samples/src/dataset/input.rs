//! Files, and what each says of a condition.

use crate::series::Series;
use crate::sheet::Sheet;

/// A file and what it stands for.
#[derive(Debug)]
pub struct Input {
    /// Its name in messages and, if nothing better is known, of its condition.
    pub file: String,
    /// The condition that the caller says it belongs to.
    pub condition: Option<String>,
    /// What it holds.
    pub sheet: Sheet,
}

/// A condition of a group while it is put together.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) label: String,
    /// In the order of the files.
    pub(super) parts: Vec<Part>,
}

/// What one file says of a condition.
#[derive(Debug)]
pub(super) struct Part {
    /// The file's place among the inputs.
    pub(super) input: usize,
    pub(super) series: Series,
}
