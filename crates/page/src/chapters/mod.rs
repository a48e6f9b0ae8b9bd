//! What stands in each chapter, in the order of a page.

pub(crate) mod advice;
mod answer;
mod conditions;
mod environment;
mod method;
mod runs;

use crate::block::{Block, Chapter};
use crate::page::{Page, study_heading};
use crate::section::Study;

/// What opens the figures of a section that not every reader wants.
const FOLD: &str = "More figures";

/// Why the advice and the answer may seem to contradict each other.
const APART: &str = "The advice has questions of its own. The answer and the tables of conditions judge other \
                     comparisons together, so one of them may prove what the other leaves open.";

impl Page<'_> {
    /// Every chapter that has something to say.
    pub(crate) fn chapters(&self) -> Vec<Chapter<'_>> {
        let mut chapters = vec![Chapter::new(
            "answer",
            "Answer",
            self.each(|study| answer::blocks(study, self.studies.len() == 1)),
        )];
        if !self.advice.is_empty() {
            let mut advice = self.advice.clone();
            if self.studies.iter().any(|study| !study.results.comparisons().is_empty()) {
                advice.push(Block::Text(APART.to_owned()));
            }
            chapters.push(Chapter::new("advice", "Advice", advice));
        }
        chapters.push(Chapter::new("conditions", "Conditions", self.each(conditions::blocks)));
        for section in &self.figures {
            let about = section.about.iter().cloned().map(Block::Text);
            let mut blocks: Vec<Block<'_>> = about.chain(section.figures.iter().map(Block::Figure)).collect();
            if !section.folded.is_empty() {
                let folded = section.folded.iter().map(Block::Figure).collect();
                blocks.push(Block::Fold(FOLD.to_owned(), folded));
            }
            chapters.push(Chapter { id: section.id.clone(), title: section.title.clone(), blocks });
        }
        chapters.push(Chapter::new("environment", "Environment", self.each(environment::blocks)));
        chapters.push(Chapter::new("left-out", "Failed and disturbed runs", self.each(runs::blocks)));
        chapters.push(Chapter::new("method", "Method", self.each(method::blocks)));
        chapters.push(Chapter::new("data", "Data", self.data.iter().map(Block::Data).collect()));
        chapters.retain(|chapter| !chapter.blocks.is_empty());
        chapters
    }

    /// The same blocks of each study, under its name if there are several.
    fn each(&self, blocks: impl Fn(&Study) -> Vec<Block<'static>>) -> Vec<Block<'static>> {
        let mut all = Vec::new();
        for study in self.studies {
            let own = blocks(study);
            if self.studies.len() > 1 && !own.is_empty() {
                all.push(Block::Heading(study_heading(study)));
            }
            all.extend(own);
        }
        all
    }
}
