//! Signs of life for an agent with a lease: empty lines, from a thread of the controller's.
//!
//! An agent answers each by one of its own, also in the middle of a request. So a machine that is
//! stuck, or a network that is cut, is known long before the lease ends.
//!
//! The controller may be busy elsewhere for longer than a lease, with another host that boots, or
//! with its own disk. So the signs come from a thread of their own: they end when the controller
//! ends, or is stopped.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::launch::Launch;

/// How many times longer than ever before an answer may take.
const SLOWER: u32 = 3;

/// The controller's end of an agent's standard input. A message is written under its lock, so that
/// no sign of life comes between its parts.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) file: File,
    whole: Mutex<()>,
    signs: Mutex<Signs>,
}

/// What is known of the answers to signs of life.
#[derive(Debug, Default)]
struct Signs {
    /// Since when one has no answer.
    unanswered: Option<Instant>,
    /// The longest time that an answer was waited for.
    slowest: Duration,
}

impl Input {
    pub(crate) fn new(file: File) -> Arc<Self> {
        Arc::new(Self { file, whole: Mutex::new(()), signs: Mutex::default() })
    }

    /// The right to write a message.
    pub(crate) fn message(&self) -> MutexGuard<'_, ()> {
        // A thread that panicked has written nothing since.
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an empty line, unless a message is being written: its bytes are as good. Nor is it
    /// written to a pipe that is full.
    ///
    /// # Errors
    /// The agent is gone.
    pub(crate) fn keep_alive(&self) -> io::Result<()> {
        let Ok(_message) = self.whole.try_lock() else { return Ok(()) };
        match (&self.file).write(b"\n") {
            Err(error) if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Err(error)
            }
            Err(_) => Ok(()),
            Ok(_) => {
                self.signs().unanswered.get_or_insert_with(Instant::now);
                Ok(())
            }
        }
    }

    /// When a sign of life will have waited too long for its answer.
    pub(crate) fn lost_at(&self, within: Duration) -> Instant {
        self.signs().lost_at(within, Instant::now())
    }

    /// Bytes have come from the agent, for which the controller waited from `since` on: they answer
    /// all signs before.
    pub(crate) fn heard(&self, since: Instant) {
        self.signs().heard(since, Instant::now());
    }

    fn signs(&self) -> MutexGuard<'_, Signs> {
        self.signs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signs {
    /// When the oldest sign without an answer, or one that were given now, will have waited too
    /// long: for `within`, or for several times what this agent has needed before. The machine of
    /// one that is emulated, or has a single busy CPU, may be deaf for a second, and again.
    fn lost_at(&self, within: Duration, now: Instant) -> Instant {
        let slow = (SLOWER * self.slowest).min(Launch::LEASE);
        self.unanswered.unwrap_or(now) + within.max(slow)
    }

    fn heard(&mut self, since: Instant, now: Instant) {
        if let Some(given) = self.unanswered.take() {
            // What came while the controller was busy elsewhere was not waited for.
            self.slowest = self.slowest.max(now.saturating_duration_since(given.max(since)));
        }
    }
}

/// The thread. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Keeper {
    _end: Sender<()>,
}

impl Keeper {
    /// Starts it, with a sign at once and then after each interval. It does not keep the input
    /// open.
    pub(crate) fn start(input: &Arc<Input>, interval: Duration) -> io::Result<Self> {
        let (end, ended) = channel::<()>();
        let input: Weak<Input> = Arc::downgrade(input);
        let keep = move || {
            while input.upgrade().is_some_and(|input| input.keep_alive().is_ok()) {
                if ended.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        thread::Builder::new().name("keep-alive".to_owned()).spawn(keep)?;
        Ok(Self { _end: end })
    }
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
        assert_eq!(signs.lost_at(second, at(8)), at(8) + SLOWER * 2 * second);
        // It is slow, not lost for ever.
        signs.unanswered = Some(at(8));
        signs.heard(at(8), at(100));
        assert_eq!(signs.lost_at(second, at(100)), at(100) + Launch::LEASE);
    }
}
