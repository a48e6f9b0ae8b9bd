//! The open database, and writing to it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::slice;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use record::{Environment, Series};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde::Serialize;
use study::{Plan, PlannedRun};

use crate::address::is_server;
use crate::campaign_lock::CampaignLock;
use crate::error::{BUSY_RECORDING, Result, StoreError};
use crate::fleet;
use crate::open::{self, DatabaseFile};
use crate::read_budget::Budget;
use crate::records::{BootId, NewRun, NewStudy, RunId, RunKey, StudyId, StudyStatus};
use crate::server::{self, Server};
use crate::tables::{FileTables, Tables, intern, require};

/// An open database of results.
///
/// Beginning or resuming a study takes the right to record into the file; finishing the study,
/// dropping the store or the end of the process releases it.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) budget: Budget,
    pub(crate) place: DatabaseFile,
    /// Whether a document that was read since this was cleared holds text to sanitise.
    pub(crate) holds_hostile_text: AtomicBool,
    /// The last plan that was read, with its text.
    pub(crate) last_plan: RefCell<Option<(String, Plan)>>,
    /// After `connection`, so that the file is closed before another process may record.
    pub(crate) campaign: Option<CampaignLock>,
    /// The server of which `connection` has a copy, as far as it was read.
    pub(crate) server: Option<Server>,
}

