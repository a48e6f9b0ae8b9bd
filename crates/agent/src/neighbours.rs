//! The neighbours of both ends of fixed work, which cost it the same in each batch and boot.

use std::sync::atomic::{AtomicBool, Ordering};

use host::Links;

/// Whether this process has made the kernel's tables of neighbours large.
static SPREAD: AtomicBool = AtomicBool::new(false);

/// Of this namespace, and of the receiving end's where it has one of its own. Both are of
/// netassay's making.
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

    /// Keeps those that are resolved. When a neighbour was found decides when it is checked again;
    /// meanwhile each packet to it takes some 90 instructions more.
    pub(crate) fn keep(&mut self) -> Result<(), host::Error> {
        let mut links = std::iter::once(&mut *self.here).chain(&mut self.there);
        links.try_for_each(|links| links.keep_neighbours().map(drop))
    }
}
