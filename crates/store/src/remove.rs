//! Removes a study with all its data.

use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::records::StudyId;
use crate::store::{Store, TransactionFailure};
use crate::tables::{FileTables, Tables, require};

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
        let path = &self.place.named;
        if let Some(server) = &self.server {
            return server.transaction(|tables| contents(tables, path, study));
        }
        self.budget.renew();
        contents(&mut FileTables(&self.connection), path, study).map_err(|error| error.into_error(path))
    }

    /// Removes a study with all its data, and returns their amount. The bytes are overwritten; the
    /// file keeps its size, and later studies use the space.
    ///
    /// # Errors
    /// [`crate::StoreError::CampaignRunning`] while a process records into the file,
    /// [`crate::StoreError::NoSuchStudy`]; otherwise errors of writing. Then nothing is removed.
    pub fn remove(&mut self, study: StudyId) -> Result<Contents> {
        if self.server.is_some() {
            return self.alter(|tables, path| remove(tables, path, study));
        }
        self.connection.pragma_update(None, "secure_delete", true).map_err(|error| self.sql(error))?;
        let removed = self.campaign(|transaction, path| remove(&mut FileTables(transaction), path, study));
        self.campaign = None;
        removed
    }
}

fn remove(tables: &mut dyn Tables, path: &Path, study: StudyId) -> Result<Contents, TransactionFailure> {
    let contents = contents(tables, path, study)?;
    tables.change("DELETE FROM study WHERE id = $1", &[study.0.into()])?;
    tables.change(DELETE_UNUSED_DOCUMENTS, &[])?;
    Ok(contents)
}

fn contents(tables: &mut dyn Tables, path: &Path, study: StudyId) -> Result<Contents, TransactionFailure> {
    require(tables, path, study)?;
    let mut count = |table: &str| -> Result<u32, TransactionFailure> {
        let query = format!("SELECT count(*) FROM {table} WHERE study = $1");
        let found = tables.ask(&query, &[study.0.into()])?.into_iter().flatten().sum::<i64>();
        Ok(u32::try_from(found).unwrap_or(u32::MAX))
    };
    Ok(Contents { boots: count("boot")?, runs: count("run")?, tags: count("tag")? })
}
