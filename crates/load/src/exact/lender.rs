//! Lends work to somebody who repeats it: who watches it from outside.

use std::io;

use crate::sys;

use super::work::{Plain, Trouble, User, Work, turns};

/// Work that can be repeated: it leaves everything as it was.
pub trait Repeat {
    /// Messages, or transactions, of one turn.
    fn messages(&self) -> u32;

    /// The numbers of threads that it has beside the caller's, as the kernel counts.
    fn threads(&self) -> Vec<u32>;

    /// Takes so many turns; returns their time in ns.
    ///
    /// # Errors
    /// The call that failed and the kernel's error; a message that does not arrive within seconds.
    fn repeat(&mut self, turns: u32) -> io::Result<u64>;
}

pub(super) struct Lender<'a, M>(pub(super) &'a mut dyn FnMut(&mut dyn Repeat) -> M);

impl<M> User for Lender<'_, M> {
    type Made = M;

    fn has<W: Work>(self, work: W) -> Result<M, Trouble> {
        Ok((self.0)(&mut Lent(work)))
    }
}

struct Lent<W>(W);

impl<W: Work> Repeat for Lent<W> {
    fn messages(&self) -> u32 {
        self.0.messages()
    }

    fn threads(&self) -> Vec<u32> {
        self.0.threads()
    }

    fn repeat(&mut self, count: u32) -> io::Result<u64> {
        let begun = sys::now();
        turns(&mut self.0, &mut Plain, count)
            .map_err(|(call, error)| io::Error::new(error.kind(), format!("{call}: {error}")))?;
        Ok(sys::now().saturating_sub(begun))
    }
}
