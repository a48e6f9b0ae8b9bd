//! Limits on the cost of reading another person's file (after <https://sqlite.org/security.html>,
//! section 1.2).
//!
//! They grow with the file, so that no study that netassay recorded is refused, however long.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row, ffi};

use crate::open::sibling;

// In bytes. netassay's longest value is the plan: some 400 bytes for each run.
const LONGEST_VALUE: i32 = 64 << 20;

// The longest statement and table definition, in bytes; ours have less than 4 KiB.
const LONGEST_STATEMENT: i32 = 1 << 16;

// The steps of SQLite's machine between two checks of the budget.
const STRIDE: i32 = 10_000;

// The steps that a query may take in any file: about a second.
const STEPS: i64 = 100_000_000;

// A row has tens of bytes and takes tens of steps in each pass.
const STEPS_PER_BYTE: i64 = 64;

// The bytes of text that a query may return from any file.
const TEXT: i64 = 64 << 20;

// The further bytes of text for each byte of the file: boots share their environments' text.
const TEXT_PER_BYTE: i64 = 8;

#[derive(Debug)]
pub(crate) struct Budget {
    file: PathBuf,
    steps: Arc<AtomicI64>,
    /// Bytes that were copied into a database without a file.
    copied: AtomicI64,
}

impl Budget {
    /// Restricts a connection to the real path `file`, before its first statement.
    pub(crate) fn restrict(connection: &Connection, file: &Path) -> Result<Budget> {
        use DbConfig::{
            SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
            SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        };
        connection.set_db_config(SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        // Temporary views are ours and stay.
        connection.set_db_config(SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
        connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT)?;

        let budget = Budget { file: file.to_owned(), steps: Arc::default(), copied: AtomicI64::new(0) };
        let steps = Arc::clone(&budget.steps);
        let is_spent = move || steps.fetch_sub(STRIDE.into(), Ordering::Relaxed) < 0;
        connection.progress_handler(STRIDE, Some(is_spent))?;
        budget.renew();
        connection.pragma_update(None, "cell_size_check", true)?;
        Ok(budget)
    }

    pub(crate) fn renew(&self) {
        let steps = STEPS.saturating_add(self.bytes().saturating_mul(STEPS_PER_BYTE));
        self.steps.store(steps, Ordering::Relaxed);
    }

    /// Counts the text in these columns of a query's rows, and refuses a row beyond the budget.
    pub(crate) fn text(&self, columns: Range<usize>) -> impl FnMut(&Row<'_>) -> Result<()> + use<> {
        let mut left = TEXT.saturating_add(self.bytes().saturating_mul(TEXT_PER_BYTE));
        move |row| {
            for column in columns.clone() {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column)? {
                    left -= bytes.len() as i64;
                }
            }
            if left < 0 {
                return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None));
            }
            Ok(())
        }
    }

    /// Raises the limits, after this many bytes were copied.
    #[cfg(feature = "postgres")]
    pub(crate) fn grow(&self, bytes: usize) {
        self.copied.fetch_add(bytes as i64, Ordering::Relaxed);
        self.renew();
    }

    /// The file's length, with that of its write-ahead log; or what was copied.
    fn bytes(&self) -> i64 {
        let length = |ending| fs::metadata(sibling(&self.file, ending)).map_or(0, |about| about.len());
        let file = i64::try_from(length("").saturating_add(length("-wal"))).unwrap_or(i64::MAX);
        file.saturating_add(self.copied.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;

    #[test]
    fn a_connection_follows_nothing_that_a_file_brings_along() {
        use DbConfig::{
            SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
            SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        };
        let connection = Connection::open_in_memory().unwrap();
        Budget::restrict(&connection, Path::new("none")).unwrap();
        assert!(connection.db_config(SQLITE_DBCONFIG_DEFENSIVE).unwrap());
        for off in
            [SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW]
        {
            assert!(!connection.db_config(off).unwrap(), "{off:?}");
        }
        assert_eq!(connection.limit(Limit::SQLITE_LIMIT_LENGTH).unwrap(), LONGEST_VALUE);
        assert_eq!(connection.limit(Limit::SQLITE_LIMIT_SQL_LENGTH).unwrap(), LONGEST_STATEMENT);
    }

    #[test]
    fn a_query_without_end_is_refused_and_the_next_one_has_a_budget_of_its_own() {
        let connection = Connection::open_in_memory().unwrap();
        let budget = Budget::restrict(&connection, Path::new("none")).unwrap();
        let count = |rows: i64| {
            let numbers = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT ?1)
                           SELECT count(*) FROM n";
            connection.query_row(numbers, [rows], |row| row.get::<_, i64>(0))
        };
        let error = StoreError::from_sqlite(Path::new("db"), count(-1).unwrap_err()).to_string();
        assert!(error.contains("reading it takes too long for the size of the file"), "{error}");
        assert!(count(100_000).is_err(), "the budget is spent");
        budget.renew();
        assert_eq!(count(100_000).unwrap(), 100_000);
    }
}
