//! Reading the runs of a study.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use record::{Detail, Label, Limit};
use rusqlite::Row;
use rusqlite::types::Type;
use words::metric::Metric;

use crate::error::StoreError;
use crate::metrics::Metrics;
use crate::read::word;
use crate::records::{RunId, StoredRun, StudyId};
use crate::sanitised::has_plain_texts;
use crate::store::Store;

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

const METRICS: &str = "SELECT run, key, value FROM metric WHERE run IN (SELECT id FROM run WHERE study = ?1)";

impl Store {
    /// The runs of a study with everything that is stored of them, except counters over time; and
    /// the keys of values that are no metrics of this version.
    pub(crate) fn runs(&self, study: StudyId) -> Result<(Vec<StoredRun>, BTreeSet<String>), StoreError> {
        let mut values: BTreeMap<RunId, Metrics> = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        self.rows(METRICS, [study.0], |row| {
            let key = row.get_ref(1)?.as_str()?;
            match Metric::from_key(key) {
                Some(metric) => values.entry(RunId(row.get(0)?)).or_default().insert(metric, row.get(2)?),
                None => drop(unknown.insert(key.to_owned())),
            }
            Ok(())
        })?;
        let mut runs = self.rows(&query("detail"), [study.0], RawRun::from_row)?;
        for raw in &mut runs {
            raw.run.metrics = values.remove(&raw.run.id).unwrap_or_default();
        }
        // The connection stays on this thread.
        let (path, holds_hostile_text) = (&self.place.named, &self.holds_hostile_text);
        Ok((parse(runs, |run| run.parsed(path, study, holds_hostile_text))?, unknown))
    }

    /// The runs of a study with their values of these metrics. Only a run that counts and lacks one
    /// of them, or was disturbed, has its account, which may tell why.
    pub(crate) fn runs_with(&self, study: StudyId, metrics: &[Metric]) -> Result<Vec<StoredRun>, StoreError> {
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
            &query(&format!("CASE WHEN {DISTURBED} THEN detail ELSE 'null' END")),
            [study.0],
            RawRun::from_row,
        )? {
            raw.run.metrics = values.remove(&raw.run.id).unwrap_or_default();
            if raw.run.is_measurement() && raw.run.metrics.len() < metrics.len() {
                let detail = "SELECT detail FROM run WHERE id = ?1";
                let detail: Vec<String> = self.rows(detail, [raw.run.id.0], |row| row.get(0))?;
                raw.detail = detail.concat();
            }
            runs.push(raw.parsed(&self.place.named, study, &self.holds_hostile_text)?);
        }
        Ok(runs)
    }
}

/// A run whose account and limit are not parsed yet.
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

    fn parsed(
        self,
        path: &Path,
        study: StudyId,
        holds_hostile_text: &AtomicBool,
    ) -> Result<StoredRun, StoreError> {
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

/// Parses all, half of them on a second thread, in their order.
///
/// # Errors
/// Of the first that cannot be parsed.
fn parse<P: Send, T: Send, E: Send>(
    mut all: Vec<P>,
    parse: impl Fn(P) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let second = all.split_off(all.len() / 2);
    let parsed = |half: Vec<P>| half.into_iter().map(&parse).collect::<Result<Vec<T>, E>>();
    thread::scope(|scope| {
        let second = scope.spawn(|| parsed(second));
        let mut all = parsed(all)?;
        all.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_pieces() {
        for pieces in [0, 1, 2, 1007] {
            let parsed = parse((0..pieces).collect(), |piece: usize| Ok::<_, ()>(2 * piece));
            assert_eq!(parsed, Ok((0..pieces).map(|piece| 2 * piece).collect()));
        }
    }

    #[test]
    fn the_first_error_is_reported() {
        let odd = |piece: usize| if piece < 100 { Ok(piece) } else { Err(format!("{piece} is wrong")) };
        for pieces in [150, 640] {
            assert_eq!(parse((0..pieces).collect(), odd), Err("100 is wrong".to_owned()));
        }
    }
}
