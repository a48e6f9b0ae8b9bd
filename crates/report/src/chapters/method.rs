//! The chapter of the method.

use results::document::Block;

use crate::section::ReportedStudy;

pub(super) fn blocks(study: &ReportedStudy) -> Vec<Block<'static>> {
    let results = &study.results;
    let mut blocks = Vec::new();
    for (of, sentences) in results.methods() {
        blocks.push(Block::Text(of));
        blocks.push(Block::List(sentences));
    }
    blocks.extend(results.spreads().into_iter().map(Block::Table));
    blocks
}
