//! Studies on their way to another database: packed, unpacked, and pushed to a server.
//!
//! A packed file is a database of the same schema that holds only some studies. Who unpacks one has
//! it from somebody else: it is opened as every database is, and what it holds is read whole
//! before any of it stays.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::slice;

use host::user_file::if_present;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use rusqlite::types::Value;

use crate::campaign_lock::CampaignLock;
use crate::error::{Result, StoreError};
use crate::open::{self, sibling};
use crate::records::{FleetPair, StudyId, StudyRow};
use crate::store::{Store, TransactionFailure};
use crate::tables::{FileTables, Rows, Tables, intern};

/// A study that went from one file to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct Moved {
    pub from: StudyId,
    pub to: StudyId,
    /// Tags that stayed behind: another study has them.
    pub tags_taken: Vec<String>,
}

/// A study that is here already: its numbers in the file and here.
pub type KnownStudy = (StudyId, StudyId);

impl Store {
    /// Packs studies into a new file.
    ///
    /// The file is written beside its place and moved there when it is whole. If the process is
    /// killed before, what it leaves has a name of its own, and the next packing of this file
    /// removes it.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`], [`StoreError::NoSuchStudy`], [`StoreError::CampaignRunning`]
    /// if another process packs into this file; else what reading and writing can meet. Then there
    /// is no file.
    pub fn pack(&self, studies: &[StudyId], file: &Path) -> Result<Vec<Moved>> {
        let part = AtomicFile::begin(file)?;
        let (packed, _) = open::for_packing(&part.path)?.add_from(self, studies)?;
        part.publish(file)?;
        Ok(packed)
    }

    /// Adds all studies of another database, as [`Store::add_from`] does.
    ///
    /// # Errors
    /// As [`Store::add_from`].
    pub fn unpack(&mut self, packed: &Store) -> Result<(Vec<Moved>, Vec<KnownStudy>)> {
        let all: Vec<StudyId> = packed.studies()?.iter().map(|row| row.id).collect();
        self.add_from(packed, &all)
    }

    /// Adds the studies of another database that are not here yet: under new numbers, with their
    /// tags as far as no study here has them. Also returns the studies that are here already.
    ///
    /// On a server each study is added in a transaction of its own.
    ///
    /// # Errors
    /// [`StoreError::NoSuchStudy`]; [`StoreError::PairTaken`];
    /// [`StoreError::CampaignRunning`] while a process records into this file; else what reading
    /// and writing can meet. Then nothing is added, and on a server nothing of the study that
    /// failed and of those after it.
    pub fn add_from(&mut self, source: &Store, studies: &[StudyId]) -> Result<(Vec<Moved>, Vec<KnownStudy>)> {
        let _snapshot = source.snapshot()?;
        let mut rows = source.studies()?;
        if let Some(study) = studies.iter().find(|study| !rows.iter().any(|row| row.id == **study)) {
            return Err(StoreError::NoSuchStudy { path: source.place.named.clone(), study: *study });
        }
        rows.retain(|row| studies.contains(&row.id));
        // Before a row is copied, or others wait: a text of another program may be no study.
        rows.iter().try_for_each(|row| source.readable(row.id))?;
        let path = &self.place.named.clone();
        let added: Result<Vec<Added>> = match &self.server {
            Some(server) => rows
                .iter()
                .map(|row| server.transaction(|tables| source.add_study(row, path, tables)))
                .collect(),
            None => {
                let added = self.campaign(|transaction, path| {
                    let tables = &mut FileTables(transaction);
                    rows.iter().map(|row| source.add_study(row, path, tables)).collect()
                });
                self.campaign = None;
                added
            }
        };
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for one in added? {
            match one {
                Added::New(moved) => new.push(moved),
                Added::Known(study) => known.push(study),
            }
        }
        Ok((new, known))
    }

    /// Adds a study of this database to the tables of another, if it is not there.
    fn add_study(
        &self,
        row: &StudyRow,
        path: &Path,
        to: &mut dyn Tables,
    ) -> Result<Added, TransactionFailure> {
        match self.known(row, to)? {
            Some(there) => Ok(Added::Known((row.id, there))),
            None => self.copy_study(row.id, path, to).map(Added::New),
        }
    }

    /// The number there of this study, if it is there.
    fn known(&self, row: &StudyRow, to: &mut dyn Tables) -> Result<Option<StudyId>, TransactionFailure> {
        let key: [Value; 3] =
            [row.name.clone().into(), row.seed.cast_signed().into(), row.started_unix_ms.into()];
        for there in to.ask(KNOWN, &key)?.into_iter().flatten().map(StudyId) {
            self.budget.renew();
            if content(there, to)? == content(row.id, &mut FileTables(&self.connection))? {
                return Ok(Some(there));
            }
        }
        Ok(None)
    }

    /// Reads everything of a study.
    ///
    /// # Errors
    /// As [`Store::load`].
    fn readable(&self, study: StudyId) -> Result<()> {
        self.loaded(study, None)?;
        self.series(study).map(drop)
    }

