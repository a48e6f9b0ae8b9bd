//! What ministat refuses.

use thiserror::Error;

use super::report::MAX_SETS;

/// Why there is no table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MinistatError {
    /// A set is too small.
    #[error("Dataset {name} must contain at least 3 data points")]
    TooFewPoints {
        /// The set.
        name: String,
    },
    /// There is no symbol for an eighth set.
    #[error("{count} sets are too many: ministat compares up to {MAX_SETS}")]
    TooManySets {
        /// How many were given.
        count: usize,
    },
}
