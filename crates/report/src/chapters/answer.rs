//! The question, its answer, and the figure that shows it.

use results::document::Block;

use crate::section::{FigureSection, ReportedStudy, is_vast};

/// `is_alone`: the question is the heading of the page. `beside`: the section whose first figure
/// shows the answer.
pub(super) fn blocks<'p>(
    study: &ReportedStudy,
    is_alone: bool,
    beside: Option<&'p FigureSection>,
) -> Vec<Block<'p>> {
    let results = &study.results;
    let mut blocks = Vec::new();
    if !is_alone {
        blocks.push(Block::Question(results.question().to_owned()));
    }
    let not_applied = results.not_applied();
    if !not_applied.is_empty() {
        blocks.push(Block::Warning(not_applied));
    }
    let headline = results.headline();
    let missing = results.missing();
    let is_answered = headline != missing;
    if is_answered {
        blocks.extend(headline.into_iter().map(Block::Lead));
    }
    if !missing.is_empty() {
        blocks.push(Block::Warning(missing));
    }
    if let Some(section) = beside {
        blocks.extend(section.figures.first().map(Block::Figure));
        blocks.extend(section.about.iter().cloned().map(Block::Text));
    }
    blocks.extend(results.kind_of_truth().into_iter().map(Block::Text));
    blocks.push(Block::Facts(results.facts()));
    let answers = results.answers();
    // Where each is one sentence and stands above, nothing is added.
    if !answers.is_empty() && !results.is_answered_by_headline() {
        let (number, count) = (results.number(), results::counted(answers.len(), "answer"));
        blocks.push(if is_vast(results) {
            Block::Text(format!(
                "The tables of conditions have every comparison; netassay compare {number} prints the {count} in words."
            ))
        } else {
            Block::Fold(format!("{count} in full"), answers.into_iter().map(Block::List).collect())
        });
    }
    blocks
}
