//! A study as it is compared with another: without the accounts of its runs, which are most of its
//! bytes.

use std::collections::BTreeMap;

use record::Environment;
use study::Plan;

use crate::error::StoreError;
use crate::new_records::StudyId;
use crate::runs::DISTURBED;
use crate::sanitised::{sanitise_record, sanitise_row};
use crate::store::Store;
use crate::stored::StudyRow;

/// A study's plan, its environments and the values of some metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The study itself.
    pub row: StudyRow,
    /// The plan.
    pub plan: Plan,
    /// The environments at the begin of its boots, each once.
    pub environments: Vec<Environment>,
    /// The values of each metric of the runs that count, as (condition, planned boot, value), in
    /// recording order.
    pub values: BTreeMap<String, Vec<(usize, u32, f64)>>,
    /// The number of disturbed runs among those that count.
    pub disturbed_runs: usize,
}

impl Store {
    /// The outline of a study with the metrics that `metrics` names for its plan.
    ///
    /// # Errors
    /// As [`Store::load`], and the errors of `metrics`.
    pub fn outline<E: From<StoreError>>(
        &self,
        study: StudyId,
        metrics: impl FnOnce(&Plan) -> Result<Vec<String>, E>,
    ) -> Result<Outline, E> {
        let sql = |error| StoreError::from_sqlite(&self.place.named, error);
        let _snapshot = self.connection.unchecked_transaction().map_err(sql)?;
        let (row, plan) = self.head(study)?;
        let environments = self.rows(
            "SELECT json FROM document WHERE id IN (SELECT environment FROM boot WHERE study = ?1) ORDER BY id",
            [study.0],
            |row| row.get::<_, String>(0),
        )?;
        let what = || format!("an environment of study {study}");
        let environments = environments.iter().map(|json| self.json(json, what)).collect::<Result<_, _>>()?;
        let mut values = BTreeMap::new();
        for metric in metrics(&plan)? {
            let of_runs = self.rows(
                "SELECT condition, number, value FROM run JOIN metric ON metric.run = run.id
                 WHERE study = ?1 AND status = 'ok' AND warmup = 0 AND key = ?2 ORDER BY run.id",
                (study.0, &metric),
                |row| Ok((row.get::<_, u32>(0)? as usize, row.get(1)?, row.get(2)?)),
            )?;
            values.insert(metric, of_runs);
        }
        let disturbed = format!(
            "SELECT count(*) FROM run WHERE study = ?1 AND status = 'ok' AND warmup = 0 AND {DISTURBED}"
        );
        let disturbed = self.rows(&disturbed, [study.0], |row| row.get::<_, u32>(0))?;
        let disturbed_runs = disturbed.into_iter().sum::<u32>() as usize;
        Ok(Outline { row, plan, environments, values, disturbed_runs })
    }
}

impl Outline {
    /// The outline sanitised as by [`crate::StoredStudy::sanitised`].
    #[must_use]
    pub fn sanitised(self) -> Outline {
        let Outline { mut row, mut plan, mut environments, values, disturbed_runs } = self;
        sanitise_row(&mut row);
        sanitise_record(&mut plan, Plan::read);
        environments.iter_mut().for_each(|one| sanitise_record(one, |json| serde_json::from_str(json)));
        Outline { row, plan, environments, values, disturbed_runs }
    }
}
