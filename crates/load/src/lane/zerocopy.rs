//! Zerocopy sends: the unfinished ones of a socket, and the results.

use serde::{Deserialize, Serialize};

/// The kernel's reports on zerocopy sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zerocopy {
    /// Sends whose pages the kernel has returned.
    pub completed: u64,
    /// Messages that the kernel copied (`SO_EE_CODE_ZEROCOPY_COPIED`), as it always does on
    /// loopback.
    pub copied: u64,
}

/// The unfinished sends of one socket, by the numbers that the kernel gives them for as long as the
/// socket lasts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lending {
    pub(crate) next: u32,
    pub(crate) pending: u32,
    /// Bit `n % 64`: send `n`, one of the latest, is not done.
    pub(crate) busy: u64,
}

impl Zerocopy {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { completed: self.completed + other.completed, copied: self.copied + other.copied }
    }

    #[inline(always)]
    pub(crate) fn done(&mut self, sends: u64, copied: bool) {
        self.completed += sends;
        self.copied += if copied { sends } else { 0 };
    }
}