    fn copy_study(
        &self,
        study: StudyId,
        path: &Path,
        to: &mut dyn Tables,
    ) -> Result<Moved, TransactionFailure> {
        let (_, rows) = self.rows_of("study", "id = ?1", study.0, |column, value| match value {
            // A process that records it here does not record the copy.
            Value::Text(status) if column == "status" && status == "running" => {
                Ok(Value::Text("interrupted".to_owned()))
            }
            value => Ok(value),
        })?;
        let copy = *to.add("study", rows)?.first().expect("its row was read just now");
        let (boots, rows) =
            self.rows_of("boot", OF_STUDY, study.0, |column, value| match (column, value) {
                ("study", _) => Ok(copy.into()),
                ("environment" | "environment_after", Value::Integer(document)) => {
                    let json = self.text("SELECT json FROM document WHERE id = ?1", document)?;
                    Ok(intern(to, &json)?.into())
                }
                (_, value) => Ok(value),
            })?;
        let copied = to.add("boot", rows)?;
        // Boot by boot: the accounts of a whole campaign are many bytes.
        for (boot, copied) in boots.into_iter().zip(copied) {
            let (runs, rows) = self.rows_of("run", RUNS_OF_BOOT, boot, |column, value| {
                Ok(match column {
                    "boot" => copied.into(),
                    "study" => copy.into(),
                    _ => value,
                })
            })?;
            let copied: BTreeMap<i64, i64> = runs.into_iter().zip(to.add("run", rows)?).collect();
            for table in ["metric", "series"] {
                let (_, rows) = self.rows_of(table, OF_RUNS_OF_BOOT, boot, |column, value| {
                    Ok(match value {
                        Value::Integer(run) if column == "run" => copied.get(&run).copied().into(),
                        value => value,
                    })
                })?;
                to.add(table, rows)?;
            }
        }
        if let Some(pair) = &self.pair_of(study)? {
            let (_, mut rows) = self.rows_of("pair", OF_STUDY, study.0, |column, value| {
                Ok(if column == "study" { copy.into() } else { value })
            })?;
            // Schema 2 has no repeats.
            if !rows.columns.iter().any(|column| column == "repeat") {
                rows.columns.push("repeat".to_owned());
                rows.values.iter_mut().for_each(|row| row.push(pair.repeat.into()));
            }
            add_pair(pair, copy, rows, path, to)?;
        }
        let query = "SELECT name FROM tag WHERE study = ?1 ORDER BY name";
        let mut tags_taken = Vec::new();
        for tag in self.rows(query, [study.0], |row| row.get::<_, String>(0))? {
            let name = Value::from(tag.clone());
            if to.ask("SELECT study FROM tag WHERE name = $1", slice::from_ref(&name))?.is_empty() {
                to.add("tag", Rows::one([("name", name), ("study", copy.into())]))?;
            } else {
                tags_taken.push(tag);
            }
        }
        Ok(Moved { from: study, to: StudyId(copy), tags_taken })
    }

    /// The rows of a table that `which` selects by a number, and their own numbers; `changed` sets
    /// a column for the copy.
    fn rows_of(
        &self,
        table: &str,
        which: &str,
        number: i64,
        mut changed: impl FnMut(&str, Value) -> Result<Value, TransactionFailure>,
    ) -> Result<(Vec<i64>, Rows), TransactionFailure> {
        let query = format!("SELECT * FROM {table} WHERE {which} ORDER BY 1");
        let mut columns: Vec<String> = Vec::new();
        let mut values: Vec<Vec<Value>> = self.rows(&query, [number], |row| {
            if columns.is_empty() {
                columns = row.as_ref().column_names().into_iter().map(str::to_owned).collect();
            }
            (0..columns.len()).map(|at| row.get(at)).collect()
        })?;
        let mut numbers = Vec::new();
        // A copy has a number of its own.
        if let Some(id) = columns.iter().position(|column| column == "id") {
            columns.remove(id);
            let own = values.iter_mut().map(|row| row.remove(id));
            numbers
                .extend(own.filter_map(|value| if let Value::Integer(id) = value { Some(id) } else { None }));
        }
        for row in &mut values {
            for (column, value) in columns.iter().zip(row) {
                *value = changed(column, std::mem::replace(value, Value::Null))?;
            }
        }
        Ok((numbers, Rows { columns, values }))
    }
}

pub(crate) const KNOWN: &str = "SELECT id FROM study WHERE name = $1 AND seed = $2 AND started_unix_ms = $3";

// The rows that refer to the study or the boot of this number.
const OF_STUDY: &str = "study = ?1";
const RUNS_OF_BOOT: &str = "id IN (SELECT id FROM run WHERE boot = ?1)";
const OF_RUNS_OF_BOOT: &str = "run IN (SELECT id FROM run WHERE boot = ?1)";

/// A study on its way into another database.
enum Added {
    New(Moved),
    Known(KnownStudy),
}

