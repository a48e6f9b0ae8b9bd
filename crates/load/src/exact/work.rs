//! What is done again and again.

use std::io;

use super::calls::Calls;

/// The call that failed, and what the kernel said.
pub(super) type Trouble = (&'static str, io::Error);

/// Work that leaves everything as it was, so that it can be done any number of times.
pub(super) trait Work {
    /// How many messages, or transactions, one turn is.
    fn messages(&self) -> u32;

    /// Does it once.
    fn turn<C: Calls>(&mut self, calls: &mut C) -> std::result::Result<(), Trouble>;
}

/// Whether a call did all that was wanted.
#[inline(always)]
pub(super) fn whole(call: &'static str, done: isize, wanted: usize) -> std::result::Result<(), Trouble> {
    if done == wanted as isize {
        return Ok(());
    }
    Err((
        call,
        if done < 0 { io::Error::last_os_error() } else { io::Error::from_raw_os_error(libc::EMSGSIZE) },
    ))
}
