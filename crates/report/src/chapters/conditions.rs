//! The table of conditions.

use results::document::Block;
use results::{Layout, TitledTable};

use crate::section::ReportedStudy;

// The columns of text that a page shows as it is.
const COLUMNS: usize = 110;

pub(super) fn blocks(study: &ReportedStudy) -> Vec<Block<'static>> {
    let results = &study.results;
    let mut blocks: Vec<Block<'static>> = results.tables().into_iter().map(Block::Table).collect();
    let beware = results.beware();
    if !beware.is_empty() {
        blocks.push(Block::List(beware));
    }
    let limits = results.limits();
    if !limits.table.is_empty() {
        let TitledTable { title, .. } = &limits;
        blocks.push(Block::Fold(title.clone(), vec![Block::Table(limits)]));
    }
    let credit = results.credit_text(Layout { width: COLUMNS, ..Layout::PLAIN });
    if !credit.is_empty() {
        blocks.push(Block::Fold("Credit of each offload as text".to_owned(), vec![Block::Verbatim(credit)]));
    }
    blocks
}
