//! Rows of a made-up store.

use std::collections::{BTreeMap, BTreeSet};

use record::{Detail, sample};
use store::{BootId, BootRow, RunId, RunStatus, StoredRun, StoredStudy, StudyId, StudyRow, StudyStatus};
use study::metric::{self, Metric};
use study::{Plan, Study};

/// The begin of the study, in milliseconds since 1970.
const BEGUN: i64 = 1_795_181_965_000;

/// A valid run with these metrics, in the order of their ids.
pub(crate) fn run(
    id: i64,
    boot: u32,
    repeat: u32,
    condition: usize,
    metrics: BTreeMap<String, f64>,
) -> StoredRun {
    StoredRun {
        id: RunId(id),
        boot,
        part: 1,
        block: repeat,
        repeat,
        position: u32::try_from(id).unwrap(),
        warmup: false,
        condition,
        started_unix_ms: BEGUN + id * 1000,
        status: RunStatus::Ok,
        reason: None,
        metrics: metrics.into_iter().map(|(key, value)| (metric(&key), value)).collect(),
        limited_by: None,
        detail: Detail::Nothing,
    }
}

/// The metric of this key.
fn metric(key: &str) -> Metric {
    metric::find(key).unwrap_or_else(|| panic!("no metric {key}"))
}

/// A study of which all is measured.
pub(crate) fn complete(study: &Study, plan: Plan, boots: u32, runs: Vec<StoredRun>) -> StoredStudy {
    let boot = |number| BootRow {
        id: BootId(i64::from(number)),
        number,
        part: 1,
        environment: sample::environment(),
        environment_after: None,
        started_unix_ms: BEGUN,
        ended_unix_ms: Some(BEGUN),
    };
    let row = StudyRow {
        id: StudyId(1),
        name: study.name.to_owned(),
        scenario: study.scenario_names(),
        seed: 1,
        version: "0.1.0".to_owned(),
        status: StudyStatus::Complete,
        started_unix_ms: BEGUN,
        finished_unix_ms: None,
        boots,
        recorded_runs: u32::try_from(runs.len()).unwrap(),
        failed_runs: 0,
        invalid_runs: 0,
        tags: Vec::new(),
        pair: None,
        toml: study.text.to_owned(),
    };
    StoredStudy {
        row,
        plan,
        boots: (1..=boots).map(boot).collect(),
        runs,
        unknown_metrics: BTreeSet::new(),
        documents_are_plain: false,
    }
}
