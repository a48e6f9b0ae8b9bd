//! Signs of life for an agent with a lease: empty lines, from a thread of the controller's.
//!
//! The controller may be busy elsewhere for longer than a lease, with another host that boots, or
//! with its own disk. So the signs come from a thread of their own: they end when the controller
//! ends, or is stopped.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// The controller's end of an agent's standard input. A message is written under its lock, so that
/// no sign of life comes between its parts.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) file: File,
    whole: Mutex<()>,
}

impl Input {
    pub(crate) fn new(file: File) -> Arc<Self> {
        Arc::new(Self { file, whole: Mutex::new(()) })
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
            _ => Ok(()),
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
