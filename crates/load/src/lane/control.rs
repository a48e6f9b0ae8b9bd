//! State that the threads of one end share with their observers.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use words::{Pacing, Reader, Sender, Traffic};

use super::counts::LaneCounters;
use crate::error::Error;
use crate::sys;

#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) phase: PhaseCell,
    /// Bits of payload per second of each sender of datagrams.
    pub(crate) pace: AtomicU64,
    loop_state: Mutex<LoopState>,
    loop_changed: Condvar,
    pub(crate) counters: Box<[LaneCounters]>,
    // Ids in the kernel; 0 before a thread runs.
    pub(crate) threads: Box<[AtomicU32]>,
    pub(crate) failure: OnceLock<Error>,
    epoch: OnceLock<u64>,
}

impl Control {
    pub(crate) fn new(flows: usize, threads: usize, traffic: &Traffic) -> Self {
        Self {
            phase: PhaseCell::default(),
            pace: AtomicU64::new(traffic.pacing.map_or(u64::MAX, Pacing::bits)),
            loop_state: Mutex::new(LoopState {
                modes: (traffic.sender, traffic.reader),
                held: false,
                waiting: 0,
            }),
            loop_changed: Condvar::new(),
            counters: (0..flows).map(|_| LaneCounters::default()).collect(),
            threads: (0..threads).map(|_| AtomicU32::new(0)).collect(),
            failure: OnceLock::new(),
            epoch: OnceLock::new(),
        }
    }

    /// Returns when the gate opened: the origin of the schedules of all threads.
    pub(crate) fn wait_at_gate(&self) -> u64 {
        *self.epoch.wait()
    }

    pub(crate) fn open_gate(&self) {
        // The gate may be opened more than once; the epoch is the first time.
        let _ = self.epoch.set(sys::now());
    }

    // Later failures are mostly consequences of the first.
    pub(crate) fn fail(&self, error: Error) {
        let _ = self.failure.set(error);
    }

    pub(crate) fn loop_state(&self) -> MutexGuard<'_, LoopState> {
        self.loop_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn release_loops(&self, modes: Modes) {
        let mut state = self.loop_state();
        (state.modes, state.held) = (modes, false);
        self.loop_changed.notify_all();
    }

    /// The modes in which a thread that has left its loop continues; `None`: it ends.
    pub(crate) fn next_loop(&self) -> Option<Modes> {
        let mut state = self.loop_state();
        if !state.held {
            return None;
        }
        state.waiting += 1;
        let changed = self.loop_changed.wait_while(state, |state| state.held);
        state = changed.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        Some(state.modes)
    }
}

pub(crate) type Modes = (Sender, Reader);

// Threads that have left the loop of one sender or reader wait here for the next: a change of its
// socket options must meet no thread in a call.
#[derive(Debug)]
pub(crate) struct LoopState {
    pub(crate) modes: Modes,
    // Whether a thread that leaves its loop waits for the next one.
    pub(crate) held: bool,
    pub(crate) waiting: usize,
}

/// The phase of a run: it only moves forward, except while senders and readers change.
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
// After `Stop`: threads end at once, even with queued data.
pub(crate) const ABORT: u8 = STOP + 1;

// Alone in its cache lines (CPUs prefetch pairs): every iteration of each reader loads it.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct PhaseCell {
    phase: AtomicU8,
    // Edges of the window, ns of `sys::now`; `u64::MAX` before.
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

    pub(crate) fn advance(&self, phase: u8) {
        let edge = match phase {
            WINDOW => Some(&self.opened),
            TAIL.. => Some(&self.closed),
            _ => None,
        };
        if let Some(edge) = edge {
            // A second step to the same phase does not move the edge.
            let _ = edge.compare_exchange(u64::MAX, sys::now(), Ordering::Relaxed, Ordering::Relaxed);
        }
        self.phase.fetch_max(phase, Ordering::Release);
    }

    /// Ends loops until [`PhaseCell::resume`]. Returns the phase before.
    pub(crate) fn hold(&self, phase: u8) -> u8 {
        self.phase.fetch_max(phase, Ordering::AcqRel)
    }

    /// Returns to the phase before [`PhaseCell::hold`].
    pub(crate) fn resume(&self, before: u8) {
        // It goes back, so a step in between would be lost: nothing may move it meanwhile.
        self.phase.store(before, Ordering::Release);
    }

    pub(crate) fn window_holds(&self, ns: u64) -> bool {
        // An open window has no end, as far as is known: `closed` is the last instant of all.
        ns >= self.opened.load(Ordering::Relaxed) && ns < self.closed()
    }

    pub(crate) fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
