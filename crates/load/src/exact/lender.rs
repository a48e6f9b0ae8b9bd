//! Lends work to somebody who repeats it: who watches it from outside.

use std::io;

use crate::sys;

use super::work::{Describe, Plain, RepeatableWork, Trouble, WorkVisitor, Worker, turns};

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
