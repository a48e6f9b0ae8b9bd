//! Results on a PostgreSQL server: the tables of a file, in a schema `netassay` of the database.
//!
//! A command reads from a temporary SQLite database, into which the studies that it asks for are
//! copied: it finds and says what it would of a file. All of it is of one moment.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{ToSql, Type};
use postgres::{Client, GenericClient, IsolationLevel, Row, Transaction};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};
use words::metric::Metric;

use crate::error::{Result, StoreError};
use crate::open::{DatabaseFile, migrate as make_tables};
use crate::read_budget::Budget;
use crate::records::{StudyId, StudyRow};
use crate::schema::{APPLICATION_ID, SCHEMA_VERSION, steps_for_postgres};
use crate::store::{Store, TransactionFailure};
use crate::tables::Tables;

mod login;
mod tables;

use login::Login;
use tables::ServerTables;

// The rows that are copied between two looks at the budget.
const STRIDE: u32 = 1000;

// The pauses before a transaction whose connection was lost is tried again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

// Without the plans, which are long: each is copied with its study.
const STUDIES: &str =
    "SELECT id, name, toml, 'null' AS plan, seed, scenario, version, status, started_unix_ms,
                              finished_unix_ms FROM study";

const PLAN: &str = "SELECT plan FROM study WHERE id = $1";
const DOCUMENTS: &str = "SELECT * FROM document WHERE id IN (SELECT environment FROM boot WHERE study = $1 UNION
                                                             SELECT environment_after FROM boot WHERE study = $1)";
const BOOTS: &str = "SELECT * FROM boot WHERE study = $1";
const RUNS: &str = "SELECT * FROM run WHERE boot IN (SELECT id FROM boot WHERE study = $1)";

// An outline needs the accounts of few runs.
const OUTLINED_RUNS: &str =
    "SELECT id, boot, study, number, part, block, repeat, position, warmup, condition, started_unix_ms, status,
            reason, limited_by, evidence,
            CASE WHEN status = 'failed' OR strpos(detail, '\"disturbed\":[') > 0 THEN detail ELSE 'null' END AS detail
     FROM run WHERE boot IN (SELECT id FROM boot WHERE study = $1)";
const METRICS: &str =
    "SELECT * FROM metric WHERE run IN (SELECT run.id FROM boot JOIN run ON run.boot = boot.id
                                                          WHERE boot.study = $1)";
const SERIES: &str =
    "SELECT * FROM series WHERE run IN (SELECT run.id FROM boot JOIN run ON run.boot = boot.id
                                                         WHERE boot.study = $1)";

const COUNTS: &str = "SELECT boot.study, count(DISTINCT boot.number),
                             count(*) FILTER (WHERE run.status = 'ok' AND run.warmup = 0),
                             count(*) FILTER (WHERE run.status = 'failed'),
                             count(*) FILTER (WHERE run.status = 'invalid')
                      FROM boot LEFT JOIN run ON run.boot = boot.id
                      WHERE boot.study = ANY($1) GROUP BY boot.study";

// Names and types have types of their own there, which are no text to the client.
const COLUMNS: &str =
    "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
                       WHERE table_schema = 'netassay' ORDER BY table_name, ordinal_position";

/// A session on a server, and the parts of its studies that were copied.
pub(crate) struct Server {
    login: Login,
    /// `None` after the connection was lost.
    client: RefCell<Option<Client>>,
    is_listed: Cell<bool>,
    copied: RefCell<BTreeMap<StudyId, Extent>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Server({})", self.login.shown.display())
    }
}

/// A part of a study to be copied.
pub(crate) enum Part<'m> {
    Plan,
    /// Boots, and runs with these metrics.
    Values(&'m [Metric]),
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Plan,
    Values,
    All,
}

