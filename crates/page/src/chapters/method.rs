//! How the numbers were computed.

use report::{Classic, ComparisonRequest, Method};

use crate::block::Block;
use crate::section::Study;

/// So many of ministat's tables of a metric are shown.
const PLOTTED: usize = 2;
/// Of studies with very many conditions, the first table of so many comparisons.
const COMPARISONS: usize = 6;

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
    let (all, groups) = (classic.groups.len(), if study.is_vast() { COMPARISONS } else { usize::MAX });
    let plotted = if study.is_vast() { 1 } else { PLOTTED };
    if all > groups || classic.groups.iter().any(|group| group.plotted.len() > plotted) {
        let first = if plotted == 1 {
            "the first table is".to_owned()
        } else {
            format!("the first {plotted} tables are")
        };
        let of = if all > groups {
            format!("Of the first {groups} of {all} comparisons")
        } else {
            "Of each metric".to_owned()
        };
        blocks.push(Block::Text(format!(
            "ministat compares at most seven conditions in one table. {of} {first} here; netassay compare {number} \
             --classic prints all."
        )));
    }
    blocks.extend(classic.groups.into_iter().take(groups).map(|group| {
        let unit = if group.unit.is_empty() { String::new() } else { format!(" in {}", group.unit) };
        let tables = &group.plotted[..group.plotted.len().min(plotted)];
        Block::Fold(format!("{}{unit}", group.metric), vec![Block::Verbatim(tables.concat())])
    }));
    blocks
}
