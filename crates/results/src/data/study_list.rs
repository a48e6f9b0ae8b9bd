//! The stored studies.

use serde::Serialize;
use store::StudyRow;

use crate::words::number::instant;

/// A study in the list of a database.
#[derive(Debug, Serialize)]
pub struct ListedStudy {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its scenarios.
    pub scenario: String,
    /// Its state.
    pub status: String,
    /// Its begin, in UTC.
    pub started: String,
    /// The boots that began.
    pub boots: u32,
    /// Runs that count.
    pub recorded_runs: u32,
    /// Runs that failed.
    pub failed_runs: u32,
    /// Runs that something disturbed.
    pub invalid_runs: u32,
    /// The version of the program that measured it.
    pub version: String,
    /// Its tags.
    pub tags: Vec<String>,
}

impl From<&StudyRow> for ListedStudy {
    fn from(row: &StudyRow) -> Self {
        Self {
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
        }
    }
}
