//! Studies on their way to another file: packed, and unpacked.
//!
//! A packed file is a database of the same schema that holds only some studies. Who unpacks one has
//! it from somebody else: it is opened as every database is, and what it holds is read whole
//! before any of it stays.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use host::user_file::if_present;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use rusqlite::types::Value;
use rusqlite::{Transaction, params_from_iter};

use crate::campaign_lock::CampaignLock;
use crate::error::{Result, StoreError};
use crate::fleet;
use crate::open::{self, sibling};
use crate::records::{StudyId, StudyRow};
use crate::store::{Store, TransactionFailure, intern};

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
        let packed = open::for_packing(&part.path)?.take(self, studies)?;
        part.publish(file)?;
        Ok(packed)
    }

    /// Adds the studies of a packed file that are not here yet: under new numbers, with their tags
    /// as far as no study here has them. Also returns the studies that are here already.
    ///
    /// # Errors
    /// [`StoreError::CampaignRunning`] while a process records into this file; else what reading
    /// and writing can meet. Then nothing is added.
    pub fn unpack(&mut self, packed: &Store) -> Result<(Vec<Moved>, Vec<KnownStudy>)> {
        let here = self.studies()?;
        let (mut known, mut new) = (Vec::new(), Vec::new());
        for row in packed.studies()? {
            match here.iter().find(|one| is_same(one, &row)) {
                Some(one) => known.push((row.id, one.id)),
                None => new.push(row.id),
            }
        }
        Ok((self.take(packed, &new)?, known))
    }

    fn take(&mut self, source: &Store, studies: &[StudyId]) -> Result<Vec<Moved>> {
        let _snapshot = source.snapshot()?;
        let mut studies = studies.to_vec();
        studies.sort_unstable();
        studies.dedup();
        // Before the first row is copied: a text that another program wrote may be no study.
        for study in &studies {
            source.readable(*study)?;
        }
        let moved = self.campaign(|transaction, _| {
            studies.iter().map(|study| source.copy_study(*study, transaction)).collect()
        });
        self.campaign = None;
        moved
    }

    /// Reads everything of a study.
    ///
    /// # Errors
    /// As [`Store::load`].
    fn readable(&self, study: StudyId) -> Result<()> {
        self.loaded(study, None)?;
        self.series(study).map(drop)
    }

    /// Copies a study of this file into another one.
    fn copy_study(&self, study: StudyId, to_file: &Transaction<'_>) -> Result<Moved, TransactionFailure> {
        let copied = self.copy_rows(to_file, ("study", "id"), study.0, |column, value| match value {
            // A process that records it here does not record the copy.
            Value::Text(status) if column == "status" && status == "running" => {
                Ok(Value::Text("interrupted".to_owned()))
            }
            value => Ok(value),
        })?;
        let Some((_, to)) = copied.first().copied() else {
            return Err(StoreError::NoSuchStudy { path: self.place.named.clone(), study }.into());
        };
        let boots =
            self.copy_rows(to_file, ("boot", "study"), study.0, |column, value| match (column, value) {
                ("study", _) => Ok(to.into()),
                ("environment" | "environment_after", Value::Integer(document)) => {
                    let json = self.text("SELECT json FROM document WHERE id = ?1", document)?;
                    Ok(intern(to_file, &json)?.into())
                }
                (_, value) => Ok(value),
            })?;
        // Boot by boot: the accounts of a whole campaign are many bytes.
        for (from, boot) in boots {
            let runs = self.copy_rows(to_file, ("run", "boot"), from, |column, value| match column {
                "boot" => Ok(boot.into()),
                "study" => Ok(to.into()),
                _ => Ok(value),
            })?;
            for (from, run) in runs {
                for table in ["metric", "series"] {
                    self.copy_rows(to_file, (table, "run"), from, |column, value| {
                        Ok(if column == "run" { run.into() } else { value })
                    })?;
                }
            }
        }
        if let Some(pair) = &self.pair_of(study)? {
            fleet::insert(to_file, pair, Some(StudyId(to)))?;
        }
        let query = "SELECT name FROM tag WHERE study = ?1 ORDER BY name";
        let mut add = to_file.prepare("INSERT OR IGNORE INTO tag (name, study) VALUES (?1, ?2)")?;
        let mut tags_taken = Vec::new();
        for tag in self.rows(query, [study.0], |row| row.get::<_, String>(0))? {
            if add.execute((&tag, to))? == 0 {
                tags_taken.push(tag);
            }
        }
        Ok(Moved { from: study, to: StudyId(to), tags_taken })
    }

    /// Copies the rows of a table whose column `reference` is `id`; `changed` sets a column in the
    /// copy. Returns the numbers of each row in this file and in the copy.
    fn copy_rows(
        &self,
        to_file: &Transaction<'_>,
        (table, reference): (&str, &str),
        id: i64,
        mut changed: impl FnMut(&str, Value) -> Result<Value, TransactionFailure>,
    ) -> Result<Vec<(i64, i64)>, TransactionFailure> {
        let query = format!("SELECT * FROM {table} WHERE {reference} = ?1 ORDER BY 1");
        let rows: Vec<Vec<(String, Value)>> = self.rows(&query, [id], |row| {
            let columns = row.as_ref().column_names().into_iter().map(str::to_owned);
            columns.enumerate().map(|(at, name)| Ok((name, row.get(at)?))).collect()
        })?;
        let mut copied = Vec::new();
        for row in rows {
            let (mut from, mut columns, mut values) = (0, Vec::new(), Vec::new());
            for (column, value) in row {
                match value {
                    Value::Integer(number) if column == "id" => from = number,
                    value => {
                        values.push(changed(&column, value)?);
                        columns.push(column);
                    }
                }
            }
            let (columns, marks) = (columns.join(", "), vec!["?"; values.len()].join(", "));
            to_file
                .prepare_cached(&format!("INSERT INTO {table} ({columns}) VALUES ({marks})"))?
                .execute(params_from_iter(values))?;
            copied.push((from, to_file.last_insert_rowid()));
        }
        Ok(copied)
    }
}

/// Begun in the same millisecond with the same seed, and equally far.
fn is_same(one: &StudyRow, other: &StudyRow) -> bool {
    let key = |row: &StudyRow| {
        let counts = (row.boots, row.recorded_runs, row.failed_runs, row.invalid_runs);
        (row.name.clone(), row.seed, row.started_unix_ms, counts)
    };
    key(one) == key(other)
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
