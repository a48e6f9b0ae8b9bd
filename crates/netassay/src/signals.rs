//! Ctrl-C: the first stops in order, the second at once.

use std::sync::atomic::{AtomicBool, Ordering};

use agent::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::exit;
use crate::failure::Failure;

static ASKED: AtomicBool = AtomicBool::new(false);

/// A latch that the first interrupt trips.
pub(crate) fn interrupt() -> Result<Interrupt, Failure> {
    let latch = Interrupt::new().map_err(|error| Failure::Environment(error.to_string()))?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let latch = latch.clone();
        let on_signal = move || {
            if ASKED.swap(true, Ordering::SeqCst) {
                // No run is lost: the agents end with this process, and recorded runs are on disk.
                signal_hook::low_level::exit(i32::from(exit::INTERRUPTED));
            }
            latch.trip();
        };
        // SAFETY: the handler swaps an atomic and calls _exit or write, all of them
        // async-signal-safe.
        unsafe { signal_hook::low_level::register(signal, on_signal) }
            .map_err(|error| Failure::Environment(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(latch)
}

pub(crate) fn outlive_file_limits() {
    // With a handler, a write beyond `ulimit -f` fails, and says so; without one, the signal ends
    // the process.
    // SAFETY: the handler does nothing.
    let _ = unsafe { signal_hook::low_level::register(SIGXFSZ, || {}) };
}
