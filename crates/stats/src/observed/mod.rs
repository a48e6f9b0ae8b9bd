//! The data: runs gathered into boots, and summaries of values.

mod boots;
mod summary;

pub use boots::Observation;
pub(crate) use boots::{Cell, Cells};
pub use summary::{Summary, mean};
pub(crate) use summary::{median, squares};
