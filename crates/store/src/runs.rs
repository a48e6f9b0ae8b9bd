//! Reading the runs of a study.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{TrySendError, sync_channel};
use std::thread::{self, Builder};

use record::{Detail, Label, Limit};
use rusqlite::types::Type;
use rusqlite::{Row, Rows};
use words::metric::Metric;

use crate::error::{Result, StoreError};
use crate::metrics::Metrics;
use crate::read::word;
use crate::records::{RunId, StoredRun, StudyId};
use crate::sanitised::has_plain_texts;
use crate::store::Store;

/// The runs of a study in the order of their ids, each with this as its account. What they measured
/// is in a table of its own.
pub(crate) fn query(detail: &str) -> String {
    format!(
        "SELECT id, number, part, block, repeat, position, warmup, condition, started_unix_ms, status, reason,
                {detail}, limited_by, evidence FROM run WHERE study = ?1 ORDER BY id"
    )
}

// Most accounts do not have the word, and are not parsed.
pub(crate) const DISTURBED: &str =
    "instr(detail, '\"disturbed\":[') > 0 AND json_array_length(detail, '$.disturbed') > 0";

// The accounts of failed runs are short, as nothing was measured.
const CRASHED: &str = "status = 'failed' AND json_type(detail, '$.crash') IS NOT NULL";

pub(crate) const METRICS: &str = "SELECT run, key, value FROM metric
                       WHERE run IN (SELECT id FROM run WHERE study = ?1) ORDER BY run, key";
// Its only column of text.
const KEY: usize = 1;

impl Store {
    /// Without counters over time; and the keys of values that are no metrics of this version.
    pub(crate) fn runs(&self, study: StudyId) -> Result<(Vec<StoredRun>, BTreeSet<String>)> {
        // The connection stays on this thread.
        let (path, holds_hostile_text) = (&self.place.named, &self.holds_hostile_text);
        let mut unknown = BTreeSet::new();
        let runs = parse(
            |run: RawRun| run.parsed(path, study, holds_hostile_text),
            |add| self.each_run(study, &mut unknown, add).map_err(|error| self.sql(error)),
        )?;
        Ok((runs, unknown))
    }

    /// Only a run that lacks a value, was disturbed or crashed a machine has its account.
    pub(crate) fn runs_with(&self, study: StudyId, metrics: &[Metric]) -> Result<Vec<StoredRun>> {
        let metrics: BTreeSet<Metric> = metrics.iter().copied().collect();
        let mut values: BTreeMap<RunId, Metrics> = BTreeMap::new();
        for metric in &metrics {
            for (run, value) in self.rows(
                "SELECT run, value FROM metric
                 WHERE run IN (SELECT id FROM run WHERE study = ?1) AND key = ?2 ORDER BY run",
                (study.0, metric.key),
                |row| Ok((RunId(row.get(0)?), row.get::<_, f64>(1)?)),
            )? {
                values.entry(run).or_default().insert(*metric, value);
            }
        }
        let mut runs = Vec::new();
        for mut raw in self.rows(
            &query(&format!("CASE WHEN {DISTURBED} OR {CRASHED} THEN detail ELSE 'null' END")),
            [study.0],
            RawRun::from_row,
        )? {
            raw.run.metrics = values.remove(&raw.run.id).unwrap_or_default();
            if raw.run.is_measurement() && raw.run.metrics.len() < metrics.len() {
                raw.detail = self.text("SELECT detail FROM run WHERE id = ?1", raw.run.id.0)?;
            }
            runs.push(raw.parsed(&self.place.named, study, &self.holds_hostile_text)?);
        }
        Ok(runs)
    }

    fn each_run(
        &self,
        study: StudyId,
        unknown: &mut BTreeSet<String>,
        add: &mut dyn FnMut(RawRun),
    ) -> rusqlite::Result<()> {
        self.budget.renew();
        let mut runs = self.connection.prepare(&query("detail"))?;
        let mut metrics = self.connection.prepare(METRICS)?;
        let mut count = self.budget.text(0..runs.column_count());
        let mut count_metrics = self.budget.text(KEY..KEY + 1);
        let (mut runs, mut metrics) = (runs.query([study.0])?, metrics.query([study.0])?);
        // Both are in the order of the runs.
        let mut metric = next(&mut metrics, &mut count_metrics)?;
        while let Some(row) = next(&mut runs, &mut count)? {
            let mut run = RawRun::from_row(row)?;
            while let Some(row) = metric {
                let of: i64 = row.get(0)?;
                if of > run.run.id.0 {
                    break;
                }
                if of == run.run.id.0 {
                    let key = text_of(row, KEY)?;
                    match Metric::from_key(key) {
                        Some(metric) => run.run.metrics.insert(metric, row.get(2)?),
                        None => drop(unknown.insert(key.to_owned())),
                    }
                }
                metric = next(&mut metrics, &mut count_metrics)?;
            }
            add(run);
        }
        Ok(())
    }
}

