//! The report of one or several studies.

use crate::block::Block;
use crate::data::Data;
use crate::section::{Section, Study};
use crate::words::line;

/// The report of one or several studies.
#[derive(Default)]
pub struct Page<'a> {
    /// The studies, in the order of the page.
    pub studies: &'a [Study],
    /// Which settings to change; no chapter without a block.
    pub advice: Vec<Block<'a>>,
    /// The figures of all studies.
    pub figures: Vec<Section>,
    /// The measurements of each study, to download.
    pub data: Vec<Data>,
}

impl Page<'_> {
    /// The heading of the page: the question of its study, or the names of its studies.
    pub(crate) fn heading(&self) -> String {
        match self.studies {
            [one] => line(one.results.question()),
            several => {
                let mut names: Vec<&str> = several.iter().map(|study| study.results.name()).collect();
                names.dedup();
                let names: Vec<String> = names.into_iter().map(line).collect();
                format!("{} studies: {}", several.len(), names.join(", "))
            }
        }
    }

    /// What a browser shows above the page.
    pub(crate) fn title(&self) -> String {
        match self.studies {
            [one] => format!("{} ({}): report", line(one.results.name()), one.results.number()),
            _ => format!("{}: report", self.heading()),
        }
    }
}

/// The heading of one of several studies.
pub(crate) fn study_heading(study: &Study) -> String {
    format!("Study {}: {}", study.results.number(), line(study.results.name()))
}
