//! The parts of a study that effects over machines need: the mean of each boot, and environments.
//! Of thousands of studies neither the accounts nor the values of runs are read.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use study::Plan;
use words::metric::Metric;

use crate::error::Result;
use crate::read::Outline;
use crate::records::StudyId;
use crate::server::Part;
use crate::store::Store;

/// The metrics in the index `metric_compared`.
const COMPARED: [&str; 3] = ["throughput", "packets", "transactions"];

impl Store {
    /// The outline of a study whose values are the means of boots, without its environments and
    /// disturbed runs: no account is read.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn boot_means(&self, study: StudyId, metrics: impl FnOnce(&Plan) -> Vec<Metric>) -> Result<Outline> {
        let _snapshot = self.snapshot()?;
        self.holds_hostile_text.store(false, Ordering::Relaxed);
        let (row, plan) = self.head(study)?;
        let metrics = metrics(&plan);
        self.fetch(study, Part::Values(&metrics))?;
        let has_index = self.has("metric_compared")?;
        let mut values = BTreeMap::new();
        for metric in metrics {
            let means = self.rows(&query(metric.key, has_index), (study.0, metric.key), |row| {
                Ok((row.get::<_, u32>(0)? as usize, row.get(1)?, row.get(2)?))
            })?;
            self.require_finite(study, metric, &means)?;
            values.insert(metric, means);
        }
        let documents_are_plain = !self.holds_hostile_text.load(Ordering::Relaxed);
        let (environments, disturbed_runs) = (Vec::new(), 0);
        Ok(Outline { row, plan, environments, values, disturbed_runs, documents_are_plain })
    }

    /// The outline of a study with its environments, and without values and disturbed runs.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn environments(&self, study: StudyId) -> Result<Outline> {
        self.outline_without_disturbed(study, |_| Vec::new())
    }
}

/// Condition, planned boot and mean of the runs that count.
fn query(key: &str, has_index: bool) -> String {
    // SQLite would read the values of a run among those of fifty other metrics. That a key is in
    // the index it sees only if the key is no parameter.
    let known = COMPARED.iter().find(|known| has_index && **known == key);
    let (index, named) = match known {
        Some(known) => ("INDEXED BY metric_compared", format!("AND key = '{known}'")),
        None => ("", String::new()),
    };
    format!(
        "SELECT condition, number, avg(value) FROM run CROSS JOIN metric {index} ON run = run.id
         WHERE study = ?1 AND status = 'ok' AND warmup = 0 AND key = ?2 {named} GROUP BY number, condition"
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use words::Kind;

    use super::*;
    use crate::schema::MIGRATIONS;
    use crate::{read, runs};

    #[test]
    fn the_main_metrics_are_in_the_index() {
        assert!(Kind::ALL.iter().all(|kind| COMPARED.contains(&kind.primary_metric().key)));
        let index = COMPARED.map(|key| format!("key = '{key}'")).join(" OR ");
        assert!(include_str!("schema/3.sql").contains(&index));
    }

    /// Among thousands of studies the runs of one are found without those of the others.
    #[test]
    fn a_study_is_read_by_indexes() {
        let mut connection = Connection::open_in_memory().unwrap();
        MIGRATIONS.to_latest(&mut connection).unwrap();
        let queries = [
            query(COMPARED[0], true),
            query("cpu", true),
            read::study_query(true),
            read::study_query(false),
            read::RUN_COUNT.to_owned(),
            read::VALUES.to_owned(),
            read::SERIES.to_owned(),
            runs::query("detail"),
            runs::METRICS.to_owned(),
            crate::pack::KNOWN.replace('$', "?"),
        ];
        for query in queries {
            let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let mut rows = explained.raw_query();
            while let Some(row) = rows.next().unwrap() {
                let step: String = row.get(3).unwrap();
                let reads_all =
                    ["SCAN run", "SCAN metric", "SCAN series"].iter().any(|scan| step.starts_with(scan));
                let is_covered = step.contains("COVERING INDEX run_not_ok");
                assert!(!reads_all || is_covered, "{step}: {query}");
            }
        }
    }
}
