//! The content of a page, whatever its form: a *view* makes blocks of results, a writer makes a
//! terminal's text, Markdown or HTML of blocks.

pub mod bounded;
mod colour;
mod layout;
mod markdown;
mod names;
mod table;
mod terminal;

use crate::chart::{Figure, Id};
use crate::data::Download;

pub use colour::{Tone, colour_sequences};
pub use layout::Layout;
pub use markdown::{escaped, markdown};
pub use names::distinct_names;
pub use table::{Cell, Table};
pub use terminal::terminal;

/// A piece of a page. No text in it is markup.
#[derive(Clone)]
pub enum Block<'a> {
    /// A chapter of a page: its name for links, its title and its blocks.
    Chapter(Id, String, Vec<Block<'a>>),
    /// A heading below that of a chapter.
    Heading(String),
    /// A sentence of the answer of a study.
    Lead(String),
    /// A paragraph.
    Text(String),
    /// Something that the reader must not miss, as paragraphs.
    Warning(Vec<String>),
    /// Sentences, each an item.
    List(Vec<String>),
    /// Sentences with the facts that belong to each: names with words, or with a shell's command.
    Items(Vec<(String, Vec<(String, Cell)>)>),
    /// Names and their values.
    Facts(Vec<(&'static str, String)>),
    /// A table.
    Table(Table),
    /// Text whose lines and blanks matter.
    Verbatim(String),
    /// Blocks that are shown on demand.
    Fold(String, Vec<Block<'a>>),
    /// A title and lines that are shown on demand, too many of them for a page that is posted.
    Appendix(&'static str, String),
    /// A figure.
    Figure(&'a Figure),
    /// The measurements of a study, which only a page in HTML holds.
    Download(&'a Download),
}

impl Block<'_> {
    /// Items; `None` without one.
    pub(crate) fn list(items: Vec<String>) -> Option<Self> {
        (!items.is_empty()).then_some(Self::List(items))
    }

    /// Items below a title, on demand; `None` without an item.
    pub fn titled_list(title: impl Into<String>, items: Vec<String>) -> Option<Self> {
        Some(Self::Fold(title.into(), vec![Self::list(items)?]))
    }
}
