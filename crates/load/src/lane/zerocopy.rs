//! The results of zerocopy sends.

use serde::{Deserialize, Serialize};

/// The kernel's reports on zerocopy sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zerocopy {
    /// Sends whose pages the kernel has returned.
    pub completed: u64,
    /// Those that it copied (`SO_EE_CODE_ZEROCOPY_COPIED`), as it always does on loopback.
    pub copied: u64,
}

impl Zerocopy {
    #[inline(always)]
    pub(crate) fn done(&mut self, sends: u64, copied: bool) {
        self.completed += sends;
        self.copied += if copied { sends } else { 0 };
    }
}
