//! Studies on their way to another file: packed, and unpacked.
//!
//! A packed file is a database of the same schema that holds only some studies. Who unpacks one has
//! it from somebody else: it is opened as every database is, and what it holds is read whole
//! before any of it stays.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Transaction, params_from_iter};

use crate::atomic_file::AtomicFile;
use crate::document;
use crate::error::StoreError;
use crate::new_records::StudyId;
use crate::open;
use crate::store::{Failure, Store};
use crate::stored::StudyRow;

/// A study that went from one file to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its number in the file that it comes from.
    pub from: StudyId,
    /// Its number in the other.
    pub to: StudyId,
    /// Tags that stayed behind: another study has them.
    pub tags_taken: Vec<String>,
}

/// The fate of the studies of a packed file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// The studies that were added.
    pub added: Vec<Moved>,
    /// The studies that existed, as (number in the file, number here).
    pub known: Vec<(StudyId, StudyId)>,
}

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
    pub fn pack(&self, studies: &[StudyId], file: &Path) -> Result<Vec<Moved>, StoreError> {
        let aside = AtomicFile::begin(file)?;
        let packed = open::for_packing(&aside.path).map(Store::from_opened)?.take(self, studies)?;
        aside.publish(file)?;
        Ok(packed)
    }

    /// Adds the studies of a packed file that are not here yet: under new numbers, with their tags
    /// as far as no study here has them.
    ///
    /// # Errors
    /// [`StoreError::CampaignRunning`] while a process records into this file; else what reading
    /// and writing can meet. Then nothing is added.
    pub fn unpack(&mut self, packed: &Store) -> Result<Unpacked, StoreError> {
        let here = self.studies()?;
        let mut unpacked = Unpacked::default();
        let mut new = Vec::new();
        for row in packed.studies()? {
            match here.iter().find(|known| is_same(known, &row)) {
                Some(known) => unpacked.known.push((row.id, known.id)),
                None => new.push(row.id),
            }
        }
        unpacked.added = self.take(packed, &new)?;
        Ok(unpacked)
    }

    /// Adds studies of another file, all or none.
    fn take(&mut self, source: &Store, studies: &[StudyId]) -> Result<Vec<Moved>, StoreError> {
        // One state of the file, however long it takes.
        let _snapshot = source
            .connection
            .unchecked_transaction()
            .map_err(|error| StoreError::from_sqlite(&source.place.named, error))?;
        let mut studies = studies.to_vec();
        studies.sort_unstable();
        studies.dedup();
        // Before the first row is copied: a text that another program wrote may be no study.
        for study in &studies {
            source.readable(*study)?;
        }
        let moved = self.campaign(|transaction, _| {
            let copy = Copy { source, transaction };
            studies.iter().map(|study| copy.study(*study)).collect::<Result<Vec<Moved>, Failure>>()
        });
        self.campaign = None;
        moved
    }

    /// Reads everything of a study.
    ///
    /// # Errors
    /// As [`Store::load`]; [`StoreError::Corrupted`] for a value that is no number.
    fn readable(&self, study: StudyId) -> Result<(), StoreError> {
        let stored = self.load_within(study)?;
        let mut values = stored.runs.iter().flat_map(|run| &run.metrics);
        if let Some((key, value)) = values.find(|(_, value)| !value.is_finite()) {
            let detail = format!("{} of a run is {value}", words::sanitised_line(key));
            return Err(StoreError::Corrupted { path: self.place.named.clone(), detail });
        }
        self.series(study).map(drop)
    }
}

/// Whether two rows are of one study: begun in the same millisecond with the same seed, and equally
/// far.
fn is_same(one: &StudyRow, other: &StudyRow) -> bool {
    let key = |row: &StudyRow| {
        let counts = (row.boots, row.recorded_runs, row.failed_runs, row.invalid_runs);
        (row.name.clone(), row.seed, row.started_unix_ms, counts)
    };
    key(one) == key(other)
}

/// One study's way from a file into a transaction of another.
struct Copy<'a> {
    source: &'a Store,
    transaction: &'a Transaction<'a>,
}

const STUDY: &[&str] =
    &["plan", "name", "toml", "seed", "scenario", "version", "status", "started_unix_ms", "finished_unix_ms"];

const BOOT: &[&str] =
    &["environment", "environment_after", "number", "part", "started_unix_ms", "ended_unix_ms"];

const RUN: &[&str] = &[
    "number",
    "part",
    "block",
    "repeat",
    "position",
    "warmup",
    "condition",
    "started_unix_ms",
    "status",
    "reason",
    "limited_by",
    "evidence",
    "detail",
];

type Copied<T> = Result<T, Failure>;