impl Store {
    /// Opens a database for recording, or creates it. Updates older schemas.
    ///
    /// # Errors
    /// [`StoreError`] has a case for each reason why the file cannot be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        if is_server(path.as_ref()) {
            return server::open(path.as_ref());
        }
        open::for_writing(open::create_if_missing(path.as_ref())?)
    }

    /// Opens an existing database to change it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] or [`StoreError::Empty`] when there are no results; otherwise as
    /// [`Store::open`].
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Store> {
        open::for_changing(path.as_ref())
    }

    /// Opens a database for reading, also while another process records into it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] or [`StoreError::Empty`] if there are no results; else as
    /// [`Store::open`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store> {
        open::for_reading(path.as_ref(), open::CHECKED_WHOLE)
    }

    /// Opens a database to read it in part ([`Store::outline`], [`Store::load_with`]): the runs'
    /// accounts, which are most of the file, are not checked beforehand. Damage in what is read is
    /// found as it is read.
    ///
    /// # Errors
    /// As [`Store::open_read_only`].
    pub fn open_for_outlines(path: impl AsRef<Path>) -> Result<Store> {
        open::for_reading(path.as_ref(), 0)
    }

    /// Whether a process records into this file now, also on another machine whose file system
    /// shares locks. Such a file is safely opened on the same machine only.
    pub fn is_recorded(path: impl AsRef<Path>) -> bool {
        path.as_ref().canonicalize().is_ok_and(|real| CampaignLock::is_running(&real))
    }

    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        &self.place.named
    }

    /// Begins a study: its status is `running`, and no other process may record into this file.
    ///
    /// # Errors
    /// [`StoreError::CampaignRunning`] if another process records; [`StoreError::PairBegun`] if its
    /// pair has a study; else errors of writing.
    pub fn begin_study(&mut self, study: &NewStudy) -> Result<StudyId> {
        self.campaign(|transaction, path| {
            // The process that recorded before this one has ended: this one holds the lock.
            transaction.execute(INTERRUPT_OTHERS, [-1])?;
            let plan = serde_json::to_string(&study.plan).expect("a plan is JSON");
            transaction.execute(
                "INSERT INTO study (name, toml, plan, seed, scenario, version, status, started_unix_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'running', ?7)",
                params![
                    study.name,
                    study.toml,
                    plan,
                    study.seed.cast_signed(),
                    study.scenario,
                    study.version,
                    now_unix_ms()
                ],
            )?;
            let id = StudyId(transaction.last_insert_rowid());
            if let Some(pair) = &study.pair {
                // Another process measured it while this one looked at the machines.
                if !fleet::insert(transaction, pair, Some(id))? {
                    let pair = pair.to_string();
                    return Err(StoreError::PairBegun { path: path.to_owned(), pair }.into());
                }
            }
            Ok(id)
        })
    }

    /// Continues a study: its status is `running` again, and no other process may record into this
    /// file. Call it before [`Store::recorded`], so that no other process adds runs after that.
    ///
    /// # Errors
    /// As [`Store::begin_study`]; [`StoreError::NoSuchStudy`].
    pub fn resume_study(&mut self, study: StudyId) -> Result<()> {
        self.campaign(|transaction, path| {
            require(&mut FileTables(transaction), path, study)?;
            transaction.execute(INTERRUPT_OTHERS, [study.0])?;
            transaction.execute(
                "UPDATE study SET status = 'running', finished_unix_ms = NULL WHERE id = ?1",
                [study.0],
            )?;
            Ok(())
        })
    }

    /// Begins a boot of a study. The same planned number again is the next part of that boot.
    ///
    /// # Errors
    /// As [`Store::resume_study`], whose work it does if that was not called.
    pub fn begin_boot(&mut self, study: StudyId, number: u32, environment: &Environment) -> Result<BootId> {
        if self.campaign.is_none() {
            self.resume_study(study)?;
        }
        self.write(|transaction, path| {
            require(&mut FileTables(transaction), path, study)?;
            let environment = intern(&mut FileTables(transaction), &json(environment))?;
            transaction.execute(
                "INSERT INTO boot (study, number, part, environment, started_unix_ms)
                 SELECT ?1, ?2, 1 + coalesce(max(part), 0), ?3, ?4 FROM boot WHERE study = ?1 AND number = ?2",
                params![study.0, number, environment, now_unix_ms()],
            )?;
            Ok(BootId(transaction.last_insert_rowid()))
        })
    }

    /// Records a run. On `Ok` the run is synced to disk.
    ///
    /// # Errors
    /// [`StoreError::Misshapen`] for series that cannot be kept, [`StoreError::DiskFull`];
    /// [`StoreError::Sql`] for a run that was recorded well before. Whatever it is, nothing of this
    /// run is stored and everything before it is.
    pub fn record_run(&mut self, boot: BootId, run: &NewRun) -> Result<RunId> {
        Ok(self.record_runs(boot, slice::from_ref(run))?.remove(0))
    }

    /// Records the runs of one flow: all of them or none.
    ///
    /// # Errors
    /// As [`Store::record_run`].
    pub fn record_runs(&mut self, boot: BootId, runs: &[NewRun]) -> Result<Vec<RunId>> {
        for (side, series) in runs.iter().flat_map(|run| run.series.each_ref()) {
            if let Some(why) = series.as_ref().and_then(Series::misshapen) {
                return Err(StoreError::Misshapen { path: self.place.named.clone(), side, why });
            }
        }
        self.write(|transaction, _| runs.iter().map(|run| Ok(insert(transaction, boot, run)?)).collect())
    }

    /// Ends a boot in order. No environment: its hosts could no longer be asked.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn end_boot(&mut self, boot: BootId, environment_after: Option<&Environment>) -> Result<()> {
        self.write(|transaction, _| {
            let tables = &mut FileTables(transaction);
            let environment = environment_after.map(|after| intern(tables, &json(after))).transpose()?;
            transaction.execute(
                "UPDATE boot SET environment_after = ?2, ended_unix_ms = ?3 WHERE id = ?1",
                params![boot.0, environment, now_unix_ms()],
            )?;
            Ok(())
        })
    }

    /// Sets the state of a study. Any but `running` lets other processes record again.
    ///
    /// # Errors
    /// [`StoreError::NoSuchStudy`]; else errors of writing.
    pub fn finish_study(&mut self, study: StudyId, status: StudyStatus) -> Result<()> {
        let finished = (status != StudyStatus::Running).then(now_unix_ms);
        self.write(|transaction, path| {
            require(&mut FileTables(transaction), path, study)?;
            transaction.execute(
                "UPDATE study SET status = ?2, finished_unix_ms = ?3 WHERE id = ?1",
                params![study.0, status.word(), finished],
            )?;
            Ok(())
        })?;
        if finished.is_some() {
            self.campaign = None;
        }
        Ok(())
    }

    /// The undisturbed runs, which `--resume` does not repeat, except warm-ups of a resumed boot.
    ///
    /// # Errors
    /// [`StoreError::NoSuchStudy`]; else errors of reading.
    pub fn recorded(&self, study: StudyId) -> Result<BTreeSet<RunKey>> {
        require(&mut FileTables(&self.connection), &self.place.named, study)
            .map_err(|error| error.into_error(&self.place.named))?;
        let query = "SELECT number, warmup, repeat, condition FROM run WHERE study = ?1 AND status = 'ok'";
        let keys = self.rows(query, [study.0], |row| {
            let condition = row.get::<_, u32>(3)? as usize;
            Ok(RunKey { boot: row.get(0)?, warmup: row.get(1)?, repeat: row.get(2)?, condition })
        })?;
        Ok(keys.into_iter().collect())
    }

    pub(crate) fn from_opened((connection, budget): (Connection, Budget), place: DatabaseFile) -> Store {
        let holds_hostile_text = AtomicBool::new(false);
        let last_plan = RefCell::default();
        Store { connection, budget, place, holds_hostile_text, last_plan, campaign: None, server: None }
    }

    /// Does `work` with the right to record, which is kept if it succeeds.
    pub(crate) fn campaign<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &Path) -> Result<T, TransactionFailure>,
    ) -> Result<T> {
        let campaign = match self.campaign.take() {
            Some(campaign) => campaign,
            None => CampaignLock::begin(&self.place.real)?,
        };
        let value = self.write(work)?;
        self.campaign = Some(campaign);
        self.connection.busy_timeout(BUSY_RECORDING).map_err(|error| self.sql(error))?;
        Ok(value)
    }

    /// Does `work` in one transaction, committed (and so synced) or without any trace.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &Path) -> Result<T, TransactionFailure>,
    ) -> Result<T> {
        if self.server.is_some() {
            return Err(StoreError::MeasuredIntoServer { path: self.place.named.clone() });
        }
        self.budget.renew();
        let attempt = || -> Result<T, TransactionFailure> {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction, &self.place.named)?;
            self.place.check()?;
            transaction.commit()?;
            Ok(value)
        };
        attempt().map_err(|failure| failure.into_error(&self.place.named))
    }

    /// Does `work` in one transaction, of the file or of the server, with its place. After a lost
    /// connection it is done anew.
    pub(crate) fn alter<T>(
        &mut self,
        mut work: impl FnMut(&mut dyn Tables, &Path) -> Result<T, TransactionFailure>,
    ) -> Result<T> {
        match &self.server {
            Some(server) => server.transaction(|tables| work(tables, &self.place.named)),
            None => self.write(|transaction, path| work(&mut FileTables(transaction), path)),
        }
    }
}

