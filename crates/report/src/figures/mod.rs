//! The figures of a page: which ones the data of its studies can show.
//!
//! A file for each kind of figure. Each has its data from the results and the stored studies, says
//! in words what can be seen in it, and is left out where the data has nothing to show.

mod campaign;
mod cpu;
mod credit;
mod effects;
mod grid;
mod histogram;
mod history;
mod ids;
mod inside;
mod interactions;
mod latency;
mod loss;
mod measure;
mod offered;
mod rates;
mod runs;
mod turns;
mod view;
mod why;
mod words;

use crate::figures::ids::Ids;
use crate::figures::view::StudyView;
use crate::section::{FigureSection, ReportedStudy};

pub use history::history;

/// The sections of figures, in the order of the page; one without figures is left out.
#[must_use]
pub fn sections(studies: &[ReportedStudy]) -> Vec<FigureSection> {
    let views = StudyView::from_studies(studies);
    let mut ids = Ids::default();
    let kinds = [
        runs::section,
        rates::section,
        cpu::section,
        effects::section,
        credit::section,
        latency::section,
        campaign::section,
        turns::section,
        inside::section,
        loss::section,
        why::section,
    ];
    let sections = kinds.into_iter().filter_map(|section| section(&views, &mut ids));
    sections.filter(|section| !section.figures.is_empty() || !section.folded.is_empty()).collect()
}
