//! The user's request to stop, as a file descriptor that every wait can watch.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// A latch that starts open and, once [tripped](Interrupt::trip), stays so. Every wait of the
/// controller polls it beside the pipe it waits for, so that an interrupt ends a wait at once and
/// none is lost in between.
#[derive(Debug, Clone)]
pub struct Interrupt {
    event: Arc<OwnedFd>,
}

impl Interrupt {
    /// A latch that nobody has tripped.
    ///
    /// # Errors
    /// When the process is out of file descriptors.
    pub fn new() -> io::Result<Self> {
        // SAFETY: eventfd takes no pointers; the result is checked before use.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just made by eventfd and nobody else owns it.
        Ok(Self { event: Arc::new(unsafe { OwnedFd::from_raw_fd(fd) }) })
    }

    /// Asks everybody to stop. Async-signal-safe: it is one `write`.
    pub fn trip(&self) {
        trip_fd(self.event.as_raw_fd());
    }

    /// Has somebody asked to stop?
    #[must_use]
    pub fn is_tripped(&self) -> bool {
        let mut watched = libc::pollfd { fd: self.event.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd, a count of one, and no waiting.
        unsafe { libc::poll(&raw mut watched, 1, 0) > 0 }
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

fn trip_fd(fd: i32) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: the buffer is eight readable bytes, as an eventfd wants. A full counter means that it
    // is tripped.
    unsafe { libc::write(fd, one.as_ptr().cast(), one.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_tripped_it_stays_tripped() {
        let interrupt = Interrupt::new().unwrap();
        assert!(!interrupt.is_tripped());
        interrupt.clone().trip();
        assert!(interrupt.is_tripped());
        assert!(interrupt.is_tripped());
    }
}
