//! Reading studies back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use record::{Environment, Series};
use rusqlite::types::Type;
use rusqlite::{Row, Transaction};
use serde::de::DeserializeOwned;
use serde::de::value::StrDeserializer;
use study::{Plan, Side};
use words::metric::Metric;

use crate::campaign_lock::CampaignLock;
use crate::error::{Result, StoreError};
use crate::records::{
    BootId, BootRow, RunId, StoredRun, StoredSeries, StoredStudy, StudyId, StudyRow, StudyStatus,
};
use crate::runs::DISTURBED;
use crate::sanitised::has_plain_texts;
use crate::server::Part;
use crate::store::Store;

/// A study as it is compared: without the accounts of its runs, which are most of its bytes.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct Outline {
    pub row: StudyRow,
    pub plan: Plan,
    /// The environments at the begin of its boots, each once.
    pub environments: Vec<Environment>,
    /// The values of the runs that count, as (condition, planned boot, value), in recording order.
    pub values: BTreeMap<Metric, Vec<(usize, u32, f64)>>,
    /// The number of disturbed runs among those that count.
    pub disturbed_runs: usize,
    /// Whether the plan and the environments are known to hold no text to sanitise.
    pub documents_are_plain: bool,
}

impl Store {
    /// Every study, oldest first.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn studies(&self) -> Result<Vec<StudyRow>> {
        self.study_rows(&study_query(false), [])
    }

    /// The newest study; `None` if there is no study.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn newest(&self) -> Result<Option<StudyId>> {
        let newest = self.rows("SELECT id FROM study ORDER BY id DESC LIMIT 1", [], |row| row.get(0))?;
        Ok(newest.into_iter().next().map(StudyId))
    }

    /// One study with its boots and runs.
    ///
    /// # Errors
    /// [`StoreError::NoSuchStudy`]; [`StoreError::Json`] if another program changed the file, and
    /// [`StoreError::Corrupted`] for a value that is no number; what reading can meet.
    pub fn load(&self, study: StudyId) -> Result<StoredStudy> {
        // One read transaction, so that a run has all its metrics while a campaign goes on.
        let _snapshot = self.snapshot()?;
        self.loaded(study, None)
    }

    /// Loads a study with these metrics alone, and the accounts only of runs that count and lack
    /// one of them, were disturbed or crashed a machine: accounts are most of a study's bytes.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_with(&self, study: StudyId, metrics: &[Metric]) -> Result<StoredStudy> {
        let _snapshot = self.snapshot()?;
        self.loaded(study, Some(metrics))
    }

    /// The outline of a study with the metrics that `metrics` names for its plan.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn outline(&self, study: StudyId, metrics: impl FnOnce(&Plan) -> Vec<Metric>) -> Result<Outline> {
        let _snapshot = self.snapshot()?;
        let outline = self.outlined(study, metrics)?;
        let disturbed = format!(
            "SELECT count(*) FROM run WHERE study = ?1 AND status = 'ok' AND warmup = 0 AND {DISTURBED}"
        );
        let disturbed = self.rows(&disturbed, [study.0], |row| row.get::<_, u32>(0))?;
        Ok(Outline { disturbed_runs: disturbed.into_iter().sum::<u32>() as usize, ..outline })
    }

    /// The outline of a study without its disturbed runs: no account is read.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn outline_without_disturbed(
        &self,
        study: StudyId,
        metrics: impl FnOnce(&Plan) -> Vec<Metric>,
    ) -> Result<Outline> {
        let _snapshot = self.snapshot()?;
        self.outlined(study, metrics)
    }

    fn outlined(&self, study: StudyId, metrics: impl FnOnce(&Plan) -> Vec<Metric>) -> Result<Outline> {
        self.holds_hostile_text.store(false, Ordering::Relaxed);
        let (row, plan) = self.head(study)?;
        let metrics = metrics(&plan);
        self.fetch(study, Part::Values(&metrics))?;
        let environments = self.environments_of(study)?;
        let mut values = BTreeMap::new();
        for metric in metrics {
            let of_runs = self.rows(VALUES, (study.0, metric.key), |row| {
                Ok((row.get::<_, u32>(0)? as usize, row.get(1)?, row.get(2)?))
            })?;
            self.require_finite(study, metric, &of_runs)?;
            values.insert(metric, of_runs);
        }
        let documents_are_plain = !self.holds_hostile_text.load(Ordering::Relaxed);
        Ok(Outline { row, plan, environments, values, disturbed_runs: 0, documents_are_plain })
    }

    /// Fails, and names the run, if one of a metric's values is no number.
    pub(crate) fn require_finite(
        &self,
        study: StudyId,
        metric: Metric,
        values: &[(usize, u32, f64)],
    ) -> Result<()> {
        match values.iter().all(|(.., value)| value.is_finite()) {
            true => Ok(()),
            false => self.loaded(study, Some(&[metric])).map(drop),
        }
    }

    /// The environments at the begin of a study's boots, each once.
    pub(crate) fn environments_of(&self, study: StudyId) -> Result<Vec<Environment>> {
        let environments = self.rows(
            "SELECT json FROM document WHERE id IN (SELECT environment FROM boot WHERE study = ?1) ORDER BY id",
            [study.0],
            |row| row.get::<_, String>(0),
        )?;
        let what = || format!("an environment of study {study}");
        environments.iter().map(|json| self.read(json, what, serde_json::from_str)).collect()
    }

    /// Holds one state of the file until it is dropped, while other processes may record. `None`
    /// for a server: its copy is of one state, and grows while it is read.
    pub(crate) fn snapshot(&self) -> Result<Option<Transaction<'_>>> {
        let begin = || self.connection.unchecked_transaction().map_err(|error| self.sql(error));
        self.server.is_none().then(begin).transpose()
    }

    /// Copies this part of a study from the server, if there is one.
    pub(crate) fn fetch(&self, study: StudyId, part: Part<'_>) -> Result<()> {
        self.server.as_ref().map_or(Ok(()), |server| server.fetch(self, study, part))
    }

    /// Loads a study with these metrics alone; `None`: with all metrics and each run's account.
    pub(crate) fn loaded(&self, study: StudyId, metrics: Option<&[Metric]>) -> Result<StoredStudy> {
        self.holds_hostile_text.store(false, Ordering::Relaxed);
        self.fetch(study, Part::All)?;
        let (row, plan) = self.head(study)?;
        let boots = self.boots(study)?;
        let (runs, unknown_metrics) = match metrics {
            Some(metrics) => (self.runs_with(study, metrics)?, BTreeSet::new()),
            None => self.runs(study)?,
        };
        for StoredRun { id, metrics, .. } in &runs {
            if let Some((metric, value)) = metrics.iter().find(|(_, value)| !value.is_finite()) {
                let detail = format!("study {study}, run {id}: {metric} is {value}");
                return Err(StoreError::Corrupted { path: self.place.named.clone(), detail });
            }
        }
        let documents_are_plain = !self.holds_hostile_text.load(Ordering::Relaxed);
        Ok(StoredStudy { row, plan, boots, runs, unknown_metrics, documents_are_plain })
    }

    pub(crate) fn head(&self, study: StudyId) -> Result<(StudyRow, Plan)> {
        self.fetch(study, Part::Plan)?;
        let row = self.study_rows(&study_query(true), [study.0])?.pop();
        let row = row.ok_or_else(|| StoreError::NoSuchStudy { path: self.place.named.clone(), study })?;
        let plan = self.plan(study)?;
        let runs: Vec<i64> = self.rows(RUN_COUNT, [study.0], |row| row.get(0))?;
        if runs.into_iter().sum::<i64>().cast_unsigned() > most_runs(&plan) {
            let (path, what) = (self.place.named.clone(), "a study in it has far more runs than its plan");
            return Err(StoreError::Excessive { path, what });
        }
        Ok((row, plan))
    }

    fn plan(&self, study: StudyId) -> Result<Plan> {
        let text = self.text("SELECT plan FROM study WHERE id = ?1", study.0)?;
        // The studies of a campaign have one plan, which is long.
        let mut last = self.last_plan.borrow_mut();
        if let Some((_, plan)) = last.as_ref().filter(|(known, _)| *known == text) {
            return Ok(plan.clone());
        }
        let plan = self.read(&text, || format!("the plan of study {study}"), Plan::read)?;
        // A plan with hostile text is read each time: reading it reports that text.
        *last = has_plain_texts(&text).then(|| (text, plan.clone()));
        Ok(plan)
    }

    fn boots(&self, study: StudyId) -> Result<Vec<BootRow>> {
        // The texts are in the rows to be counted: each boot has a copy of what is parsed.
        let rows = self.rows(
            "SELECT boot.id, number, part, environment, environment_after, started_unix_ms, ended_unix_ms,
                    before.json, after.json
             FROM boot JOIN document AS before ON before.id = environment
                       LEFT JOIN document AS after ON after.id = environment_after
             WHERE study = ?1 ORDER BY number, part",
            [study.0],
            |row| {
                let times = (row.get(5)?, row.get(6)?);
                Ok((BootId(row.get(0)?), row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, times))
            },
        )?;
        // Most boots share their environments: each is parsed once.
        let mut known: BTreeMap<i64, Environment> = BTreeMap::new();
        let mut environment = |number: u32, id: i64| -> Result<Environment> {
            if let Some(known) = known.get(&id) {
                return Ok(known.clone());
            }
            let json = self.text("SELECT json FROM document WHERE id = ?1", id)?;
            let what = || format!("the environment of boot {number} of study {study}");
            let read: Environment = self.read(&json, what, serde_json::from_str)?;
            known.insert(id, read.clone());
            Ok(read)
        };
        let mut boots = Vec::with_capacity(rows.len());
        for (id, number, part, before, after, (started_unix_ms, ended_unix_ms)) in rows {
            let after: Option<i64> = after;
            boots.push(BootRow {
                id,
                number,
                part,
                environment: environment(number, before)?,
                environment_after: after.map(|after| environment(number, after)).transpose()?,
                started_unix_ms,
                ended_unix_ms,
            });
        }
        Ok(boots)
    }

    /// The counters over time of the runs that have them, in the order of the runs, then by side.
    ///
    /// # Errors
    /// [`StoreError::Json`] if another program changed the file; what reading can meet.
    pub fn series(&self, study: StudyId) -> Result<Vec<StoredSeries>> {
        self.fetch(study, Part::All)?;
        let rows = self.rows(SERIES, [study.0], |row| {
            Ok((RunId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        })?;
        rows.into_iter()
            .map(|(run, side, columns)| {
                let owner = || format!("whose counters over time run {run} has");
                let side: Side = word(&side)
                    .map_err(|source| StoreError::unreadable(&self.place.named, owner(), "", source))?;
                let what = || format!("the {side}'s counters over time in run {run}");
                Ok(StoredSeries { run, side, series: self.read(&columns, what, Series::read)? })
            })
            .collect()
    }

    fn study_rows(&self, query: &str, of: impl rusqlite::Params) -> Result<Vec<StudyRow>> {
        let mut rows = self.rows(query, of, study_row)?;
        self.mark(&mut rows)?;
        if let Some(server) = &self.server {
            server.count(&mut rows)?;
        }
        // Only while a process records it: after `kill -9` no process writes `interrupted`.
        let looks_running = |row: &StudyRow| row.status == StudyStatus::Running;
        if rows.iter().any(looks_running)
            && self.campaign.is_none()
            && !CampaignLock::is_running(&self.place.real)
        {
            rows.iter_mut()
                .filter(|row| looks_running(row))
                .for_each(|row| row.status = StudyStatus::Interrupted);
        }
        Ok(rows)
    }

    pub(crate) fn rows<T>(
        &self,
        query: &str,
        parameters: impl rusqlite::Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        if let Some(server) = &self.server {
            server.list(self)?;
        }
        self.budget.renew();
        let all = || -> rusqlite::Result<Vec<T>> {
            let mut rows = self.connection.prepare(query)?;
            let mut count = self.budget.text(0..rows.column_count());
            rows.query_map(parameters, |row| count(row).and_then(|()| read(row)))?.collect()
        };
        all().map_err(|error| self.sql(error))
    }

    /// The text of the row with this id; empty if there is none.
    pub(crate) fn text(&self, query: &str, id: i64) -> Result<String> {
        Ok(self.rows(query, [id], |row| row.get::<_, String>(0))?.concat())
    }

    pub(crate) fn read<'t, T>(
        &self,
        text: &'t str,
        what: impl Fn() -> String,
        read: impl Fn(&'t str) -> serde_json::Result<T>,
    ) -> Result<T> {
        if !has_plain_texts(text) {
            self.holds_hostile_text.store(true, Ordering::Relaxed);
        }
        read(text).map_err(|source| StoreError::unreadable(&self.place.named, what(), text, source))
    }

    pub(crate) fn sql(&self, error: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.place.named, error)
    }
}

