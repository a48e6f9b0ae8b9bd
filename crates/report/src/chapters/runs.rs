//! The tries that do not count, and why; how many count in spite of a disturbance.

use results::document::Block;
use results::{TitledTable, counted};

use crate::section::ReportedStudy;

// The most tries of a list; the command in the note lists the others.
const MOST: usize = 100;

pub(super) fn blocks(study: &ReportedStudy) -> Vec<Block<'static>> {
    let (uncounted, kept) = (study.results.uncounted(), study.results.kept_disturbed());
    let number = study.results.number();
    let is_whole = uncounted.is_empty();
    let mut blocks: Vec<Block<'static>> =
        uncounted.into_iter().map(|exhibit| Block::Table(shortened(exhibit, number))).collect();
    if kept > 0 {
        let (runs, count) = (counted(kept, "run"), if kept == 1 { "counts" } else { "count" });
        let words = format!("{runs} {count} though something disturbed them (--keep-disturbed).");
        blocks.push(Block::Text(words));
    } else if is_whole {
        blocks.push(Block::Text("No run failed, and none was disturbed.".to_owned()));
    }
    blocks
}

fn shortened(mut exhibit: TitledTable, study: i64) -> TitledTable {
    let all = exhibit.table.rows().count();
    if all > MOST {
        exhibit.table = exhibit.table.first(MOST);
        exhibit.notes.push(format!("The first {MOST} of {all}; netassay show {study} --runs lists all."));
    }
    exhibit
}
