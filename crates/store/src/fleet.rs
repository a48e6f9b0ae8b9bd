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
        self.write(|transaction, _| {
            Ok(pairs.iter().try_for_each(|pair| insert(transaction, pair, None).map(drop))?)
        })
    }

    /// Sets why a pair was not measured, or not to its end; `None`: it was.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn set_failure(&mut self, pair: &FleetPair, failure: Option<&str>) -> Result<(), StoreError> {
        let failure = failure.map(words::shortened_reason);
        self.write(|transaction, _| {
            transaction.execute(
                "UPDATE pair SET failure = ?4 WHERE campaign = ?1 AND name = ?2 AND repeat = ?3",
                params![pair.campaign, pair.name, pair.repeat, failure],
            )?;
            Ok(())
        })
    }

    /// The pairs of a campaign by name, also those that were not measured.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn pairs(&self, campaign: &str) -> Result<Vec<PairRow>, StoreError> {
        self.pair_rows("WHERE campaign = ?1 ORDER BY name, repeat", [campaign])
    }

    /// The pairs of all campaigns, by campaign and name.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn all_pairs(&self) -> Result<Vec<PairRow>, StoreError> {
        self.pair_rows("ORDER BY campaign, name, repeat", [])
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

    /// The pair that a study measured, if it is of a campaign.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn pair_of(&self, study: StudyId) -> Result<Option<FleetPair>, StoreError> {
        Ok(self.pair_rows("WHERE study = ?1", [study.0])?.pop().map(|row| row.pair))
    }

    /// The study of a pair, if it has one.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn study_of(&self, pair: &FleetPair) -> Result<Option<StudyId>, StoreError> {
        let key = params![pair.campaign, pair.name, pair.repeat];
        let rows = self.pair_rows("WHERE campaign = ?1 AND name = ?2 AND repeat = ?3", key)?;
        Ok(rows.into_iter().find_map(|row| row.study))
    }

    pub(crate) fn name_pairs(&self, rows: &mut [StudyRow]) -> Result<(), StoreError> {
        let pairs = match rows {
            [only] => self.pair_rows("WHERE study = ?1", [only.id.0])?,
            _ => self.pair_rows("WHERE study IS NOT NULL", [])?,
        };
        let pairs = pairs.into_iter();
        let mut pairs: BTreeMap<StudyId, FleetPair> =
            pairs.filter_map(|row| Some((row.study?, row.pair))).collect();
        for row in rows {
            row.pair = pairs.remove(&row.id);
        }
        Ok(())
    }

    /// Whether there is a table or an index of this name. A file of an earlier version lacks
    /// later ones until something is recorded.
    pub(crate) fn has(&self, name: &str) -> Result<bool, StoreError> {
        let there = self.rows("SELECT 1 FROM sqlite_schema WHERE name = ?1", [name], |_| Ok(()))?;
        Ok(!there.is_empty())
    }

    fn pair_rows(&self, which: &str, of: impl rusqlite::Params) -> Result<Vec<PairRow>, StoreError> {
        if !self.has("pair")? {
            return Ok(Vec::new());
        }
        let repeats = "SELECT 1 FROM pragma_table_info('pair') WHERE name = 'repeat'";
        let has_repeats = !self.rows(repeats, [], |_| Ok(()))?.is_empty();
        let pairs = if has_repeats { "pair" } else { "(SELECT *, 1 AS repeat FROM pair)" };
        let rows = self.rows(
            &format!("SELECT campaign, name, labels, study, failure, repeat FROM {pairs} {which}"),
            of,
            |row: &Row<'_>| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            },
        )?;
        type Columns = (String, String, String, Option<i64>, Option<String>, u32);
        let read = |(campaign, name, labels, id, failure, repeat): Columns| {
            let what = || format!("the labels of pair {name:?}");
            let labels = self.read(&labels, what, serde_json::from_str)?;
            let pair = FleetPair { campaign, name, labels, repeat };
            Ok(PairRow { pair, study: id.map(StudyId), failure })
        };
        rows.into_iter().map(read).collect()
    }
}

/// Adds a pair, or the study to a pair that has none. False if another study is there already.
pub(crate) fn insert(
    connection: &Connection,
    pair: &FleetPair,
    study: Option<StudyId>,
) -> rusqlite::Result<bool> {
    let labels = serde_json::to_string(&pair.labels).expect("texts are JSON");
    let changed = connection
        .prepare_cached(
            "INSERT INTO pair (campaign, name, labels, study, repeat) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (campaign, name, repeat) DO UPDATE SET study = excluded.study, failure = NULL
             WHERE study IS NULL",
        )?
        .execute(params![pair.campaign, pair.name, labels, study.map(|id| id.0), pair.repeat])?;
    Ok(changed > 0)
}
