//! Removes a study with all its data.

use std::path::Path;

use rusqlite::Connection;
use serde::Serialize;

use crate::error::Result;
use crate::records::StudyId;
use crate::store::{Store, TransactionFailure, require_study};

/// The amount of stored data of a study, which goes when it is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct Contents {
    /// Each of their parts counted.
    pub boots: u32,
    /// Including warm-ups, failed and disturbed ones.
    pub runs: u32,
    pub tags: u32,
}

// Descriptions of hosts that no boot refers to any more.
const DELETE_UNUSED_DOCUMENTS: &str = "DELETE FROM document WHERE id NOT IN (
    SELECT environment FROM boot
    UNION SELECT environment_after FROM boot WHERE environment_after IS NOT NULL)";

impl Store {
    /// The amount of stored data of a study.
    ///
    /// # Errors
    /// [`crate::StoreError::NoSuchStudy`]; otherwise errors of reading.
    pub fn contents(&self, study: StudyId) -> Result<Contents> {
        self.budget.renew();
        contents(&self.connection, &self.place.named, study)
            .map_err(|error| error.into_error(&self.place.named))
    }

    /// Removes a study with all its data, and returns their amount. The bytes are overwritten; the
    /// file keeps its size, and later studies use the space.
    ///
    /// # Errors
    /// [`crate::StoreError::CampaignRunning`] while a process records into the file,
    /// [`crate::StoreError::NoSuchStudy`]; otherwise errors of writing. Then nothing is removed.
    pub fn remove(&mut self, study: StudyId) -> Result<Contents> {
        self.connection.pragma_update(None, "secure_delete", true).map_err(|error| self.sql(error))?;
        let removed = self.campaign(|transaction, path| {
            let contents = contents(transaction, path, study)?;
            transaction.execute("DELETE FROM study WHERE id = ?1", [study.0])?;
            transaction.execute(DELETE_UNUSED_DOCUMENTS, [])?;
            Ok(contents)
        });
        self.campaign = None;
        removed
    }
}

fn contents(connection: &Connection, path: &Path, study: StudyId) -> Result<Contents, TransactionFailure> {
    require_study(connection, path, study)?;
    let count = |table: &str| -> rusqlite::Result<u32> {
        let query = format!("SELECT count(*) FROM {table} WHERE study = ?1");
        connection.query_row(&query, [study.0], |row| row.get(0))
    };
    Ok(Contents { boots: count("boot")?, runs: count("run")?, tags: count("tag")? })
}
