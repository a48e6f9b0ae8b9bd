//! Runs that crashed a machine.

use std::collections::BTreeMap;

use record::{Crash, Detail};
use rusqlite::params;

use crate::error::Result;
use crate::records::{RunId, StoredRun, StoredStudy};
use crate::store::Store;

impl Store {
    /// Stores that failed runs crashed machines, which is known only after they were recorded.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn set_crash(&mut self, runs: &[RunId], crash: &Crash) -> Result<()> {
        let why = words::shortened_reason(&crash.to_string());
        let detail = serde_json::to_string(crash).expect("a crash is numbers and texts");
        self.write(|transaction, _| {
            for run in runs {
                transaction.execute(
                    "UPDATE run SET reason = ?2, detail = ?3 WHERE id = ?1 AND status = 'failed'",
                    params![run.0, why, detail],
                )?;
            }
            Ok(())
        })
    }
}

impl StoredStudy {
    /// The conditions that crashed a machine in a planned boot, as (planned boot, condition), with
    /// the reason. A later run of the condition in that boot ends this.
    pub fn crashes(&self) -> BTreeMap<(u32, usize), &str> {
        let last: BTreeMap<(u32, usize), &StoredRun> =
            self.runs.iter().map(|run| ((run.boot, run.condition), run)).collect();
        let crashed = last.into_iter().filter(|(_, run)| matches!(run.detail, Detail::Crashed(_)));
        crashed.map(|(place, run)| (place, run.reason.as_deref().unwrap_or_default())).collect()
    }
}
