//! How the numbers were computed.

use report::Method;

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