pub(crate) const RUN_COUNT: &str = "SELECT count(*) FROM run WHERE study = ?1";

/// The values of the runs that count.
pub(crate) const VALUES: &str = "SELECT condition, number, value FROM run JOIN metric ON metric.run = run.id
                                 WHERE study = ?1 AND status = 'ok' AND warmup = 0 AND key = ?2 ORDER BY run.id";

pub(crate) const SERIES: &str = "SELECT run, side, columns FROM series
                                 WHERE run IN (SELECT id FROM run WHERE study = ?1) ORDER BY run, side";

// At most, for each planned run: failed runs are repeated whenever a study is resumed.
const TRIES: u64 = 10;

// The stored runs that every study may have.
const ANY_RUNS: u64 = 10_000;

fn most_runs(plan: &Plan) -> u64 {
    let study::Protocol { boots, warmup, runs, .. } = &plan.asked.protocol;
    let of_condition = u64::from(*boots) * (u64::from(*warmup) + u64::from(*runs));
    of_condition.saturating_mul(plan.conditions.len() as u64).saturating_mul(TRIES).max(ANY_RUNS)
}

pub(crate) fn word<T: DeserializeOwned>(word: &str) -> serde_json::Result<T> {
    T::deserialize(StrDeserializer::<serde_json::Error>::new(word))
}

