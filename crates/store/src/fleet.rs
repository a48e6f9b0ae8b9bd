//! Campaigns of a fleet: its pairs, and the study of each.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, params};

use crate::error::StoreError;
use crate::records::{FleetPair, PairRow, StudyId, StudyRow};
use crate::store::Store;

impl Store {
    /// Begins a campaign of a fleet, or adds pairs to it; those that have a study stay as they are.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn begin_fleet(&mut self, pairs: &[FleetPair]) -> Result<(), StoreError> {
        self.write(|transaction, _| Ok(pairs.iter().try_for_each(|pair| insert(transaction, pair, None))?))
    }

    /// Sets why a pair was not measured, or not to its end; `None`: it was.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn set_failure(&mut self, pair: &FleetPair, failure: Option<&str>) -> Result<(), StoreError> {
        let failure = failure.map(words::shortened_reason);
        self.write(|transaction, _| {
            transaction.execute(
                "UPDATE pair SET failure = ?3 WHERE campaign = ?1 AND name = ?2",
                params![pair.campaign, pair.name, failure],
            )?;
            Ok(())
        })
    }

    /// The pairs of a campaign by name, also those that were not measured.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn pairs(&self, campaign: &str) -> Result<Vec<PairRow>, StoreError> {
        self.pair_rows("WHERE campaign = ?1 ORDER BY name", [campaign])
    }

    /// The campaigns of studies of this name, oldest first.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn campaigns(&self, study: &str) -> Result<Vec<String>, StoreError> {
        let rows = self.pair_rows("ORDER BY campaign", [])?;
        let mut campaigns: Vec<String> = rows.into_iter().map(|row| row.pair.campaign).collect();
        campaigns.dedup();
        campaigns.retain(|campaign| campaign.rsplit_once('@').is_some_and(|(name, _)| name == study));
        Ok(campaigns)
    }

    pub(crate) fn pair_of(&self, study: StudyId) -> Result<Option<FleetPair>, StoreError> {
        Ok(self.pair_rows("WHERE study = ?1", [study.0])?.pop().map(|row| row.pair))
    }

    pub(crate) fn name_pairs(&self, rows: &mut [StudyRow]) -> Result<(), StoreError> {
        let pairs = self.pair_rows("WHERE study IS NOT NULL", [])?.into_iter();
        let mut pairs: BTreeMap<StudyId, FleetPair> =
            pairs.filter_map(|row| Some((row.study?, row.pair))).collect();
        for row in rows {
            row.pair = pairs.remove(&row.id);
        }
        Ok(())
    }

    fn pair_rows(&self, which: &str, of: impl rusqlite::Params) -> Result<Vec<PairRow>, StoreError> {
        // A file that an earlier version wrote has no such table until something is recorded.
        let is_there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'pair'";
        if self.rows(is_there, [], |_| Ok(()))?.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.rows(
            &format!("SELECT campaign, name, labels, study, failure FROM pair {which}"),
            of,
            |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )?;
        type Columns = (String, String, String, Option<i64>, Option<String>);
        let read = |(campaign, name, labels, id, failure): Columns| {
            let what = || format!("the labels of pair {name:?}");
            let labels = self.read(&labels, what, serde_json::from_str)?;
            Ok(PairRow { pair: FleetPair { campaign, name, labels }, study: id.map(StudyId), failure })
        };
        rows.into_iter().map(read).collect()
    }
}

/// Adds a pair, or the study to a pair that has none.
pub(crate) fn insert(
    connection: &Connection,
    pair: &FleetPair,
    study: Option<StudyId>,
) -> rusqlite::Result<()> {
    let labels = serde_json::to_string(&pair.labels).expect("texts are JSON");
    connection
        .prepare_cached(
            "INSERT INTO pair (campaign, name, labels, study) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (campaign, name) DO UPDATE SET study = excluded.study, failure = NULL
             WHERE study IS NULL",
        )?
        .execute(params![pair.campaign, pair.name, labels, study.map(|id| id.0)])?;
    Ok(())
}
