//! Signs of life for an agent with a lease, from a thread, as a controller may be busy elsewhere.
//! The agent answers each, so that a stuck machine or a cut network is known before the lease ends.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::launch::Launch;

// The factor by which an answer to a sign of life may be slower than the slowest one so far.
const SLOWDOWN: u32 = 3;

#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) file: File,
    // Held while a message is written, so that no sign of life comes between its parts.
    writing: Mutex<()>,
    signs: Mutex<Signs>,
}

#[derive(Debug, Default)]
pub(crate) struct Signs {
    unanswered: Option<Instant>,
    slowest: Duration,
}

impl Input {
    pub(crate) fn new(file: File) -> Arc<Self> {
        Arc::new(Self { file, writing: Mutex::new(()), signs: Mutex::default() })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        // A thread that panicked has written nothing since.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn keep_alive(&self) -> io::Result<()> {
        // The bytes of a message that is being written are as good.
        let Ok(_message) = self.writing.try_lock() else { return Ok(()) };
        match (&self.file).write(b"\n") {
            // A full pipe holds bytes that the agent has yet to read.
            Err(error) if is_passing(&error) => {}
            written => {
                written?;
                self.signs().unanswered.get_or_insert_with(Instant::now);
            }
        }
        Ok(())
    }

    pub(crate) fn signs(&self) -> MutexGuard<'_, Signs> {
        self.signs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signs {
    // An emulated machine, or one with a single busy CPU, may be silent for a second again and
    // again: hence three times the slowest answer.
    pub(crate) fn lost_at(&self, within: Duration, now: Instant) -> Instant {
        let slow = (SLOWDOWN * self.slowest).min(Launch::LEASE);
        self.unanswered.unwrap_or(now) + within.max(slow)
    }

    pub(crate) fn heard(&mut self, since: Instant, now: Instant) {
        if let Some(given) = self.unanswered.take() {
            // Time in which the controller was busy elsewhere is not a wait for the agent.
            self.slowest = self.slowest.max(now.saturating_duration_since(given.max(since)));
        }
    }
}

pub(crate) fn is_passing(error: &io::Error) -> bool {
    // A signal interrupted the call, or another reader or writer was faster.
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

/// Repeats something in a thread, at once and after each interval, until it returns `false` or the
/// result is dropped.
pub fn repeat(
    name: &str,
    interval: Duration,
    mut work: impl FnMut() -> bool + Send + 'static,
) -> io::Result<Sender<()>> {
    let (end, ended) = channel::<()>();
    let run = move || {
        while work() && ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {}
    };
    thread::Builder::new().name(name.to_owned()).spawn(run)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_agent_may_be_slow_again_and_one_that_nobody_waited_for_was_not_slow() {
        let (begun, second) = (Instant::now(), Duration::from_secs(1));
        let at = |seconds: u32| begun + second * seconds;
        let mut signs = Signs::default();
        assert_eq!(signs.lost_at(second, at(5)), at(6));
        signs.unanswered = Some(begun);
        assert_eq!(signs.lost_at(second, at(5)), at(1));
        // The controller looks after five seconds, and the answer is there.
        signs.heard(at(5), at(5));
        assert_eq!(signs.lost_at(second, at(5)), at(6));
        signs.unanswered = Some(at(6));
        signs.heard(at(5), at(8));
        assert_eq!(signs.lost_at(second, at(8)), at(8) + SLOWDOWN * 2 * second);
        // It is slow, not lost for ever.
        signs.unanswered = Some(at(8));
        signs.heard(at(8), at(100));
        assert_eq!(signs.lost_at(second, at(100)), at(100) + Launch::LEASE);
    }
}
