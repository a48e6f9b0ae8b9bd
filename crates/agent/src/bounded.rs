//! Size limits of a message's parts.

use thiserror::Error;

/// A part of a message that is larger than its bound.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{what}` has {found}, and may have at most {most}")]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Excess {
    pub what: &'static str,
    /// Its size: bytes, entries, or the number itself.
    pub found: u64,
    pub most: u64,
}

/// A message whose parts have bounds.
pub trait Bounded {
    /// Checks every part against its bound.
    ///
    /// # Errors
    /// The first part that exceeds its bound.
    fn check(&self) -> Result<(), Excess>;
}
