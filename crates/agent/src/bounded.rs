//! Messages with bounds.

use thiserror::Error;

/// A part of a message that exceeds its bound.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{what}` has {found}, and may have at most {most}")]
pub struct Excess {
    /// The part.
    pub what: &'static str,
    /// Its size: bytes, entries, or the number itself.
    pub found: u64,
    /// Its bound.
    pub most: u64,
}

/// A message with bounds.
pub trait Bounded {
    /// Checks all bounds.
    ///
    /// # Errors
    /// The first part that exceeds its bound.
    fn check(&self) -> Result<(), Excess>;
}
