//! State that the threads of one end share with their observers.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

use words::{Pacing, Traffic};

use super::counts::Counters;
use super::loop_switch::{LoopSwitch, Modes};
use super::phase::PhaseCell;
use crate::error::Error;
use crate::sys;

/// The phase, every flow's counters, the first failure, and the gate at which all threads wait
/// before their loops.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) phase: PhaseCell,
    /// The pace that each sender of datagrams keeps, in bits of payload per second.
    pub(crate) pace: AtomicU64,
    pub(crate) loop_switch: LoopSwitch,
    pub(crate) counters: Box<[Counters]>,
    /// Each thread's id in the kernel; 0 before it runs.
    pub(crate) threads: Box<[AtomicU32]>,
    failure: OnceLock<Error>,
    open: Mutex<bool>,
    opened: Condvar,
    /// When the gate opened, ns of [`sys::now`]; 0 before.
    epoch: AtomicU64,
}

impl Control {
    pub(crate) fn new(flows: usize, threads: usize, traffic: &Traffic) -> Self {
        Self {
            phase: PhaseCell::default(),
            pace: AtomicU64::new(traffic.pacing.map_or(u64::MAX, Pacing::bits)),
            loop_switch: LoopSwitch::new(Modes::of_traffic(traffic)),
            counters: (0..flows).map(|_| Counters::default()).collect(),
            threads: (0..threads).map(|_| AtomicU32::new(0)).collect(),
            failure: OnceLock::new(),
            open: Mutex::new(false),
            opened: Condvar::new(),
            epoch: AtomicU64::new(0),
        }
    }

    pub(crate) fn wait_at_gate(&self) {
        let closed = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(closed, |open| !*open));
    }

    /// Lets all threads into their loops, later ones too.
    pub(crate) fn open_gate(&self) {
        // The gate may be opened more than once; the epoch is the first time.
        let _ = self.epoch.compare_exchange(0, sys::now(), Ordering::Relaxed, Ordering::Relaxed);
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    /// When the gate opened: the origin of all threads' schedules.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Keeps the first failure: later ones are mostly its consequences.
    pub(crate) fn fail(&self, error: Error) {
        let _ = self.failure.set(error);
    }

    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.get()
    }
}
