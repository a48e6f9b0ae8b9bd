//! The tries that do not count, and why.

use report::Exhibit;

use crate::block::Block;
use crate::section::Study;

/// The most tries of a list; the command in the note lists the others.
const MOST: usize = 100;

pub(super) fn blocks(study: &Study) -> Vec<Block<'static>> {
    let uncounted = study.results.uncounted();
    if uncounted.is_empty() {
        return vec![Block::Text("No run failed, and none was disturbed.".to_owned())];
    }
    let number = study.results.number();
    uncounted.into_iter().map(|exhibit| Block::Table(shortened(exhibit, number))).collect()
}

fn shortened(mut exhibit: Exhibit, study: i64) -> Exhibit {
    let all = exhibit.table.rows().count();
    if all > MOST {
        exhibit.table = exhibit.table.first(MOST);
        exhibit.notes.push(format!("The first {MOST} of {all}; netassay show {study} --runs lists all."));
    }
    exhibit
}
