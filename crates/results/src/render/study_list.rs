//! The stored studies.

use serde::Serialize;
use store::StudyRow;

use crate::words::layout::Layout;
use crate::words::number::instant;
use crate::words::table::Table;

/// The studies in a database, oldest first.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct StudyList {
    rows: Vec<ListedStudy>,
}

#[derive(Debug, Serialize)]
struct ListedStudy {
    id: i64,
    name: String,
    scenario: String,
    status: String,
    started: String,
    boots: u32,
    recorded_runs: u32,
    failed_runs: u32,
    invalid_runs: u32,
    version: String,
    tags: Vec<String>,
}

/// Lists stored studies.
#[must_use]
pub fn list_studies(rows: &[StudyRow]) -> StudyList {
    let rows = rows
        .iter()
        .map(|row| ListedStudy {
            id: row.id.0,
            name: row.name.clone(),
            scenario: row.scenario.clone(),
            status: row.status.to_string(),
            started: instant(row.started_unix_ms),
            boots: row.boots,
            recorded_runs: row.recorded_runs,
            failed_runs: row.failed_runs,
            invalid_runs: row.invalid_runs,
            version: row.version.clone(),
            tags: row.tags.clone(),
        })
        .collect();
    StudyList { rows }
}

impl StudyList {
    /// The list for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        if self.rows.is_empty() {
            return "no study is stored yet\n".to_owned();
        }
        let head = [
            "id",
            "study",
            "scenario",
            "status",
            "started (UTC)",
            "boots",
            "runs",
            "failed",
            "invalid",
            "tags",
        ];
        let has_tags = self.rows.iter().any(|row| !row.tags.is_empty());
        let columns = if has_tags { head.len() } else { head.len() - 1 };
        let mut table = Table::new(&head[..columns]).optional(&[2, 5, 8, 7, 4]);
        for row in &self.rows {
            let cells: [&str; 10] = [
                &row.id.to_string(),
                &row.name,
                &row.scenario,
                &row.status,
                &row.started,
                &row.boots.to_string(),
                &row.recorded_runs.to_string(),
                &row.failed_runs.to_string(),
                &row.invalid_runs.to_string(),
                &row.tags.join(", "),
            ];
            table.row(&cells[..columns]);
        }
        table.fit(layout)
    }
}

#[cfg(test)]
mod tests {
    use store::{StudyId, StudyStatus};

    use super::*;

    fn row(id: i64, tags: &[&str]) -> StudyRow {
        StudyRow {
            id: StudyId(id),
            name: "tcp-offload".to_owned(),
            scenario: "veth".to_owned(),
            seed: 1,
            version: "0.1.0".to_owned(),
            status: StudyStatus::Complete,
            started_unix_ms: 1_795_181_965_000,
            finished_unix_ms: None,
            boots: 5,
            recorded_runs: 100,
            failed_runs: 0,
            invalid_runs: 0,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            toml: String::new(),
        }
    }

    #[test]
    fn tags_stand_in_the_list_and_command_nothing() {
        let rows = [row(1, &[]), row(2, &["main", "v6.12"]), row(3, &["\u{1b}[2J=1\nx"])];
        assert_eq!(
            list_studies(&rows).text(Layout::PLAIN),
            "id  study        status    started (UTC)        runs  failed  tags\n\
             \x201  tcp-offload  complete  2026-11-20 13:39:25   100       0\n\
             \x202  tcp-offload  complete  2026-11-20 13:39:25   100       0  main, v6.12\n\
             \x203  tcp-offload  complete  2026-11-20 13:39:25   100       0  \\u{1b}[2J=1 x\n\
             (--wide shows also: scenario, boots, invalid)\n"
        );
    }
}