/// Opens a database on a server, to read it and to change it.
pub(crate) fn open(address: &Path) -> Result<Store> {
    let login = Login::read(address)?;
    let mut client = login.connect()?;
    let error = |error: postgres::Error| login.error(&error);
    let path = login.shown.clone();
    match version(&mut client).map_err(error)? {
        None => return Err(StoreError::NoTables { path }),
        Some(found) if found < SCHEMA_VERSION => {
            return Err(StoreError::OlderTables { path, found, known: SCHEMA_VERSION });
        }
        Some(found) if found > SCHEMA_VERSION => {
            return Err(StoreError::Newer { path, found, known: SCHEMA_VERSION });
        }
        Some(_) => {}
    }
    client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").map_err(error)?;
    let place = DatabaseFile::on_server(path);
    // SQLite removes this file as soon as it is open, and writes only what its memory cannot hold.
    let opened = Connection::open("").and_then(|copy| Ok((Budget::restrict(&copy, &place.real)?, copy)));
    let (budget, mut copy) = opened.map_err(|error| StoreError::from_sqlite(&place.named, error))?;
    make_tables(&mut copy, &place)?;
    check_types(&mut client, &copy, &login)?;
    let mut store = Store::from_opened((copy, budget), place);
    store.server = Some(Server {
        login,
        client: RefCell::new(Some(client)),
        is_listed: Cell::new(false),
        copied: RefCell::default(),
    });
    Ok(store)
}

/// Makes the tables on a server, or updates them to this version. Returns the versions of the
/// schema before and after; 0: there were none.
///
/// # Errors
/// [`StoreError::Newer`]; else what a server can meet. Then nothing is changed.
pub fn migrate(address: &Path) -> Result<(i32, i32)> {
    let login = Login::read(address)?;
    let mut client = login.connect()?;
    let found = update(&mut client).map_err(|error| login.error(&error))?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: login.shown, found, known: SCHEMA_VERSION });
    }
    Ok((found, SCHEMA_VERSION))
}

fn update(client: &mut Client) -> Result<i32, postgres::Error> {
    let mut transaction = begin_writing(client)?;
    let found = version(&mut transaction)?.unwrap_or(0);
    if found == 0 {
        if !ask(&mut transaction, "SELECT to_regnamespace('netassay') IS NOT NULL")? {
            transaction.batch_execute("CREATE SCHEMA netassay")?;
        }
        // A cast rejects what is no JSON.
        transaction.batch_execute(
            "CREATE TABLE version (number BIGINT PRIMARY KEY);
             CREATE FUNCTION json_valid(text) RETURNS boolean LANGUAGE sql IMMUTABLE
                 AS 'SELECT $1::json IS NOT NULL'",
        )?;
    }
    for (number, step) in steps_for_postgres(found) {
        transaction.batch_execute(&step)?;
        transaction.execute("INSERT INTO version VALUES ($1)", &[&i64::from(number)])?;
    }
    transaction.commit()?;
    Ok(found)
}

/// The version of the schema; `None` if there are no tables of netassay.
fn version(client: &mut impl GenericClient) -> Result<Option<i32>, postgres::Error> {
    if !ask(client, "SELECT to_regclass('netassay.version') IS NOT NULL")? {
        return Ok(None);
    }
    let number: Option<i64> = client.query_one("SELECT max(number) FROM version", &[])?.try_get(0)?;
    Ok(number.map(|number| i32::try_from(number).unwrap_or(i32::MAX)))
}

/// Refuses tables with a column of another type than the copy's.
fn check_types(client: &mut Client, copy: &Connection, login: &Login) -> Result<()> {
    let columns = client.query(COLUMNS, &[]).map_err(|error| login.error(&error))?;
    for row in columns {
        let word = |at: usize| row.try_get::<_, String>(at).map_err(|error| login.error(&error));
        let [table, column, found] = [word(0)?, word(1)?, word(2)?];
        let declared = "SELECT type FROM pragma_table_info(?1) WHERE name = ?2";
        let declared = copy.query_row(declared, [&table, &column], |row| row.get::<_, String>(0)).optional();
        let declared = declared.map_err(|error| StoreError::from_sqlite(&login.shown, error))?;
        let expected = match declared.as_deref() {
            Some("INTEGER") => "bigint",
            Some("REAL") => "double precision",
            Some(_) => "text",
            None => continue,
        };
        if found != expected {
            return Err(StoreError::Server {
                path: login.shown.clone(),
                problem: format!("the column {column} of its table {table} is {found}, and not {expected}"),
                remedy: "another program changed it: let its owner change the type back (ALTER TABLE)",
            });
        }
    }
    Ok(())
}