const INTERRUPT_OTHERS: &str =
    "UPDATE study SET status = 'interrupted' WHERE status = 'running' AND id <> ?1";

pub(crate) enum TransactionFailure {
    Sql(rusqlite::Error),
    Ours(Box<StoreError>),
}

impl TransactionFailure {
    pub(crate) fn into_error(self, path: &Path) -> StoreError {
        match self {
            TransactionFailure::Sql(error) => StoreError::from_sqlite(path, error),
            TransactionFailure::Ours(error) => *error,
        }
    }
}

impl From<rusqlite::Error> for TransactionFailure {
    fn from(error: rusqlite::Error) -> TransactionFailure {
        TransactionFailure::Sql(error)
    }
}

impl From<StoreError> for TransactionFailure {
    fn from(error: StoreError) -> TransactionFailure {
        TransactionFailure::Ours(Box::new(error))
    }
}

fn insert(transaction: &Transaction<'_>, boot: BootId, run: &NewRun) -> rusqlite::Result<RunId> {
    let (study, number, part): (i64, u32, u32) = transaction
        .prepare_cached("SELECT study, number, part FROM boot WHERE id = ?1")?
        .query_row([boot.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let PlannedRun { block, repeat, position, warmup, condition, .. } = run.planned;
    let condition = i64::try_from(condition).expect("no plan has 2^63 conditions");
    let label = run.limited_by.as_ref().map(|limit| limit.label.word());
    let evidence = run.limited_by.as_ref().map(|limit| json(&limit.evidence));
    transaction
        .prepare_cached(
            "INSERT INTO run (boot, study, number, part, block, repeat, position, warmup, condition,
                              started_unix_ms, status, reason, limited_by, evidence, detail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            boot.0,
            study,
            number,
            part,
            block,
            repeat,
            position,
            warmup,
            condition,
            run.started_unix_ms,
            run.outcome.status().word(),
            run.outcome.reason().map(words::shortened_reason),
            label,
            evidence,
            json(&run.detail)
        ])?;
    let id = transaction.last_insert_rowid();
    let mut insert =
        transaction.prepare_cached("INSERT INTO metric (run, key, value) VALUES (?1, ?2, ?3)")?;
    for (metric, value) in run.outcome.metrics() {
        insert.execute(params![id, metric.key, value])?;
    }
    let mut insert =
        transaction.prepare_cached("INSERT INTO series (run, side, columns) VALUES (?1, ?2, ?3)")?;
    for (side, series) in run.series.each_ref() {
        if let Some(series) = series {
            insert.execute(params![id, side.word(), json(series)])?;
        }
    }
    Ok(RunId(id))
}

fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("records have only text as keys, and nothing else fails")
}

/// The time, in milliseconds since 1970 (UTC), as studies, boots and runs are stored with it.
pub fn now_unix_ms() -> i64 {
    // Before 1970 the clock is wrong anyway; 0 says so.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