pub(crate) fn study_query(is_one: bool) -> String {
    let [runs, studies] = if is_one { ["AND study = ?1", "WHERE id = ?1"] } else { ["", "ORDER BY id"] };
    // Runs that count are counted in the index `run_once`. The others are counted in one pass: a
    // file of an earlier version has no index of them, and would be read again for each study.
    format!(
        "SELECT id, name, scenario, seed, version, status, started_unix_ms, finished_unix_ms, toml,
                (SELECT count(DISTINCT number) FROM boot WHERE study = study.id),
                (SELECT count(*) FROM run WHERE study = study.id AND status = 'ok' AND warmup = 0),
                coalesce(failed, 0), coalesce(invalid, 0)
         FROM study LEFT JOIN (
             SELECT study AS of_study, sum(status = 'failed') AS failed, sum(status = 'invalid') AS invalid
             FROM run WHERE status <> 'ok' {runs} GROUP BY study
         ) ON of_study = id {studies}"
    )
}

fn study_row(row: &Row<'_>) -> rusqlite::Result<StudyRow> {
    let status: String = row.get(5)?;
    Ok(StudyRow {
        id: StudyId(row.get(0)?),
        name: row.get(1)?,
        scenario: row.get(2)?,
        seed: row.get::<_, i64>(3)?.cast_unsigned(),
        version: row.get(4)?,
        status: word(&status).map_err(|_| rusqlite::Error::InvalidColumnType(5, status, Type::Text))?,
        started_unix_ms: row.get(6)?,
        finished_unix_ms: row.get(7)?,
        toml: row.get(8)?,
        boots: row.get(9)?,
        recorded_runs: row.get(10)?,
        failed_runs: row.get(11)?,
        invalid_runs: row.get(12)?,
        tags: Vec::new(),
        pair: None,
    })
}
