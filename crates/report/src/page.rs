//! The report of one or several studies.

use results::chart::Id;
use results::document::bounded::line;
use results::document::{Block, escaped, markdown};

use crate::data::Download;
use crate::section::{FigureSection, ReportedStudy};

/// The report of one or several studies.
#[derive(Default)]
pub struct Page<'a> {
    /// The studies, in the order of the page.
    pub studies: &'a [ReportedStudy],
    /// The settings to change; the chapter is left out without a block.
    pub advice: Vec<Block<'a>>,
    /// The figures of all studies.
    pub figures: Vec<FigureSection>,
    /// The measurements of each study, to download.
    pub data: Vec<Download>,
}

/// A part of a page with a heading of its own and an entry in the contents.
pub(crate) struct Chapter<'a> {
    /// Its name in the page.
    pub(crate) id: Id,
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block<'a>>,
    pub(crate) downloads: &'a [Download],
}

impl<'a> Chapter<'a> {
    /// A chapter; its name is one of the source's.
    pub(crate) fn new(id: &'static str, title: &str, blocks: Vec<Block<'a>>) -> Self {
        Self { id: Id::new(id), title: title.to_owned(), blocks, downloads: &[] }
    }
}

impl Page<'_> {
    /// The page in GitHub's Markdown, without the downloads.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n", escaped(&self.heading()));
        for chapter in self.chapters() {
            let body = markdown(&chapter.blocks);
            if !body.is_empty() {
                text.push_str(&format!("\n## {}\n\n{body}", escaped(&chapter.title)));
            }
        }
        text
    }

    /// The heading of the page: the question of its study, or the names of its studies.
    pub(crate) fn heading(&self) -> String {
        match self.studies {
            [one] => line(&one.results.question),
            several => {
                let mut names: Vec<&str> = several.iter().map(|study| study.results.name.as_str()).collect();
                names.dedup();
                let names: Vec<String> = names.into_iter().map(line).collect();
                format!("{} studies: {}", several.len(), names.join(", "))
            }
        }
    }

    /// The title of the browser's window.
    pub(crate) fn title(&self) -> String {
        match self.studies {
            [one] => format!("{} ({}): report", line(&one.results.name), one.results.study),
            _ => format!("{}: report", self.heading()),
        }
    }
}

/// The heading of one of several studies.
pub(crate) fn study_heading(study: &ReportedStudy) -> String {
    format!("Study {}: {}", study.results.study, line(&study.results.name))
}
