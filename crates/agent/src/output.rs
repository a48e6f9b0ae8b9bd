//! The agent's standard output: answers, and between them signs of life.

use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::sync::{Mutex, PoisonError};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Held while a line is written, so that no sign of life comes between its parts.
static WHOLE: Mutex<()> = Mutex::new(());

/// Writes a whole line.
///
/// # Errors
/// Standard output failed: the controller is gone.
pub(crate) fn write_line(line: &[u8]) -> io::Result<()> {
    // A thread that panicked has written nothing since.
    let _whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = io::stdout().lock();
    out.write_all(line)?;
    out.flush()
}

/// Writes an empty line: this agent lives. Not while an answer is written, whose bytes say the
/// same, nor where it would have to wait for a controller that does not read: the caller also
/// watches the lease.
pub(crate) fn sign_of_life() {
    let Ok(_whole) = WHOLE.try_lock() else { return };
    let out = io::stdout();
    let mut watched = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
    if poll(&mut watched, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
        // That the controller is gone is seen by the end of standard input.
        let _ = nix::unistd::write(&out, b"\n");
    }
}
