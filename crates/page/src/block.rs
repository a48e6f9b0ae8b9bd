//! What a page consists of, whatever it is written in.

use chart::{Figure, Id};
use report::Exhibit;

use crate::data::Data;

/// A part of a page with a heading of its own and an entry in the contents.
pub struct Chapter<'a> {
    /// Its name in the page.
    pub id: Id,
    /// Its heading.
    pub title: String,
    /// What is in it.
    pub blocks: Vec<Block<'a>>,
}

/// A piece of a chapter. No text in it is markup.
#[derive(Clone)]
pub enum Block<'a> {
    /// A heading below that of the chapter.
    Heading(String),
    /// What a study asks.
    Question(String),
    /// A sentence of its answer.
    Lead(String),
    /// A paragraph.
    Text(String),
    /// Something that the reader must not miss, as paragraphs.
    Warning(Vec<String>),
    /// Items.
    List(Vec<String>),
    /// Items with what belongs to each.
    Items(Vec<Item>),
    /// Names and their values.
    Facts(Vec<(&'static str, String)>),
    /// A table.
    Table(Exhibit),
    /// Text whose lines and blanks matter.
    Verbatim(String),
    /// Blocks that are shown on demand.
    Fold(String, Vec<Block<'a>>),
    /// A title and lines that are shown on demand, too many of them for a page that is posted.
    Appendix(&'static str, String),
    /// A figure.
    Figure(&'a Figure),
    /// A study's measurements, to download.
    Data(&'a Data),
}

/// An item of a list, with what belongs to it.
#[derive(Clone)]
pub struct Item {
    /// What it says.
    pub words: String,
    /// Names with words, or with a command of the shell (`true`).
    pub facts: Vec<(String, String, bool)>,
}

impl<'a> Chapter<'a> {
    /// A chapter; its name is one of the source's.
    pub(crate) fn new(id: &'static str, title: &str, blocks: Vec<Block<'a>>) -> Self {
        Self { id: Id::new(id), title: title.to_owned(), blocks }
    }
}
