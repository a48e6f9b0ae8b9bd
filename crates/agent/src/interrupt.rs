//! The user's request to stop, as a file descriptor that every wait can watch.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};

/// A latch that starts open and, once [tripped](Interrupt::trip), stays so. Every wait of the
/// controller polls it beside the pipe it waits for, so that an interrupt ends a wait at once and
/// none is lost in between.
#[derive(Debug, Clone)]
pub struct Interrupt {
    event: Arc<EventFd>,
}

impl Interrupt {
    /// A latch that nobody has tripped.
    ///
    /// # Errors
    /// When the process is out of file descriptors.
    pub fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        Ok(Self { event: Arc::new(EventFd::from_flags(flags)?) })
    }

    /// Asks everybody to stop. Async-signal-safe: it is one `write`.
    pub fn trip(&self) {
        // A full counter means that it is tripped.
        let _ = self.event.write(1);
    }

    /// Has somebody asked to stop?
    #[must_use]
    pub fn is_tripped(&self) -> bool {
        let mut watched = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
        poll(&mut watched, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
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