impl Copy<'_> {
    fn study(&self, study: StudyId) -> Copied<Moved> {
        let columns = names(STUDY, "");
        // A process that records it here does not record the copy.
        let columns = columns.replace("status", "iif(status = 'running', 'interrupted', status)");
        let row = self.rows(&format!("SELECT 0, {columns} FROM study WHERE id = ?1"), study.0)?;
        let row = row
            .into_iter()
            .next()
            .ok_or_else(|| StoreError::NoSuchStudy { path: self.source.place.named.clone(), study })?;
        let to = self.insert("study", &[], STUDY, row, &[])?;
        let boots = self.boots(study.0, to)?;
        let runs = self.runs(to, &boots)?;
        self.of_runs(&runs)?;
        let tags_taken = self.tags(study.0, to)?;
        Ok(Moved { from: study, to: StudyId(to), tags_taken })
    }

    fn boots(&self, study: i64, to: i64) -> Copied<BTreeMap<i64, i64>> {
        let documents = "(SELECT json FROM document WHERE document.id = environment),
                         (SELECT json FROM document WHERE document.id = environment_after)";
        let columns = names(&BOOT[2..], "");
        let query = format!("SELECT id, {documents}, {columns} FROM boot WHERE study = ?1 ORDER BY id");
        let mut new = BTreeMap::new();
        for mut row in self.rows(&query, study)? {
            for value in &mut row[1..3] {
                if let Value::Text(json) = value {
                    *value = Value::Integer(document::intern(self.transaction, json)?);
                }
            }
            let id = integer(&row[0]);
            // The documents are numbers now.
            new.insert(id, self.insert("boot", &["study"], BOOT, row, &[to])?);
        }
        Ok(new)
    }

    fn runs(&self, to: i64, boots: &BTreeMap<i64, i64>) -> Copied<BTreeMap<i64, i64>> {
        let mut new = BTreeMap::new();
        // Boot by boot: the accounts of a whole campaign are many bytes.
        for (from, boot) in boots {
            let columns = names(RUN, "");
            let query = format!("SELECT id, {columns} FROM run WHERE boot = ?1 ORDER BY id");
            for row in self.rows(&query, *from)? {
                let id = integer(&row[0]);
                new.insert(id, self.insert("run", &["boot", "study"], RUN, row, &[*boot, to])?);
            }
        }
        Ok(new)
    }

    fn of_runs(&self, runs: &BTreeMap<i64, i64>) -> Copied<()> {
        for (from, to) in runs {
            for row in self.rows("SELECT 0, key, value FROM metric WHERE run = ?1", *from)? {
                self.insert("metric", &["run"], &["key", "value"], row, &[*to])?;
            }
            for row in self.rows("SELECT 0, side, columns FROM series WHERE run = ?1", *from)? {
                self.insert("series", &["run"], &["side", "columns"], row, &[*to])?;
            }
        }
        Ok(())
    }

    /// Adds the tags; returns those that another study has.
    fn tags(&self, study: i64, to: i64) -> Copied<Vec<String>> {
        let mut taken = Vec::new();
        for row in self.rows("SELECT 0, name FROM tag WHERE study = ?1 ORDER BY name", study)? {
            let Value::Text(tag) = &row[1] else { continue };
            let is_taken =
                self.transaction.prepare_cached("SELECT 1 FROM tag WHERE name = ?1")?.exists([tag])?;
            if is_taken {
                taken.push(tag.clone());
            } else {
                self.insert("tag", &["study"], &["name"], row, &[to])?;
            }
        }
        Ok(taken)
    }

    /// Rows of the source: a number first, then the columns of a table.
    fn rows(&self, query: &str, id: i64) -> Copied<Vec<Vec<Value>>> {
        let read = |row: &rusqlite::Row<'_>| (0..row.as_ref().column_count()).map(|at| row.get(at)).collect();
        Ok(self.source.rows(query, [id], read)?)
    }

    /// Writes a row with its new references before it; its new number.
    fn insert(
        &self,
        table: &str,
        references: &[&str],
        columns: &[&str],
        row: Vec<Value>,
        to: &[i64],
    ) -> Copied<i64> {
        let references_to = to.iter().map(|id| Value::Integer(*id));
        let values: Vec<Value> = references_to.chain(row.into_iter().skip(1)).collect();
        let marks = vec!["?"; values.len()].join(", ");
        let columns = names(columns, &references.iter().map(|name| format!("{name}, ")).collect::<String>());
        self.transaction
            .prepare_cached(&format!("INSERT INTO {table} ({columns}) VALUES ({marks})"))?
            .execute(params_from_iter(values))?;
        Ok(self.transaction.last_insert_rowid())
    }
}

fn names(columns: &[&str], before: &str) -> String {
    format!("{before}{}", columns.join(", "))
}

fn integer(value: &Value) -> i64 {
    if let Value::Integer(number) = value { *number } else { 0 }
}
