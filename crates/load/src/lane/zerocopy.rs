//! What became of sends without copying.

use serde::{Deserialize, Serialize};

/// What the kernel said of sends that it was to make without copying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zerocopy {
    /// Sends whose pages the kernel has given back.
    pub completed: u64,
    /// Those among them that it copied after all (`SO_EE_CODE_ZEROCOPY_COPIED`), as it always does
    /// on loopback.
    pub copied: u64,
}
