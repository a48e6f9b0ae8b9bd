//! The figures of a page: which ones the data of its studies can show.
//!
//! A file for each kind of figure. Each has its data from the results and the stored studies, says
//! in words what can be seen in it, and is left out where the data has nothing to show.

mod campaign;
mod cpu;
mod credit;
mod effects;
mod fleet;
mod histogram;
mod history;
mod inside;
mod latency;
mod offered;
mod runs;
mod view;
mod words;

use std::collections::BTreeSet;

use results::Results;

use crate::chart::Id;
use crate::figures::view::StudyView;
use crate::page::FigureSection;

pub use fleet::fleet;
pub use history::history;

type SectionOfFigures = fn(&[StudyView<'_>], &mut Ids, &mut FigureSection);

// The kinds of figures in the order of the page, each with the name and the title of its section.
const KINDS: [(&str, &str, SectionOfFigures); 7] = [
    ("runs", "Every run", runs::section),
    ("cpu", "CPU of both sides", cpu::section),
    ("effects", "What each condition changes", effects::section),
    ("credit", "What each offload gives", credit::section),
    ("latency", "Latency", latency::section),
    ("campaign", "The campaign in the order of time", campaign::section),
    ("inside", "Inside a run", inside::section),
];

/// The sections of figures, in the order of the page; one without figures is left out.
pub fn sections(studies: &[Results]) -> Vec<FigureSection> {
    let views = StudyView::from_studies(studies);
    let mut ids = Ids::default();
    let section = |(id, title, fill): (&str, &str, SectionOfFigures)| {
        let mut section = FigureSection {
            id: ids.unique(id),
            title: title.to_owned(),
            about: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            folded: Vec::new(),
        };
        fill(&views, &mut ids, &mut section);
        section
    };
    let sections = KINDS.into_iter().map(section);
    let is_empty =
        |one: &FigureSection| one.tables.is_empty() && one.figures.is_empty() && one.folded.is_empty();
    sections.filter(|section| !is_empty(section)).collect()
}

// Parts of a figure have names that begin with the figure's.
const PARTS: [&str; 2] = ["title", "about"];
// The longest name of a figure, in characters, without the number that tells it from others.
const MOST: usize = 52;

#[derive(Default)]
struct Ids(BTreeSet<String>);

impl Ids {
    /// A name like `words` that no other figure has.
    fn unique(&mut self, words: &str) -> Id {
        let words: String = words.chars().take(MOST).collect();
        let mut id = Id::new(&words);
        // The same figures in the same order get the same numbers: links into a page stay valid.
        let mut number = 1_u32;
        let is_known = |id: &Id| self.0.contains(id.as_str());
        while is_known(&id) || PARTS.iter().any(|part| is_known(&id.part(part))) {
            number += 1;
            id = Id::new(&format!("{words} {number}"));
        }
        self.0.extend(PARTS.map(|part| id.part(part).to_string()));
        self.0.insert(id.to_string());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_same_each_time() {
        let given = || -> Vec<String> {
            let mut ids = Ids::default();
            let words = ["runs tcp", "runs-tcp", "runs", "runs about", "文", "字"];
            let long = "x".repeat(300);
            words.iter().copied().chain([long.as_str(); 12]).map(|one| ids.unique(one).to_string()).collect()
        };
        let names = given();
        assert_eq!(names[..6], ["runs-tcp", "runs-tcp-2", "runs", "runs-about-2", "f-", "f-2"]);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        assert_eq!(names, given());
    }
}
