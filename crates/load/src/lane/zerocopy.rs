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

impl Zerocopy {
    /// So many sends are done, `copied` or not.
    #[inline(always)]
    pub(crate) fn done(&mut self, sends: u64, copied: bool) {
        self.completed += sends;
        self.copied += if copied { sends } else { 0 };
    }
}
