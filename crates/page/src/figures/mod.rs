//! The figures of a page.

mod history;

use crate::section::{Section, Study};

pub use history::{history, plot};

/// The sections of figures, in the order of the page; one without figures is left out.
#[must_use]
pub fn sections(studies: &[Study]) -> Vec<Section> {
    let _ = studies;
    Vec::new()
}
