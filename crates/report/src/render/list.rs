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
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
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
}

/// Lists stored studies.
#[must_use]
pub fn list(rows: &[StudyRow]) -> StudyList {
    let rows = rows
        .iter()
        .map(|row| Row {
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
        let mut table = Table::new(&[
            "id",
            "study",
            "scenario",
            "status",
            "started (UTC)",
            "boots",
            "runs",
            "failed",
            "invalid",
        ])
        .optional(&[2, 5, 8, 4]);
        for row in &self.rows {
            table.row(&[
                &row.id.to_string(),
                &row.name,
                &row.scenario,
                &row.status,
                &row.started,
                &row.boots.to_string(),
                &row.recorded_runs.to_string(),
                &row.failed_runs.to_string(),
                &row.invalid_runs.to_string(),
            ]);
        }
        table.fit(layout)
    }
}
