//! A file to compare.

use crate::sheet::Sheet;

/// A file and its condition.
#[derive(Debug)]
pub struct Input {
    /// Its name in messages, and the default name of its condition.
    pub file: String,
    /// The condition, if the caller gave one.
    pub condition: Option<String>,
    /// Its content.
    pub sheet: Sheet,
}
