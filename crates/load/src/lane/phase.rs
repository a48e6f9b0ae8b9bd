//! The phase of a run. The byte that the hot loops read is also their stop flag.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::sys;

/// The phase of a run. It only moves forward, but for the moments in which senders and readers
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Traffic flows and settles, unmeasured.
    Ramp,
    /// The measured part: only transactions that start and end in it enter the latency histogram.
    Window,
    /// Traffic still flows, so that the window closes under load. From here on a peer may go away.
    Tail,
    /// Sending threads end. Receiving threads continue, so that data in transit arrive.
    Quiet,
    /// Receiving threads empty the queues, and end.
    Stop,
}

pub(crate) const TAIL: u8 = Phase::Tail as u8;
pub(crate) const WINDOW: u8 = Phase::Window as u8;
pub(crate) const QUIET: u8 = Phase::Quiet as u8;
pub(crate) const STOP: u8 = Phase::Stop as u8;
/// After `Stop`: threads end at once, even with queued data.
pub(crate) const ABORT: u8 = STOP + 1;

/// The phase, shared by all threads of one end, alone in its cache lines (two, because CPUs
/// prefetch pairs): every iteration reads it, so it must stay in each reader's cache.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct PhaseCell {
    phase: AtomicU8,
    /// When the window opened and closed, ns of [`sys::now`]; `u64::MAX` before.
    opened: AtomicU64,
    closed: AtomicU64,
}

impl Default for PhaseCell {
    fn default() -> Self {
        Self {
            phase: AtomicU8::new(Phase::Ramp as u8),
            opened: AtomicU64::new(u64::MAX),
            closed: AtomicU64::new(u64::MAX),
        }
    }
}

impl PhaseCell {
    #[inline(always)]
    pub(crate) fn load(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    /// Moves forward to `phase`; ignores a step back, which the loops cannot handle.
    pub(crate) fn advance(&self, phase: u8) {
        let edge = match phase {
            WINDOW => Some(&self.opened),
            TAIL.. => Some(&self.closed),
            _ => None,
        };
        if let Some(edge) = edge {
            let first = (u64::MAX, sys::now());
            // A second step to the same phase does not move the edge.
            let _ = edge.compare_exchange(first.0, first.1, Ordering::Relaxed, Ordering::Relaxed);
        }
        self.phase.fetch_max(phase, Ordering::Release);
    }

    /// Makes the threads whom `phase` ends leave their loops, until [`PhaseCell::resume`]. Gives
    /// the phase before.
    pub(crate) fn hold(&self, phase: u8) -> u8 {
        self.phase.fetch_max(phase, Ordering::AcqRel)
    }

    /// Goes back to the phase before [`PhaseCell::hold`]. Nothing else may move it in between.
    pub(crate) fn resume(&self, before: u8) {
        self.phase.store(before, Ordering::Release);
    }

    /// Whether an instant is in the window as far as known: an open window has no end.
    pub(crate) fn window_holds(&self, ns: u64) -> bool {
        ns >= self.opened.load(Ordering::Relaxed) && ns < self.closed()
    }

    /// When the window closed; `u64::MAX` before.
    pub(crate) fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
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

    #[test]
    fn a_phase_that_was_held_goes_on() {
        let cell = PhaseCell::default();
        cell.advance(WINDOW);
        let before = cell.hold(QUIET);
        assert_eq!((before, cell.load()), (WINDOW, QUIET));
        assert_eq!((cell.hold(ABORT), cell.load()), (QUIET, ABORT));
        cell.resume(before);
        assert_eq!(cell.load(), WINDOW);
    }

    #[test]
    fn the_window_has_two_edges_and_they_stay() {
        let cell = PhaseCell::default();
        let before = sys::now();
        assert!(!cell.window_holds(before));
        cell.advance(WINDOW);
        let inside = sys::now();
        assert!(!cell.window_holds(before - 1) && cell.window_holds(inside));
        cell.advance(WINDOW);
        assert!(cell.window_holds(inside));
        cell.advance(TAIL);
        let after = sys::now();
        cell.advance(QUIET);
        assert!(cell.window_holds(inside) && !cell.window_holds(after + 1));
        assert!(cell.closed() <= after);
    }
}
