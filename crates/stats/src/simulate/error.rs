//! What cannot be simulated.

use thiserror::Error;

/// Why nothing is simulated, and what can be.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{0}")]
pub struct SimulateError(pub(super) String);

impl From<String> for SimulateError {
    fn from(why: String) -> Self {
        Self(why)
    }
}
