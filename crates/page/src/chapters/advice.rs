//! Which settings to change: the recommendations in short, and what proves each on demand.

use advice::{Advice, NOTHING, Said, StudyAdvice, Under};
use report::Exhibit;

use crate::block::{Block, Item};
use crate::words::line;

/// The advice: in short by scenario and over all, then for each kind of traffic on demand.
#[must_use]
pub fn blocks(advice: &Advice) -> Vec<Block<'static>> {
    if !advice.has_switches() {
        return vec![Block::Text(NOTHING.to_owned())];
    }
    let mut blocks: Vec<Block<'static>> = advice
        .summaries
        .iter()
        .map(|summary| {
            let title = format!("Recommendations, {}", summary.title());
            Block::Table(Exhibit { title, table: summary.table(), notes: summary.notes() })
        })
        .collect();
    for study in &advice.studies {
        blocks.push(Block::Text(study.title()));
        blocks.extend(study.method().into_iter().map(Block::Text));
        blocks.extend(study.under.iter().map(|under| fold(advice, study, under)));
        blocks.extend(study.notes().into_iter().map(Block::Text));
    }
    blocks
}

/// What is said under one kind of traffic.
fn fold(advice: &Advice, study: &StudyAdvice, under: &Under) -> Block<'static> {
    let mut inside = vec![Block::Text(under.holds_for())];
    for said in advice.said(study, under) {
        inside.push(Block::Text(format!("For {}:", said.goal)));
        let others = said.others.into_iter().map(|words| Item { words, facts: Vec::new() });
        inside.push(Block::Items(said.switches.into_iter().map(item).chain(others).collect()));
    }
    inside.extend(under.flags.iter().map(|flag| Block::Warning(vec![flag.clone()])));
    let title = match advice.studies.as_slice() {
        [_] => under.title(),
        // A fold is found by its title alone: by a search in the page, or from one fold to the
        // next.
        _ => format!("Study {} ({}): {}", study.study, line(&study.name), under.title()),
    };
    Block::Fold(title, inside)
}

fn item(said: Said) -> Item {
    let facts = said.facts.into_iter().map(|fact| (fact.name, fact.words, fact.is_command));
    Item { words: said.head, facts: facts.collect() }
}
