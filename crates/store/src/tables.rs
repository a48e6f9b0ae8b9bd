//! The tables that studies are copied into and changed in: of a file, or of a server.
//!
//! Statements are SQL that SQLite and PostgreSQL both read. Their parameters are `$1`, `$2` and so
//! on, which SQLite counts in the order in which they first occur.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::error::StoreError;
use crate::records::StudyId;
use crate::store::TransactionFailure;

/// The tables whose rows have numbers.
pub(crate) const NUMBERED: [&str; 4] = ["study", "document", "boot", "run"];

// The rows of a statement: to start one costs more than to add a metric.
const ROWS: usize = 64;

/// Rows of a table.
pub(crate) struct Rows {
    /// The names of the columns of each row.
    pub(crate) columns: Vec<String>,
    pub(crate) values: Vec<Vec<Value>>,
}

impl Rows {
    /// One row.
    pub(crate) fn one<const N: usize>(columns: [(&str, Value); N]) -> Rows {
        let (columns, values) = columns.into_iter().map(|(name, value)| (name.to_owned(), value)).unzip();
        Rows { columns, values: vec![values] }
    }
}

pub(crate) trait Tables {
    /// Adds rows. Returns the number of each, which only some tables have.
    fn add(&mut self, table: &str, rows: Rows) -> Result<Vec<i64>, TransactionFailure>;

    /// The first column of what a query finds.
    fn ask(&mut self, query: &str, parameters: &[Value]) -> Result<Vec<Option<i64>>, TransactionFailure>;

    /// Executes a statement, and returns the number of rows that it changed.
    fn change(&mut self, statement: &str, parameters: &[Value]) -> Result<u64, TransactionFailure>;
}

/// The tables of a file, inside a transaction.
pub(crate) struct FileTables<'c>(pub(crate) &'c Connection);

impl Tables for FileTables<'_> {
    fn add(&mut self, table: &str, rows: Rows) -> Result<Vec<i64>, TransactionFailure> {
        let Rows { columns, values } = rows;
        let (columns, marks) = (columns.join(", "), vec!["?"; columns.len()].join(", "));
        let mut numbers = Vec::new();
        for some in values.chunks(if NUMBERED.contains(&table) { 1 } else { ROWS }) {
            let marks = vec![format!("({marks})"); some.len()].join(", ");
            let insert = format!("INSERT INTO {table} ({columns}) VALUES {marks}");
            self.0.prepare_cached(&insert)?.execute(params_from_iter(some.iter().flatten()))?;
            numbers.push(self.0.last_insert_rowid());
        }
        Ok(numbers)
    }

    fn ask(&mut self, query: &str, parameters: &[Value]) -> Result<Vec<Option<i64>>, TransactionFailure> {
        let mut query = self.0.prepare_cached(query)?;
        let found = query.query_map(params_from_iter(parameters), |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    fn change(&mut self, statement: &str, parameters: &[Value]) -> Result<u64, TransactionFailure> {
        let changed = self.0.prepare_cached(statement)?.execute(params_from_iter(parameters))?;
        Ok(changed as u64)
    }
}

/// The number of an environment, which is added if it is not there yet.
pub(crate) fn intern(tables: &mut dyn Tables, json: &str) -> Result<i64, TransactionFailure> {
    // Each distinct document is stored once: most boots share their environments.
    let hash = Value::from(words::fnv1a(json.as_bytes()).cast_signed());
    let known = [hash.clone(), Value::from(json.to_owned())];
    let found = tables.ask("SELECT id FROM document WHERE hash = $1 AND json = $2", &known)?;
    if let Some(id) = found.into_iter().flatten().next() {
        return Ok(id);
    }
    let [hash, json] = known;
    let added = tables.add("document", Rows::one([("hash", hash), ("json", json)]))?;
    Ok(*added.first().expect("one row has one number"))
}

/// Reports a study that is not there.
pub(crate) fn require(
    tables: &mut dyn Tables,
    path: &Path,
    study: StudyId,
) -> Result<(), TransactionFailure> {
    match tables.ask("SELECT id FROM study WHERE id = $1", &[study.0.into()])?.as_slice() {
        [] => Err(StoreError::NoSuchStudy { path: path.to_owned(), study }.into()),
        _ => Ok(()),
    }
}
