//! Removes a study with all its data.

use std::path::Path;

use rusqlite::Connection;
use serde::Serialize;

use crate::error::StoreError;
use crate::records::StudyId;
use crate::store::{Failure, Store, require_study};

/// The amount of stored data of a study, which goes when it is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// Boots, each of their parts counted.
    pub boots: u32,
    /// Runs, including warm-ups, failed and disturbed ones.
    pub runs: u32,
    /// Values of metrics.
    pub values: u32,
    /// Tables of counters over time.
    pub series: u32,
    /// Descriptions of hosts that no other study has.
    pub environments: u32,
    /// Tags.
    pub tags: u32,
}

/// Descriptions of hosts that only boots of one study refer to.
const OWN_DOCUMENTS: &str = "id IN (SELECT environment FROM boot WHERE study = ?1
                                    UNION SELECT environment_after FROM boot WHERE study = ?1)
                             AND id NOT IN (SELECT environment FROM boot WHERE study <> ?1)
                             AND id NOT IN (SELECT environment_after FROM boot
                                            WHERE study <> ?1 AND environment_after IS NOT NULL)";

impl Store {
    /// The amount of stored data of a study.
    ///
    /// # Errors
    /// [`StoreError::NoSuchStudy`]; otherwise errors of reading.
    pub fn contents(&self, study: StudyId) -> Result<Contents, StoreError> {
        self.budget.renew();
        contents(&self.connection, &self.place.named, study)
            .map_err(|error| error.into_error(&self.place.named))
    }

    /// Removes a study with all its data, and returns their amount. The bytes are overwritten; the
    /// file keeps its size, and later studies use the space.
    ///
    /// # Errors
    /// [`StoreError::CampaignRunning`] while a process records into the file,
    /// [`StoreError::NoSuchStudy`]; otherwise errors of writing. Then nothing is removed.
    pub fn remove(&mut self, study: StudyId) -> Result<Contents, StoreError> {
        self.connection
            .pragma_update(None, "secure_delete", true)
            .map_err(|error| StoreError::from_sqlite(&self.place.named, error))?;
        let removed = self.campaign(|transaction, path| {
            let contents = contents(transaction, path, study)?;
            let mut documents =
                transaction.prepare(&format!("SELECT id FROM document WHERE {OWN_DOCUMENTS}"))?;
            let documents: Vec<i64> =
                documents.query_map([study.0], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            transaction.execute("DELETE FROM study WHERE id = ?1", [study.0])?;
            let mut delete = transaction.prepare("DELETE FROM document WHERE id = ?1")?;
            documents.iter().try_for_each(|id| delete.execute([id]).map(drop))?;
            Ok(contents)
        });
        self.campaign = None;
        removed
    }
}

fn contents(connection: &Connection, path: &Path, study: StudyId) -> Result<Contents, Failure> {
    require_study(connection, path, study)?;
    let count = |what: &str| -> rusqlite::Result<u32> {
        connection.query_row(&format!("SELECT count(*) FROM {what}"), [study.0], |row| row.get(0))
    };
    let of_runs = "run IN (SELECT id FROM run WHERE study = ?1)";
    Ok(Contents {
        boots: count("boot WHERE study = ?1")?,
        runs: count("run WHERE study = ?1")?,
        values: count(&format!("metric WHERE {of_runs}"))?,
        series: count(&format!("series WHERE {of_runs}"))?,
        environments: count(&format!("document WHERE {OWN_DOCUMENTS}"))?,
        tags: count("tag WHERE study = ?1")?,
    })
}
