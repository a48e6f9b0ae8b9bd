//! The report of one or several stored studies as one file that a browser shows, and the same as
//! Markdown.
//!
//! Pure: takes results and stored series, returns markup. [`Page`] arranges what `report` says and
//! what `chart` draws in [`Chapter`]s; [`Page::html`] and [`Page::markdown`] write them. The HTML
//! names no other file and loads nothing; its security policy allows only its own style and script.

pub mod alone;
mod block;
mod chapters;
mod data;
pub mod figures;
mod gzip;
mod html;
mod markdown;
mod name;
mod page;
mod section;
mod words;

pub use block::{Block, Chapter, Item};
pub use chapters::advice::blocks as advice;
pub use data::{Data, Packed};
pub use markdown::markdown;
pub use name::file_stem;
pub use page::Page;
pub use section::{Section, Study};
