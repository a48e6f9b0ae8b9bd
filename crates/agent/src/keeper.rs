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

/// The controller's end of an agent's standard input. A message is written under its lock, so that
/// no sign of life comes between its parts.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) file: File,
    whole: Mutex<()>,
    /// Since when a sign of life has no answer.
    unanswered: Mutex<Option<Instant>>,
}

impl Input {
    pub(crate) fn new(file: File) -> Arc<Self> {
        Arc::new(Self { file, whole: Mutex::new(()), unanswered: Mutex::new(None) })
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
                self.signs().get_or_insert_with(Instant::now);
                Ok(())
            }
        }
    }

    /// Since when a sign of life has no answer; `None`: all have one.
    pub(crate) fn unanswered(&self) -> Option<Instant> {
        *self.signs()
    }

    /// Bytes have come from the agent: they answer all signs before.
    pub(crate) fn heard(&self) {
        *self.signs() = None;
    }

    fn signs(&self) -> MutexGuard<'_, Option<Instant>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
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
