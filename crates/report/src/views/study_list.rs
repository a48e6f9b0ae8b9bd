//! The stored studies.

use crate::document::Block;
use crate::document::{Table, TitledTable};
use results::ListedStudy;

/// The studies of a database, in their order.
#[must_use]
pub fn study_list(studies: &[ListedStudy]) -> Vec<Block<'static>> {
    if studies.is_empty() {
        return vec![Block::Text("no study is stored yet".to_owned())];
    }
    let head =
        ["id", "study", "scenario", "status", "started (UTC)", "boots", "runs", "failed", "invalid", "tags"];
    let has_tags = studies.iter().any(|study| !study.tags.is_empty());
    let columns = if has_tags { head.len() } else { head.len() - 1 };
    let mut table = Table::new(&head[..columns]).optional(&[2, 5, 8, 7, 4]);
    for study in studies {
        let cells: [&str; 10] = [
            &study.id.to_string(),
            &study.name,
            &study.scenario,
            &study.status,
            &study.started,
            &study.boots.to_string(),
            &study.recorded_runs.to_string(),
            &study.failed_runs.to_string(),
            &study.invalid_runs.to_string(),
            &study.tags.join(", "),
        ];
        table.row(&cells[..columns]);
    }
    vec![Block::Table(TitledTable { title: String::new(), table, notes: Vec::new() })]
}
