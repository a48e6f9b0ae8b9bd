//! Neighbours whose resolution is never in the cost of fixed work.

use std::sync::atomic::{AtomicBool, Ordering};

use host::Links;

/// Whether this process has made the kernel's tables of neighbours large.
static SPREAD: AtomicBool = AtomicBool::new(false);

/// The neighbours in this network namespace, and in the receiving end's where it has one of its
/// own. netassay made both namespaces, so it may change them.
pub(crate) struct Neighbours<'l> {
    here: &'l mut Links,
    there: Option<Links>,
}

impl<'l> Neighbours<'l> {
    pub(crate) fn of(here: &'l mut Links, there: Option<Links>) -> Result<Self, host::Error> {
        // The tables are the kernel's, and stay large.
        if !SPREAD.swap(true, Ordering::Relaxed) {
            here.spread_neighbours()?;
        }
        Ok(Self { here, there })
    }

    /// Makes the neighbours that are resolved permanent. The kernel would check each again at a
    /// time that depends on when it was found, which would be in the cost
    /// (`docs/where-the-time-goes.md`).
    pub(crate) fn keep(&mut self) -> Result<(), host::Error> {
        let mut links = std::iter::once(&mut *self.here).chain(&mut self.there);
        links.try_for_each(|links| links.keep_neighbours().map(drop))
    }
}
