//! Where a run stands. The byte that the hot loops read is also their stop flag.

use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

/// Where a run stands. It only ever moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Traffic flows and settles; nothing of it is measured.
    Ramp,
    /// The measured part: only transactions that start and end in it enter the latency histogram.
    Window,
    /// Traffic still flows, so that the window closes under load. From here on a peer may go away.
    Tail,
    /// Whoever sends ends; whoever takes goes on, so that nothing is cut off that is still on its way.
    Quiet,
    /// Whoever takes empties what is queued, and ends.
    Stop,
}

pub(crate) const TAIL: u8 = Phase::Tail as u8;
pub(crate) const WINDOW: u8 = Phase::Window as u8;
pub(crate) const QUIET: u8 = Phase::Quiet as u8;
pub(crate) const STOP: u8 = Phase::Stop as u8;
/// Beyond `Stop`: end now, whatever is still queued.
pub(crate) const ABORT: u8 = STOP + 1;

/// The phase as all threads of one end share it, alone in its cache lines (two, because CPUs prefetch pairs):
/// it is read by every iteration and must stay in each reader's cache.
#[repr(align(128))]
#[derive(Debug, Default)]
pub(crate) struct PhaseCell(AtomicU8);

impl PhaseCell {
    #[inline(always)]
    pub(crate) fn load(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Moves forward to `phase`; a step back is ignored, because the loops rely on there being none.
    pub(crate) fn advance(&self, phase: u8) {
        self.0.fetch_max(phase, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_never_goes_back() {
        let cell = PhaseCell::default();
        assert_eq!(cell.load(), Phase::Ramp as u8);
        cell.advance(TAIL);
        cell.advance(WINDOW);
        assert_eq!(cell.load(), TAIL);
        cell.advance(ABORT);
        cell.advance(STOP);
        assert_eq!(cell.load(), ABORT);
    }
}