fn next<'r, 's>(
    rows: &'r mut Rows<'s>,
    count: &mut impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<Option<&'r Row<'s>>> {
    let row = rows.next()?;
    row.map_or(Ok(()), count)?;
    Ok(row)
}

fn text_of<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    let text = row.get_ref(column)?.as_str();
    // The error of `get` names the column.
    text.map_err(|error| row.get::<_, String>(column).err().unwrap_or_else(|| error.into()))
}

pub(crate) struct RawRun {
    run: StoredRun,
    detail: String,
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
            status: word(&status).map_err(|_| rusqlite::Error::InvalidColumnType(9, status, Type::Text))?,
            reason: row.get(10)?,
            metrics: Metrics::default(),
            limited_by: None,
            detail: Detail::Nothing,
        };
        let limit = row.get::<_, Option<String>>(12)?.zip(row.get::<_, Option<String>>(13)?);
        Ok(Self { run, detail: row.get(11)?, limit })
    }

    fn parsed(self, path: &Path, study: StudyId, holds_hostile_text: &AtomicBool) -> Result<StoredRun> {
        let Self { mut run, detail, limit } = self;
        let id = run.id;
        let unreadable = |what: &str, text: &str, source| {
            StoreError::unreadable(path, format!("the {what} of run {id} of study {study}"), text, source)
        };
        let evidence = limit.iter().map(|(_, evidence)| evidence.as_str());
        if !evidence.chain([detail.as_str()]).all(has_plain_texts) {
            holds_hostile_text.store(true, Ordering::Relaxed);
        }
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

const BATCH: usize = 64;
// The batches that may wait. More would only wait in memory.
const WAITING: usize = 2;

/// Parses what `read` hands over, with a second thread; the results in that order.
///
/// # Errors
/// The error of `read`; else of the first piece that cannot be parsed.
fn parse<P: Send, T: Send, E: Send>(
    parse: impl Fn(P) -> Result<T, E> + Sync,
    read: impl FnOnce(&mut dyn FnMut(P)) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let parsed = |batch: Vec<P>| batch.into_iter().map(&parse).collect::<Vec<Result<T, E>>>();
    thread::scope(|scope| {
        let parsed = &parsed;
        let (batches, waiting) = sync_channel::<(usize, Vec<P>)>(WAITING);
        let all = move || waiting.into_iter().map(|(number, batch)| (number, parsed(batch))).collect();
        let other = Builder::new().spawn_scoped::<_, Vec<_>>(scope, all);
        let (mut all, mut batch, mut number) = (Vec::new(), Vec::with_capacity(BATCH), 0);
        read(&mut |piece| {
            batch.push(piece);
            if batch.len() == BATCH {
                let whole = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                // The second thread parses while this one reads on; this one helps when it falls
                // behind.
                if let Err(TrySendError::Full((_, whole)) | TrySendError::Disconnected((_, whole))) =
                    batches.try_send((number, whole))
                {
                    all.push((number, parsed(whole)));
                }
                number += 1;
            }
        })?;
        all.push((number, parsed(batch)));
        drop(batches);
        if let Ok(other) = other {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().flat_map(|(_, batch)| batch).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parse_all(
        pieces: usize,
        parse: impl Fn(usize) -> Result<usize, String> + Sync,
    ) -> Result<Vec<usize>, String> {
        super::parse(parse, |add| {
            (0..pieces).for_each(add);
            Ok(())
        })
    }

    #[test]
    fn results_keep_the_order_of_the_pieces() {
        // A slow piece lets the first thread overtake the second.
        let slow = |piece: usize| {
            if piece.is_multiple_of(3 * BATCH) {
                thread::sleep(Duration::from_millis(20));
            }
            Ok(2 * piece)
        };
        for pieces in [0, 1, BATCH - 1, BATCH, BATCH + 1, 20 * BATCH + 7] {
            assert_eq!(parse_all(pieces, slow), Ok((0..pieces).map(|piece| 2 * piece).collect()));
        }
    }

    #[test]
    fn the_first_error_is_reported_and_that_of_reading_before_it() {
        let odd = |piece: usize| if piece < 100 { Ok(piece) } else { Err(format!("{piece} is wrong")) };
        assert_eq!(parse_all(10 * BATCH, odd), Err("100 is wrong".to_owned()));
        let broken = super::parse(odd, |add| {
            (0..300).for_each(add);
            Err("no more can be read".to_owned())
        });
        assert_eq!(broken, Err("no more can be read".to_owned()));
    }
}
