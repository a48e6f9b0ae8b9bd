//! The chapter of the environment: the settings that were requested and that were applied.

use results::document::Block;
use results::{TitledTable, first_environment, hosts_that_differ, machines};

use crate::section::ReportedStudy;

// The largest number of notes below a table: there may be one for each condition.
const NOTES: usize = 8;

pub(super) fn blocks(study: &ReportedStudy) -> Vec<Block<'static>> {
    let (results, stored) = (&study.results, &study.results.stored);
    let mut blocks = Vec::new();
    let machines = machines(stored);
    if !machines.is_empty() {
        blocks.push(Block::Text("Measured between machines, as they were at the first boot:".to_owned()));
        blocks.push(Block::List(machines));
    }
    let changed = results.changed();
    if !changed.is_empty() {
        blocks.push(Block::Text("Changed of the machine for the study, and undone at its end:".to_owned()));
        blocks.push(Block::List(changed));
    }
    let applied = results.applied();
    if !applied.table.is_empty() {
        blocks.push(Block::Table(applied));
    }
    let differ = hosts_that_differ(stored);
    if !differ.table.is_empty() {
        blocks.push(Block::Table(differ));
    }
    let proofs = results.proofs();
    if !proofs.is_empty() {
        let tables = proofs.into_iter().map(|one| Block::Table(shortened(one))).collect();
        blocks.push(Block::Fold("Evidence that the switches acted".to_owned(), tables));
    }
    let whole = first_environment(stored);
    if !whole.is_empty() {
        blocks.push(Block::Appendix("All that is recorded of the hosts", whole));
    }
    blocks
}

fn shortened(mut exhibit: TitledTable) -> TitledTable {
    let more = exhibit.notes.len().saturating_sub(NOTES);
    if more > 1 {
        exhibit.notes.truncate(NOTES);
        exhibit.notes.push(format!("{more} more rows have a note like these."));
    }
    exhibit
}
