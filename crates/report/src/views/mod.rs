//! Views: results as blocks, whatever form these are written in.

use results::Layout;

mod answer;
mod compare;
mod comparison_table;
mod credit;
mod means_table;
mod method;
mod overview;
mod runs;
mod study;

pub use compare::{classic, compare};
pub use runs::{left_out, runs};
pub use study::show;

pub(crate) use answer::{answer, answers_in_full, facts};
pub(crate) use method::method;
pub(crate) use study::conditions;

/// How much a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// As much as is read on one screen.
    Brief,
    /// Every figure.
    Full,
}

impl From<Layout> for Detail {
    fn from(layout: Layout) -> Self {
        if layout.wide { Self::Full } else { Self::Brief }
    }
}
