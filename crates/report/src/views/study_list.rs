//! The stored studies.

use results::ListedStudy;

use crate::cells;
use crate::document::{Block, Cell, Table};

/// The studies of a database, in their order.
pub fn study_list(studies: &[ListedStudy]) -> Vec<Block<'static>> {
    if studies.is_empty() {
        return vec![Block::Text("no study is stored yet".to_owned())];
    }
    let head =
        ["id", "study", "scenario", "status", "started (UTC)", "boots", "runs", "failed", "invalid", "tags"];
    let row = |study: &ListedStudy| {
        cells![
            study.id,
            &study.name,
            &study.scenario,
            &study.status,
            Cell::measure(&study.started),
            study.boots,
            study.recorded_runs,
            study.failed_runs,
            study.invalid_runs,
            study.tags.join(", "),
        ]
    };
    let table = Table::with_rows(head, studies.iter().map(row)).optional(&[2, 5, 8, 7, 4]);
    vec![Block::Table(table.compact())]
}
