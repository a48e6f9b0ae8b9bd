//! How fast a sender may go.

use crate::phase::PhaseCell;

/// Holds a sender back until its next bytes are due.
pub(crate) trait Pace {
    /// Called before `bytes` of payload are handed over: returns when they are due, or as soon as `phase` says that
    /// senders end (`QUIET`).
    fn wait(&mut self, bytes: u64, phase: &PhaseCell);
}

/// As fast as it goes.
pub(crate) struct Unpaced;

impl Pace for Unpaced {
    #[inline(always)]
    fn wait(&mut self, _: u64, _: &PhaseCell) {}
}
