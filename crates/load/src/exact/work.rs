//! The repeated work and its system calls: plain, or with the clock read around each. The work is
//! compiled once for either.

use std::io;

use words::Reader;

use crate::lane::Calls;
use crate::sys;

/// Fruitless reads of a reader that never sleeps, until a message counts as lost.
const LOOKS: u32 = 1 << 24;

/// The call that failed, and the kernel's error.
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

/// Work that can be repeated: it leaves everything as it was.
pub(super) trait RepeatableWork {
    /// Messages, or transactions, of one turn.
    fn messages(&self) -> u32 {
        1
    }

    /// The thread that it has beside the one that repeats it.
    fn worker(&self) -> Option<Worker> {
        None
    }

    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble>;
}

/// An operation on work whose type is only known at run time.
pub(super) trait WorkVisitor {
    type Made;

    fn has<W: RepeatableWork>(self, work: W) -> Result<Self::Made, Trouble>;
}

/// Does the work so many times. Never inlined: every user runs the same code.
#[inline(never)]
pub(super) fn turns<W: RepeatableWork, C: Calls>(
    work: &mut W,
    calls: &mut C,
    count: u32,
) -> Result<(), Trouble> {
    for _ in 0..count {
        work.turn(calls)?;
    }
    Ok(())
}

pub(super) struct Plain;

impl Calls for Plain {
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
    /// The time inside of all calls so far, less `reading` ns for each: the time between two
    /// adjacent readings.
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

/// Work that can be repeated: it leaves everything as it was.
pub trait Repeat {
    /// Messages, or transactions, of one turn.
    fn messages(&self) -> u32;

    /// Its threads: the caller's, and one that answers it.
    fn workers(&self) -> &[Worker];

    /// Takes so many turns; returns their time in ns.
    ///
    /// # Errors
    /// The call that failed and the kernel's error; a message that does not arrive within seconds.
    fn repeat(&mut self, turns: u32) -> io::Result<u64>;
}

pub(super) struct Lender<'a, M>(pub(super) Describe, pub(super) &'a mut dyn FnMut(&mut dyn Repeat) -> M);

impl<M> WorkVisitor for Lender<'_, M> {
    type Made = M;

    fn has<W: RepeatableWork>(self, work: W) -> Result<M, Trouble> {
        let own = (self.0)().map_err(|error| ("bpf", error))?;
        let workers = [own].into_iter().chain(work.worker()).collect();
        Ok((self.1)(&mut LentWork { work, workers }))
    }
}

struct LentWork<W> {
    work: W,
    workers: Vec<Worker>,
}

impl<W: RepeatableWork> Repeat for LentWork<W> {
    fn messages(&self) -> u32 {
        self.work.messages()
    }

    fn workers(&self) -> &[Worker] {
        &self.workers
    }

    fn repeat(&mut self, count: u32) -> io::Result<u64> {
        let begun = sys::now();
        turns(&mut self.work, &mut Plain, count)
            .map_err(|(call, error)| io::Error::new(error.kind(), format!("{call}: {error}")))?;
        Ok(sys::now().saturating_sub(begun))
    }
}
