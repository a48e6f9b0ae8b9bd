//! A message knows how much may be in it.

use thiserror::Error;

/// A part of a message that is more than it may be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{what}` has {found}, and may have at most {most}")]
pub struct Excess {
    /// The part.
    pub what: &'static str,
    /// What it has: bytes, entries, or the number itself.
    pub found: u64,
    /// What it may have.
    pub most: u64,
}

/// A message that knows how much may be in it.
pub trait Bounded {
    /// Whether all of it is within bounds.
    ///
    /// # Errors
    /// The first part that is not.
    fn check(&self) -> Result<(), Excess>;
}
