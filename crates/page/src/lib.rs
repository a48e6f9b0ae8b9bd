//! The report of one or several stored studies as one file that a browser shows.
//!
//! Pure: takes results and stored series, returns markup.

pub mod alone;
pub mod figures;
mod section;

pub use section::{Section, Study};
