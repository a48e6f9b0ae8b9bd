//! Stored studies in a list, and as they are called where two are beside each other.

use serde::Serialize;
use store::{FleetPair, StudyRow};

use crate::words::number::instant;
use crate::words::phrases::listed;

/// A study in the list of a database.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ListedStudy {
    pub id: i64,
    pub name: String,
    pub scenario: String,
    pub status: String,
    pub started: String,
    /// The boots that began.
    pub boots: u32,
    pub recorded_runs: u32,
    pub failed_runs: u32,
    pub invalid_runs: u32,
    pub version: String,
    pub tags: Vec<String>,
    /// The pair of a fleet that it measured.
    pub pair: Option<FleetPair>,
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
            pair: row.pair.clone(),
        }
    }
}

/// A stored study as it is called where two are beside each other.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct StudyRef {
    pub study: i64,
    pub name: String,
    pub tags: Vec<String>,
    pub version: String,
    pub status: String,
    /// The campaign that is meant in place of this study, which is one of its pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign: Option<String>,
}

impl StudyRef {
    pub(crate) fn from_row(row: &StudyRow) -> Self {
        Self {
            study: row.id.0,
            name: row.name.clone(),
            tags: row.tags.clone(),
            version: row.version.clone(),
            status: row.status.to_string(),
            campaign: None,
        }
    }

    /// `study 6 (quick, tagged main)`, `campaign quick@19a`.
    pub fn description(&self) -> String {
        if let Some(campaign) = &self.campaign {
            return format!("campaign {campaign}");
        }
        let tagged =
            if self.tags.is_empty() { String::new() } else { format!(", tagged {}", listed(&self.tags)) };
        format!("study {} ({}{tagged})", self.study, self.name)
    }
}