/// The environments of a study's boots, and the begins of its runs: no two studies that begin in
/// the same millisecond, as those of a fleet may, have both.
const CONTENT: [&str; 2] = [
    "SELECT document.hash FROM boot JOIN document ON document.id = boot.environment
     WHERE boot.study = $1 ORDER BY boot.number, boot.part",
    "SELECT run.started_unix_ms FROM boot JOIN run ON run.boot = boot.id
     WHERE boot.study = $1 ORDER BY boot.number, boot.part, run.id",
];

fn content(study: StudyId, tables: &mut dyn Tables) -> Result<Vec<Vec<Option<i64>>>, TransactionFailure> {
    CONTENT.iter().map(|query| tables.ask(query, &[study.0.into()])).collect()
}

/// Adds the pair that a study measured, or the study to a pair that has none.
fn add_pair(
    pair: &FleetPair,
    study: i64,
    rows: Rows,
    path: &Path,
    to: &mut dyn Tables,
) -> Result<(), TransactionFailure> {
    let FleetPair { campaign, name, repeat, .. } = pair;
    let key: [Value; 3] = [campaign.clone().into(), name.clone().into(), (*repeat).into()];
    let query = "SELECT study FROM pair WHERE campaign = $1 AND name = $2 AND repeat = $3";
    match to.ask(query, &key)?.first() {
        None => to.add("pair", rows).map(drop),
        Some(None) => {
            let update = "UPDATE pair SET study = $1, failure = NULL
                          WHERE campaign = $2 AND name = $3 AND repeat = $4";
            let with_study: Vec<Value> = [Value::from(study)].into_iter().chain(key).collect();
            to.change(update, &with_study).map(drop)
        }
        Some(Some(holder)) => {
            let (path, holder, campaign) = (path.to_owned(), StudyId(*holder), campaign.clone());
            Err(StoreError::PairTaken { path, pair: pair.to_string(), campaign, holder }.into())
        }
    }
}

struct AtomicFile {
    path: PathBuf,
    /// Held to the end: no other process writes there.
    _right: CampaignLock,
}

impl AtomicFile {
    /// Begins a file that must not exist. A rest that a killed process left is removed.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`], [`StoreError::CampaignRunning`]; otherwise errors of creation.
    fn begin(file: &Path) -> Result<AtomicFile> {
        if fs::symlink_metadata(file).is_ok() {
            return Err(StoreError::AlreadyThere { path: file.to_owned() });
        }
        let no_name = || io::Error::new(ErrorKind::InvalidInput, "it is no name of a file");
        let name = file.file_name().ok_or_else(|| StoreError::from_creation(file, no_name()))?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        let right = CampaignLock::begin(&file.with_file_name(&hidden))?;
        hidden.push(".part");
        let part = AtomicFile { path: file.with_file_name(hidden), _right: right };
        part.clear().map_err(|error| StoreError::from_creation(&part.path, error))?;
        Ok(part)
    }

    /// Moves the file to its place.
    ///
    /// # Errors
    /// [`StoreError::AlreadyThere`] if another process made a file there; else errors of creation.
    fn publish(self, file: &Path) -> Result<()> {
        let moved = match renameat2(AT_FDCWD, &self.path, AT_FDCWD, file, RenameFlags::RENAME_NOREPLACE) {
            // A file system that cannot promise not to replace: the check at the beginning must do.
            Err(Errno::EINVAL | Errno::ENOSYS) => fs::rename(&self.path, file),
            moved => moved.map_err(io::Error::from),
        };
        moved.map_err(|error| StoreError::from_creation(file, error))
    }

    fn clear(&self) -> io::Result<()> {
        for ending in ["", "-journal", "-lock"] {
            if_present(fs::remove_file(sibling(&self.path, ending)))?;
        }
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // A file that cannot be removed now is removed by the next packing.
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_in_its_place_or_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.db");
        let there = || fs::read_dir(directory.path()).unwrap().flatten().count();
        let aside = AtomicFile::begin(&file).unwrap();
        fs::write(&aside.path, "half").unwrap();
        assert!(matches!(AtomicFile::begin(&file), Err(StoreError::CampaignRunning { .. })));
        drop(aside);
        assert_eq!(there(), 0, "what was not published stays");
        // As a killed process leaves it.
        for name in [".a.db.part", ".a.db.part-journal", ".a.db.part-lock"] {
            fs::write(directory.path().join(name), "1").unwrap();
        }
        let aside = AtomicFile::begin(&file).unwrap();
        fs::write(&aside.path, "whole").unwrap();
        aside.publish(&file).unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), there()), ("whole", 1));
        assert!(matches!(AtomicFile::begin(&file), Err(StoreError::AlreadyThere { .. })));
    }

    #[test]
    fn a_file_that_another_process_made_meanwhile_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.db");
        let aside = AtomicFile::begin(&file).unwrap();
        fs::write(&aside.path, "mine").unwrap();
        fs::write(&file, "theirs").unwrap();
        assert!(matches!(aside.publish(&file), Err(StoreError::AlreadyThere { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
