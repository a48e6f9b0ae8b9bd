//! One of the files that are put together.

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