fn ask(client: &mut impl GenericClient, question: &str) -> Result<bool, postgres::Error> {
    client.query_one(question, &[])?.try_get(0)
}

/// Begins a transaction that no other one of netassay's writes beside.
fn begin_writing(client: &mut Client) -> Result<Transaction<'_>, postgres::Error> {
    let builder = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let mut transaction = builder.start()?;
    // So that no study, environment or tag is added by two of them at once.
    let lock = format!("SET LOCAL lock_timeout = '5min'; SELECT pg_advisory_xact_lock({APPLICATION_ID})");
    transaction.batch_execute(&lock)?;
    Ok(transaction)
}

impl Server {
    /// Copies the studies without boots and runs, once.
    pub(crate) fn list(&self, store: &Store) -> Result<()> {
        if self.is_listed.replace(true) {
            return Ok(());
        }
        self.copy(store, "study", STUDIES, &[])?;
        self.copy(store, "tag", "SELECT * FROM tag", &[])?;
        self.copy(store, "pair", "SELECT * FROM pair", &[])
    }

    /// Copies a part of a study, as far as it was not copied before.
    pub(crate) fn fetch(&self, store: &Store, study: StudyId, part: Part<'_>) -> Result<()> {
        self.list(store)?;
        let known = self.copied.borrow().get(&study).copied();
        let copying = store.connection.unchecked_transaction().map_err(|error| store.sql(error))?;
        if known.is_none() {
            self.copy_plan(store, study)?;
        }
        let copy = |table, query| self.copy(store, table, query, &[&study.0]);
        let extent = match part {
            Part::Plan => Extent::Plan,
            Part::Values(metrics) => {
                if known < Some(Extent::Values) {
                    copy("document", DOCUMENTS)?;
                    copy("boot", BOOTS)?;
                    copy("run", OUTLINED_RUNS)?;
                }
                if known < Some(Extent::All) {
                    let keys: Vec<&str> = metrics.iter().map(|metric| metric.key).collect();
                    let query = format!("{METRICS} AND key = ANY($2)");
                    self.copy(store, "metric", &query, &[&study.0, &keys])?;
                }
                Extent::Values
            }
            Part::All => {
                if known < Some(Extent::All) {
                    // The runs of an outline have no account.
                    let outlined = "DELETE FROM boot WHERE study = ?1";
                    store.connection.execute(outlined, [study.0]).map_err(|error| store.sql(error))?;
                    copy("document", DOCUMENTS)?;
                    copy("boot", BOOTS)?;
                    copy("run", RUNS)?;
                    copy("metric", METRICS)?;
                    copy("series", SERIES)?;
                }
                Extent::All
            }
        };
        copying.commit().map_err(|error| store.sql(error))?;
        self.copied.borrow_mut().insert(study, known.map_or(extent, |known| known.max(extent)));
        Ok(())
    }

    fn copy_plan(&self, store: &Store, study: StudyId) -> Result<()> {
        let found = self.client()?.query_opt(PLAN, &[&study.0]);
        let plan = found.and_then(|row| row.map(|row| row.try_get::<_, String>(0)).transpose());
        if let Some(plan) = plan.map_err(|error| self.login.error(&error))? {
            store.budget.grow(plan.len());
            let update = "UPDATE study SET plan = ?2 WHERE id = ?1";
            store.connection.execute(update, params![study.0, plan]).map_err(|error| store.sql(error))?;
        }
        Ok(())
    }

