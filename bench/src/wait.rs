//! Waiting: for descriptors, for time to pass, and for Ctrl-C, which ends every wait.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent::Interrupt;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::Failure;

/// Waits until the descriptor can be read or has lost its other end; false after `patience`.
pub(crate) fn ready(fd: BorrowedFd<'_>, patience: Duration) -> Result<bool, Failure> {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match ppoll(&mut [PollFd::new(fd, PollFlags::POLLIN)], Some(TimeSpec::from(left)), None) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(Failure::io("cannot wait")(errno.into())),
        }
    }
}

pub(crate) fn sleep(time: Duration, interrupt: &Interrupt) -> Result<(), Failure> {
    if ready(interrupt.as_fd(), time)? { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Asks again and again, `pause` apart, until there is an answer; `None` after `patience`.
pub(crate) fn until<T>(
    patience: Duration,
    pause: Duration,
    interrupt: &Interrupt,
    mut ask: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<Option<T>, Failure> {
    let deadline = Instant::now() + patience;
    loop {
        let answer = ask()?;
        if answer.is_some() || Instant::now() >= deadline {
            return Ok(answer);
        }
        sleep(pause, interrupt)?;
    }
}

static ASKED: AtomicBool = AtomicBool::new(false);

/// A latch that the first signal trips. The second ends the process at once; what it started dies
/// with it.
pub(crate) fn watch_signals() -> Result<Interrupt, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _, pipe};

    #[test]
    fn a_written_or_closed_pipe_is_ready_and_an_interrupt_ends_a_sleep() {
        let (reader, mut writer) = pipe().unwrap();
        let is_ready = |time| ready(reader.as_fd(), Duration::from_millis(time)).unwrap();
        assert!(!is_ready(2));
        writer.write_all(b"x").unwrap();
        assert!(is_ready(10_000));
        (&reader).read_exact(&mut [0]).unwrap();
        drop(writer);
        assert!(is_ready(10_000));

        let (interrupt, start) = (Interrupt::new().unwrap(), Instant::now());
        sleep(Duration::from_millis(3), &interrupt).unwrap();
        let never = until(Duration::ZERO, Duration::ZERO, &interrupt, || Ok(None::<()>));
        assert!(start.elapsed() >= Duration::from_millis(3) && never.unwrap().is_none());
        interrupt.trip();
        assert!(sleep(Duration::from_secs(60), &interrupt).unwrap_err().is_interrupt());
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
