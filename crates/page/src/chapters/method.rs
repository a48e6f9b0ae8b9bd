//! How the numbers were computed.

use report::{Classic, ComparisonRequest, Method};

use crate::block::Block;
use crate::section::Study;

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
    blocks.extend(classic.groups.into_iter().map(|group| {
        let unit = if group.unit.is_empty() { String::new() } else { format!(" in {}", group.unit) };
        Block::Fold(format!("{}{unit}", group.metric), vec![Block::Verbatim(group.plotted)])
    }));
    blocks
}
