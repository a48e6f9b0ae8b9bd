//! A study of a history.

use serde::Serialize;
use store::StudyStatus;

use crate::data::differences::StudyDifference;
use crate::data::disturbed::kept_in;
use crate::data::series::HistoryEntry;
use crate::data::shortfall::stands;
use crate::words::number::{counted, instant};

/// A study of a history.
#[derive(Debug, Serialize)]
pub(crate) struct HistoryMember {
    pub(crate) study: i64,
    /// Its name in the history.
    pub(crate) label: String,
    pub(crate) tags: Vec<String>,
    /// UTC.
    pub(crate) started: String,
    pub(crate) version: String,
    pub(crate) status: String,
    /// The differences from the study before it, the weightiest first.
    pub(crate) differs: Vec<StudyDifference>,
}

impl HistoryMember {
    pub(super) fn from_entry(entry: &HistoryEntry, differs: Vec<StudyDifference>) -> Self {
        let row = &entry.outline.row;
        Self {
            study: row.id.0,
            label: entry.chosen.label.clone(),
            tags: row.tags.clone(),
            started: instant(row.started_unix_ms),
            version: row.version.clone(),
            status: row.status.to_string(),
            differs,
        }
    }
}

/// Notes on a study.
pub(super) fn notes(entry: &HistoryEntry) -> impl Iterator<Item = String> {
    let row = &entry.outline.row;
    let is_whole = row.status == StudyStatus::Complete;
    let lack = (!is_whole).then(|| {
        let (status, runs) = (stands(row.status), counted(row.recorded_runs as usize, "run"));
        format!("study {} {status}: it has {runs}", row.id)
    });
    lack.into_iter().chain(kept_in(&entry.outline))
}

/// `1 study`, `3 studies`.
pub(crate) fn studies(count: usize) -> String {
    if count == 1 { "1 study".to_owned() } else { format!("{count} studies") }
}
