//! The report of one or several stored studies as one file that a browser shows, and the same as
//! Markdown.
//!
//! Pure: takes results and stored series, returns markup. [`Page`] arranges what `report` says and
//! what `chart` draws in chapters; [`Page::html`] and [`Page::markdown`] write them. The HTML
//! names no other file and loads nothing; its security policy allows only its own style and script.

mod chapters;
mod data;
pub mod figures;
mod gzip;
mod html;
mod name;
mod page;
mod section;
pub mod standalone_figure;
pub mod views;

pub use data::{Download, PackedStudy};
pub use name::file_stem;
pub use page::Page;
pub use section::{FigureSection, ReportedStudy};
