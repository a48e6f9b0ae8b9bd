//! How the numbers were computed.

use report::{Classic, ComparisonRequest, Method};

use crate::block::Block;
use crate::section::Study;

/// So many of ministat's tables of a metric are shown.
const PLOTTED: usize = 2;

pub(super) fn blocks(study: &Study) -> Vec<Block<'static>> {
    let results = &study.results;
    let mut blocks = Vec::new();
    for Method { of, meaning, sentences } in results.methods() {
        let head = if meaning.is_empty() { of } else { format!("{of} ({meaning}):") };
        blocks.push(Block::Text(head));
        blocks.push(Block::List(sentences));
    }
    blocks.extend(results.spreads().into_iter().map(Block::Table));
    blocks
}

/// ministat's table of the same runs, which decides nothing.
pub(super) fn classic(study: &Study) -> Vec<Block<'static>> {
    let stored = study.results.stored();
    let classic = match Classic::new(stored, &ComparisonRequest::default()) {
        Ok(classic) => classic,
        // Too few runs, or no baseline: the reason is the content.
        Err(error) => return vec![Block::Text(format!("There is none: {error}."))],
    };
    let mut blocks = vec![Block::Text(Classic::CAUTION.to_owned())];
    let number = study.results.number();
    if classic.groups.iter().any(|group| group.plotted.len() > PLOTTED) {
        blocks.push(Block::Text(format!(
            "ministat compares at most seven conditions in one table. Of each metric the first {PLOTTED} tables are \
             here; netassay compare {number} --classic prints all."
        )));
    }
    blocks.extend(classic.groups.into_iter().map(|group| {
        let unit = if group.unit.is_empty() { String::new() } else { format!(" in {}", group.unit) };
        let tables = &group.plotted[..group.plotted.len().min(PLOTTED)];
        Block::Fold(format!("{}{unit}", group.metric), vec![Block::Verbatim(tables.concat())])
    }));
    blocks
}
