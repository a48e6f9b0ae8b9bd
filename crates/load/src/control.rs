//! What the threads of one end share with those who watch them.

use std::sync::OnceLock;

use crate::counts::Counters;
use crate::error::Error;
use crate::phase::PhaseCell;

/// The phase, every thread's counters, and the first failure.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) phase: PhaseCell,
    pub(crate) counters: Box<[Counters]>,
    failure: OnceLock<Error>,
}

impl Control {
    pub(crate) fn new(flows: usize) -> Self {
        Self {
            phase: PhaseCell::default(),
            counters: (0..flows).map(|_| Counters::default()).collect(),
            failure: OnceLock::new(),
        }
    }

    /// Keeps the first failure: those that follow are mostly its consequences.
    pub(crate) fn fail(&self, error: Error) {
        let _ = self.failure.set(error);
    }

    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.get()
    }
}