    /// Copies rows into the table of this name.
    fn copy(
        &self,
        store: &Store,
        table: &str,
        query: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<()> {
        let error = |error: postgres::Error| self.login.error(&error);
        let sql = |error| store.sql(error);
        let mut client = self.client()?;
        let statement = client.prepare(query).map_err(error)?;
        let columns: Vec<String> =
            statement.columns().iter().map(|one| format!("\"{}\"", one.name().replace('"', ""))).collect();
        let (columns, marks) = (columns.join(", "), vec!["?"; columns.len()].join(", "));
        let insert = format!("INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING");
        let mut insert = store.connection.prepare(&insert).map_err(sql)?;
        let mut rows = client.query_raw(&statement, parameters.iter().copied()).map_err(error)?;
        let (mut count, mut bytes) = (0_u32, 0);
        while let Some(row) = rows.next().map_err(error)? {
            if count.is_multiple_of(STRIDE) {
                store.budget.grow(std::mem::take(&mut bytes));
            }
            count += 1;
            let values: Result<Vec<Value>, _> = (0..row.len()).map(|at| value(&row, at)).collect();
            let values = values.map_err(error)?;
            let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 8 };
            bytes += values.iter().map(length).sum::<usize>();
            insert.execute(params_from_iter(values)).map_err(sql)?;
        }
        store.budget.grow(bytes);
        Ok(())
    }

    /// Counts the boots and the runs of studies, most of which are not copied.
    pub(crate) fn count(&self, rows: &mut [StudyRow]) -> Result<()> {
        let studies: Vec<i64> = rows.iter().map(|row| row.id.0).collect();
        let counted = self.client()?.query(COUNTS, &[&studies]);
        let numbers = |row: &Row| -> Result<Vec<i64>, _> { (0..5_usize).map(|at| row.try_get(at)).collect() };
        let counted: Result<Vec<Vec<i64>>, postgres::Error> =
            counted.and_then(|counted| counted.iter().map(numbers).collect());
        let counted = counted.map_err(|error| self.login.error(&error))?;
        let of_study: BTreeMap<i64, &[i64]> = counted.iter().map(|one| (one[0], &one[1..])).collect();
        for row in rows {
            let counts = of_study.get(&row.id.0).copied().unwrap_or(&[0; 4]);
            let count = |at: usize| u32::try_from(counts[at]).unwrap_or(u32::MAX);
            (row.boots, row.recorded_runs) = (count(0), count(1));
            (row.failed_runs, row.invalid_runs) = (count(2), count(3));
        }
        Ok(())
    }

    /// Does `work` in one transaction; anew, if the connection was lost.
    pub(crate) fn transaction<T>(
        &self,
        mut work: impl FnMut(&mut dyn Tables) -> Result<T, TransactionFailure>,
    ) -> Result<T> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let done = self.attempt(&mut work);
            let (Err(StoreError::ConnectionLost { .. } | StoreError::Unreachable { .. }), Some(pause)) =
                (&done, pauses.next())
            else {
                return done;
            };
            *self.client.borrow_mut() = None;
            thread::sleep(pause);
        }
    }

    fn attempt<T>(
        &self,
        work: &mut impl FnMut(&mut dyn Tables) -> Result<T, TransactionFailure>,
    ) -> Result<T> {
        if self.client.borrow().is_none() {
            *self.client.borrow_mut() = Some(self.login.connect()?);
        }
        let error = |error: postgres::Error| self.login.error(&error);
        let mut client = self.client()?;
        // Ends the transaction that reads.
        client.batch_execute("ROLLBACK").map_err(error)?;
        let mut transaction = begin_writing(&mut client).map_err(error)?;
        let done = work(&mut ServerTables { transaction: &mut transaction, login: &self.login });
        let done = done.map_err(|failure| failure.into_error(&self.login.shown))?;
        transaction.commit().map_err(error)?;
        Ok(done)
    }

    fn client(&self) -> Result<RefMut<'_, Client>> {
        RefMut::filter_map(self.client.borrow_mut(), Option::as_mut).map_err(|_| {
            let (path, detail) = (self.login.shown.clone(), "before this".to_owned());
            StoreError::ConnectionLost { path, detail }
        })
    }
}

fn value(row: &Row, at: usize) -> Result<Value, postgres::Error> {
    Ok(match *row.columns()[at].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.into(),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.into(),
        _ => row.try_get::<_, Option<String>>(at)?.into(),
    })
}
