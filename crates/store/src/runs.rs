//! Reading the runs of a study.

use std::collections::BTreeSet;
use std::path::Path;

use record::{Detail, Label, Limit};
use rusqlite::types::Type;
use rusqlite::{Row, Rows};

use crate::error::StoreError;
use crate::metrics::{Gatherer, Metrics};
use crate::new_records::{RunId, RunStatus, StudyId};
use crate::parser::parse;
use crate::read::{unreadable, word};
use crate::store::Store;
use crate::stored::StoredRun;

/// The runs of a study in the order of their ids, each with this as its account. What they measured
/// is in a table of its own.
fn query(detail: &str) -> String {
    format!(
        "SELECT id, number, part, block, repeat, position, warmup, condition, started_unix_ms, status, reason,
                {detail}, limited_by, evidence FROM run WHERE study = ?1 ORDER BY id"
    )
}

/// Whether something disturbed a run that counts. Most accounts do not have the word, and are not
/// parsed.
pub(crate) const DISTURBED: &str =
    "instr(detail, '\"disturbed\":[') > 0 AND json_array_length(detail, '$.disturbed') > 0";

/// Their metrics: in the order of the runs, then of the keys.
const METRICS: &str = "SELECT run, key, value FROM metric
                       WHERE run IN (SELECT id FROM run WHERE study = ?1) ORDER BY run, key";

impl Store {
    /// The runs of a study with everything that is stored of them, except counters over time.
    pub(crate) fn runs(&self, study: StudyId) -> Result<Vec<StoredRun>, StoreError> {
        let path = &self.place.named;
        parse(
            |run: RawRun| run.parsed(path, study),
            |add| self.each_run(study, add).map_err(|error| self.sql(error)),
        )
    }

    /// The runs of a study with their values of these metrics. Only a run that counts and lacks one
    /// of them, or was disturbed, has its account, which may tell why.
    pub(crate) fn runs_with(&self, study: StudyId, metrics: &[&str]) -> Result<Vec<StoredRun>, StoreError> {
        let path = &self.place.named;
        let of_metric = |key: &&'_ str| {
            let values = self.rows(
                "SELECT run, value FROM metric
                 WHERE run IN (SELECT id FROM run WHERE study = ?1) AND key = ?2 ORDER BY run",
                (study.0, key),
                |row| Ok((RunId(row.get(0)?), row.get::<_, f64>(1)?)),
            )?;
            Ok(values.into_iter().peekable())
        };
        let keys: BTreeSet<&str> = metrics.iter().copied().collect();
        let mut columns = keys.iter().map(of_metric).collect::<Result<Vec<_>, StoreError>>()?;
        let mut gatherer = Gatherer::default();
        let mut runs = Vec::new();
        for mut raw in self.rows(
            &query(&format!("CASE WHEN {DISTURBED} THEN detail ELSE 'null' END")),
            [study.0],
            RawRun::from_row,
        )? {
            let mut own = gatherer.begin(raw.run.condition);
            for (key, values) in keys.iter().zip(&mut columns) {
                while values.next_if(|(of, _)| *of < raw.run.id).is_some() {}
                if let Some((_, value)) = values.next_if(|(of, _)| *of == raw.run.id) {
                    own.push(key, value);
                }
            }
            raw.run.metrics = gatherer.finish(own);
            if raw.run.is_measurement() && raw.run.metrics.len() < keys.len() {
                let detail = "SELECT detail FROM run WHERE id = ?1";
                let detail: Vec<String> = self.rows(detail, [raw.run.id.0], |row| row.get(0))?;
                raw.detail = detail.concat();
            }
            runs.push(raw.parsed(path, study)?);
        }
        Ok(runs)
    }

    /// Reads the rows of the runs, each with its metrics.
    fn each_run(&self, study: StudyId, add: &mut dyn FnMut(RawRun)) -> rusqlite::Result<()> {
        self.budget.renew();
        let [mut count, mut count_metrics] = [self.budget.text(), self.budget.text()];
        let mut runs = self.connection.prepare(&query("detail"))?;
        let mut metrics = self.connection.prepare(METRICS)?;
        let (mut runs, mut metrics) = (runs.query([study.0])?, metrics.query([study.0])?);
        let mut gatherer = Gatherer::default();
        // Both are in the order of the runs.
        let mut metric = next(&mut metrics, &mut count_metrics)?;
        while let Some(row) = next(&mut runs, &mut count)? {
            let mut run = RawRun::from_row(row)?;
            let mut own = gatherer.begin(run.run.condition);
            while let Some(row) = metric {
                let of: i64 = row.get(0)?;
                if of > run.run.id.0 {
                    break;
                }
                if of == run.run.id.0 {
                    own.push(text_of(row, 1)?, row.get(2)?);
                }
                metric = next(&mut metrics, &mut count_metrics)?;
            }
            run.run.metrics = gatherer.finish(own);
            add(run);
        }
        Ok(())
    }
}

/// The next row, counted.
fn next<'r, 's>(
    rows: &'r mut Rows<'s>,
    count: &mut impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<Option<&'r Row<'s>>> {
    let row = rows.next()?;
    row.map_or(Ok(()), count)?;
    Ok(row)
}

/// A text of a row, where it is.
fn text_of<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    let text = row.get_ref(column)?.as_str();
    // The error of `get` names the column.
    text.map_err(|error| row.get::<_, String>(column).err().unwrap_or_else(|| error.into()))
}

/// A run whose account and limit are not parsed yet.
pub(crate) struct RawRun {
    /// The run without its account and its limit.
    run: StoredRun,
    detail: String,
    /// The label and the evidence.
    limit: Option<(String, String)>,
}

impl RawRun {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let status: String = row.get(9)?;
        let run = StoredRun {
            id: RunId(row.get(0)?),
            boot: row.get(1)?,
            part: row.get(2)?,
            block: row.get(3)?,
            repeat: row.get(4)?,
            position: row.get(5)?,
            warmup: row.get(6)?,
            condition: row.get::<_, u32>(7)? as usize,
            started_unix_ms: row.get(8)?,
            status: RunStatus::from_word(&status)
                .ok_or_else(|| rusqlite::Error::InvalidColumnType(9, status, Type::Text))?,
            reason: row.get(10)?,
            metrics: Metrics::default(),
            limited_by: None,
            detail: Detail::Nothing,
        };
        let limit = row.get::<_, Option<String>>(12)?.zip(row.get::<_, Option<String>>(13)?);
        Ok(Self { run, detail: row.get(11)?, limit })
    }

    /// Parses the documents that are not parsed yet.
    fn parsed(self, path: &Path, study: StudyId) -> Result<StoredRun, StoreError> {
        let Self { mut run, detail, limit } = self;
        let id = run.id;
        let unreadable = |what: &str, text: &str, source| {
            unreadable(path, format!("the {what} of run {id} of study {study}"), text, source)
        };
        run.detail = Detail::read(&detail).map_err(|source| unreadable("detail", &detail, source))?;
        if let Some((label, evidence)) = limit {
            let label: Label = word(&label).map_err(|source| unreadable("limit", "", source))?;
            let evidence = serde_json::from_str(&evidence)
                .map_err(|source| unreadable("evidence", &evidence, source))?;
            run.limited_by = Some(Limit { label, evidence });
        }
        Ok(run)
    }
}
