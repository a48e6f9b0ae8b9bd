//! The repeated work and its system calls: plain, or with the clock read around each.

use std::io;

use words::Reader;

use crate::lane::Calls;
use crate::sys;

// Fruitless reads of a reader that never sleeps, until a message counts as lost.
const LOOKS: u32 = 1 << 24;

pub(super) type Trouble = (&'static str, io::Error);

/// A thread that does lent work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its number in this process's PID namespace.
    pub thread: u32,
    /// Its number in the initial PID namespace.
    pub initial: u32,
}

/// Describes the calling thread.
pub type Describe = fn() -> io::Result<Worker>;

/// A user of lent work.
pub type Borrower<'b, M> = &'b mut dyn FnMut(&mut LentWork<'_>) -> M;

/// Work that can be repeated: it leaves everything as it was.
pub(super) trait RepeatableWork {
    /// Messages, or transactions, of one turn.
    fn messages(&self) -> u32 {
        1
    }

    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble>;
}

pub(super) trait AnyWork {
    fn messages(&self) -> u32;

    fn repeat(&mut self, count: u32) -> Result<(), Trouble>;

    fn repeat_bracketed(&mut self, calls: &mut Bracketed, count: u32) -> Result<(), Trouble>;
}

pub(super) type BoxedWork<'w> = Box<dyn AnyWork + 'w>;

impl<W: RepeatableWork> AnyWork for W {
    fn messages(&self) -> u32 {
        RepeatableWork::messages(self)
    }

    fn repeat(&mut self, count: u32) -> Result<(), Trouble> {
        turns(self, &mut (), count)
    }

    fn repeat_bracketed(&mut self, calls: &mut Bracketed, count: u32) -> Result<(), Trouble> {
        turns(self, calls, count)
    }
}

// Never inlined: every user runs the same code.
#[inline(never)]
fn turns<W: RepeatableWork, C: Calls>(work: &mut W, calls: &mut C, count: u32) -> Result<(), Trouble> {
    for _ in 0..count {
        work.turn(calls)?;
    }
    Ok(())
}

// No clock is read around them.
impl Calls for () {
    #[inline(always)]
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R {
        call()
    }
}

#[derive(Default)]
pub(super) struct Bracketed {
    inside_ns: u64,
    pub(super) calls: u64,
}

impl Bracketed {
    /// The time inside of all calls so far, less `reading` ns for each.
    pub(super) fn inside(&self, reading: u64) -> u64 {
        self.inside_ns.saturating_sub(self.calls * reading)
    }
}

impl Calls for Bracketed {
    #[inline(always)]
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let begun = sys::now();
        let result = call();
        self.inside_ns += sys::now().saturating_sub(begun);
        self.calls += 1;
        result
    }
}

pub(super) fn flags(reader: Reader) -> libc::c_int {
    match reader {
        Reader::Spin => libc::MSG_DONTWAIT,
        Reader::Trunc => libc::MSG_TRUNC,
        _ => 0,
    }
}

/// Whether a failed call belongs to a reader that never sleeps, and may try again.
#[cold]
pub(super) fn is_early(flags: libc::c_int, looks: &mut u32) -> bool {
    *looks += 1;
    // A message that is lost would keep a reader that never sleeps forever.
    flags & libc::MSG_DONTWAIT != 0 && sys::errno() == libc::EAGAIN && *looks < LOOKS
}

#[inline(always)]
pub(super) fn expect_whole(call: &'static str, done: isize, wanted: usize) -> Result<(), Trouble> {
    if done == wanted as isize {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err((call, if done < 0 { error } else { io::Error::from_raw_os_error(libc::EMSGSIZE) }))
}

/// Lent work: it can be repeated, and leaves everything as it was.
pub struct LentWork<'w> {
    work: BoxedWork<'w>,
    workers: Vec<Worker>,
}

impl<'w> LentWork<'w> {
    pub(super) fn new(work: BoxedWork<'w>, describe: Describe, other: Option<Worker>) -> io::Result<Self> {
        Ok(Self { work, workers: [describe()?].into_iter().chain(other).collect() })
    }

    /// Messages, or transactions, of one turn.
    pub fn messages(&self) -> u32 {
        self.work.messages()
    }

    /// Its threads: the caller's, and one that answers it.
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// Takes so many turns; returns their time in ns.
    ///
    /// # Errors
    /// The call that failed and the kernel's error; a message that does not arrive within seconds.
    pub fn repeat(&mut self, turns: u32) -> io::Result<u64> {
        let begun = sys::now();
        self.work
            .repeat(turns)
            .map_err(|(call, error)| io::Error::new(error.kind(), format!("{call}: {error}")))?;
        Ok(sys::now().saturating_sub(begun))
    }
}
