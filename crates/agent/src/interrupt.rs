//! The user's request to stop, as a file descriptor that every wait can watch.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};

/// A latch that stays [tripped](Interrupt::trip): every wait of the controller polls it.
#[derive(Debug, Clone)]
pub struct Interrupt {
    event: Arc<EventFd>,
}

impl Interrupt {
    /// A latch that is not tripped.
    pub fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        Ok(Self { event: Arc::new(EventFd::from_flags(flags)?) })
    }

    /// Asks everything to stop. Async-signal-safe: it is one `write`.
    pub fn trip(&self) {
        // A full counter is tripped already.
        let _ = self.event.write(1);
    }

    /// Whether it was tripped.
    pub fn is_tripped(&self) -> bool {
        self.trips_within(Duration::ZERO)
    }

    /// Waits for it at most this long, and tells whether it was tripped.
    pub fn trips_within(&self, time: Duration) -> bool {
        matches!(is_ready(self.as_fd(), PollFlags::POLLIN, Some(time)), Ok(true))
    }

    /// Waits for events of a descriptor until `deadline`.
    pub fn wait_for(&self, fd: BorrowedFd<'_>, events: PollFlags, deadline: Instant) -> io::Result<Wake> {
        loop {
            let mut watched = [PollFd::new(fd, events), PollFd::new(self.as_fd(), PollFlags::POLLIN)];
            match poll(&mut watched, poll_time(deadline.saturating_duration_since(Instant::now()))) {
                // The signal handler has tripped the latch if it meant to stop us.
                Err(Errno::EINTR) => continue,
                woken => woken?,
            };
            return Ok(match watched.map(|one| one.any().unwrap_or(true)) {
                [_, true] => Wake::Interrupted,
                [true, false] => Wake::Ready,
                [false, false] => Wake::Timeout,
            });
        }
    }
}

/// The end of a wait that an interrupt may end too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of its variants say it")]
pub enum Wake {
    Ready,
    Timeout,
    Interrupted,
}

pub(crate) fn is_ready(fd: BorrowedFd<'_>, events: PollFlags, limit: Option<Duration>) -> io::Result<bool> {
    let limit = limit.map_or(PollTimeout::NONE, poll_time);
    loop {
        match poll(&mut [PollFd::new(fd, events)], limit) {
            // Signals are rare: the time begins again.
            Err(Errno::EINTR) => {}
            // The end of the other side counts as an event: the read or write tells it.
            ready => return Ok(ready? > 0),
        }
    }
}

pub(crate) fn poll_time(time: Duration) -> PollTimeout {
    // Rounded up: a wait of 0 ms for the last fraction of a millisecond would spin.
    PollTimeout::try_from(time.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX)
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
