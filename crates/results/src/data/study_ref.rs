//! A stored study as it is called where two are beside each other.

use serde::Serialize;
use store::StudyRow;

use crate::words::phrases::listed;

/// A stored study as it is called where two are beside each other.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct StudyRef {
    pub study: i64,
    pub name: String,
    pub tags: Vec<String>,
    pub version: String,
    pub status: String,
}

impl StudyRef {
    pub(crate) fn from_row(row: &StudyRow) -> Self {
        Self {
            study: row.id.0,
            name: row.name.clone(),
            tags: row.tags.clone(),
            version: row.version.clone(),
            status: row.status.to_string(),
        }
    }

    /// `study 6 (quick, tagged main)`.
    #[must_use]
    pub fn words(&self) -> String {
        let tagged =
            if self.tags.is_empty() { String::new() } else { format!(", tagged {}", listed(&self.tags)) };
        format!("study {} ({}{tagged})", self.study, self.name)
    }
}
