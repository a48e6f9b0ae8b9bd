//! Results for people: as blocks of text, tables and figures, and one or several stored studies as
//! one file that a browser shows, and the same as Markdown.
//!
//! Pure: takes results and stored series, returns markup. [`views`] make blocks of results.
//! [`Page`] arranges them and the figures in chapters; [`Page::html`] and [`Page::markdown`] write
//! them. The HTML names no other file and loads nothing; its security policy allows only its own
//! style and script.

pub mod chart;
mod data;
pub mod document;
pub mod figures;
mod html;
mod page;
pub mod views;

pub use data::{Download, file_stem};
pub use document::{Cell, Layout, Table, Tone, colour_sequences, distinct_names};
pub use html::{figure_page, fleet_page};
pub use page::{FigureSection, Page};
