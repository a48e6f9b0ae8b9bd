//! Ctrl-C: everything that a bench waits for ends, and so what it started is taken down in order.

use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::Failure;
use crate::ready;

static ASKED: AtomicBool = AtomicBool::new(false);

/// A latch that the first signal trips. The second ends the process at once; what it started dies
/// with it.
pub(crate) fn watch() -> Result<Interrupt, Failure> {
    let latch = Interrupt::new().map_err(Failure::io("cannot make a latch for Ctrl-C"))?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let latch = latch.clone();
        let on_signal = move || {
            if ASKED.swap(true, Ordering::SeqCst) {
                signal_hook::low_level::exit(130);
            }
            latch.trip();
        };
        // SAFETY: the handler swaps an atomic and calls _exit or write, all of them
        // async-signal-safe.
        unsafe { signal_hook::low_level::register(signal, on_signal) }
            .map_err(Failure::io("cannot watch for Ctrl-C"))?;
    }
    Ok(latch)
}

/// Sleeps, unless the user asks to stop.
pub(crate) fn sleep(time: Duration, interrupt: &Interrupt) -> Result<(), Failure> {
    match ready::first(&[interrupt.as_fd()], time)? {
        Some(_) => Err(Failure::Interrupted),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_sleep_ends_when_it_is_over_or_when_asked() {
        let interrupt = Interrupt::new().unwrap();
        let start = Instant::now();
        sleep(Duration::from_millis(3), &interrupt).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(3));
        interrupt.trip();
        assert!(sleep(Duration::from_secs(60), &interrupt).unwrap_err().is_interrupt());
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
