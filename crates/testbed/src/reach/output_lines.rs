//! Lines of a process's output, waited for no longer than a deadline.

use std::io::{ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::process::ChildStdout;
use std::time::Instant;

use agent::{Interrupt, ReadLimiter};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The longest line that a host's shell may answer, in bytes.
const LONGEST: usize = 4 << 10;

#[derive(Debug)]
pub(crate) struct OutputLines {
    from: ChildStdout,
    pending: Vec<u8>,
    pace: ReadLimiter,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoLine {
    /// The output ended.
    Ended,
    Late,
    Interrupted,
    /// The line is too long.
    Endless,
}

impl OutputLines {
    pub(crate) fn new(from: ChildStdout) -> Self {
        Self { from, pending: Vec::new(), pace: ReadLimiter::default() }
    }

    /// The next line, without its end, made harmless.
    pub(crate) fn next(&mut self, deadline: Instant, interrupt: &Interrupt) -> Result<String, NoLine> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(words::sanitised_line(&String::from_utf8_lossy(&line[..end])).into_owned());
            }
            if self.pending.len() > LONGEST {
                return Err(NoLine::Endless);
            }
            self.take_more(deadline, interrupt)?;
        }
    }

    /// The output to its end, unchanged; more than `most` bytes are an error.
    pub(crate) fn read_to_end(
        &mut self,
        most: usize,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<Vec<u8>, NoLine> {
        loop {
            match self.take_more(deadline, interrupt) {
                Ok(()) if self.pending.len() > most => return Err(NoLine::Endless),
                Ok(()) => {}
                Err(NoLine::Ended) => return Ok(std::mem::take(&mut self.pending)),
                Err(other) => return Err(other),
            }
        }
    }

    fn take_more(&mut self, deadline: Instant, interrupt: &Interrupt) -> Result<(), NoLine> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(NoLine::Late);
        }
        let wait = PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX);
        let mut watched = [
            PollFd::new(self.from.as_fd(), PollFlags::POLLIN),
            PollFd::new(interrupt.as_fd(), PollFlags::POLLIN),
        ];
        // A signal is no answer: the caller looks again.
        let _ = poll(&mut watched, wait);
        let [ready, stop] = watched.map(|one| one.any().unwrap_or(false));
        if stop {
            return Err(NoLine::Interrupted);
        }
        if ready {
            let mut piece = [0; 1024];
            self.pace.pause();
            match self.from.read(&mut piece) {
                Ok(0) => return Err(NoLine::Ended),
                Ok(count) => self.pending.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(NoLine::Ended),
            }
        }
        Ok(())
    }
}
