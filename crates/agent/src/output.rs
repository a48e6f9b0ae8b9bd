//! The agent's standard output: answers, and between them signs of life.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::serve_error::ServeError;

// Held while a line is written, so that no sign of life comes between its parts.
static WHOLE: Mutex<()> = Mutex::new(());

// The number of bytes that a write takes without waiting as soon as there is room for any: a page
// of a pipe; sockets and a guest's port have more room. Other processes share this output, so it
// cannot be set to non-blocking.
const PIECE: usize = 4096;

/// Writes a complete line, until `limit`.
///
/// # Errors
/// The controller is gone, or does not read: then it may have a part of the line.
pub(crate) fn write_line(line: &[u8], limit: Instant) -> Result<(), ServeError> {
    // A thread that panicked has written nothing since.
    let _whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    let out = io::stdout();
    let mut rest = line;
    while !rest.is_empty() {
        let left = limit.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(out.as_fd(), PollFlags::POLLOUT)], left) {
            Ok(0) => return Err(ServeError::NotReading),
            Ok(_) => match nix::unistd::write(&out, &rest[..rest.len().min(PIECE)]) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(errno) => return Err(io::Error::from(errno).into()),
            },
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
    }
    Ok(())
}

/// Writes an empty line: this agent lives. Skipped while an answer is written, whose bytes say the
/// same, and where the write would wait for a controller that does not read: the caller also
/// watches the lease.
pub(crate) fn sign_of_life() {
    let Ok(_whole) = WHOLE.try_lock() else { return };
    let out = io::stdout();
    let mut watched = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
    if poll(&mut watched, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
        // The end of standard input shows that the controller is gone.
        let _ = nix::unistd::write(&out, b"\n");
    }
}
