//! Studies, boots and runs: as the runner passes them to the store, and as they are read back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ::record::{Detail, Environment, Limit, Series};
use serde::{Deserialize, Serialize};
use study::{BySide, Condition, Plan, PlannedRun, Side};
use words::metric::Metric;

use crate::metrics::Metrics;

macro_rules! row_ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    )*};
}

row_ids! {
    /// A study's number in its database, as `netassay db list` shows it.
    StudyId,
    /// A row of boots: one part of one planned boot.
    BootId,
    /// A row of runs.
    RunId,
}

/// A pair of machines of a fleet, in one campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct FleetPair {
    /// A name that all pairs measured together for one study have in common.
    pub campaign: String,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    /// 1, or the ordinal of a later measurement of the reference pair, which counts as no pair.
    pub repeat: u32,
}

impl fmt::Display for FleetPair {
    /// `rack1`, and `rack1#2` for its second measurement: no name of a pair has a `#`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, repeat, .. } = self;
        if *repeat > 1 { write!(out, "{name}#{repeat}") } else { out.write_str(name) }
    }
}

/// A pair of a fleet's campaign as far as it was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct PairRow {
    #[serde(flatten)]
    pub pair: FleetPair,
    /// `None` if nothing was measured.
    pub study: Option<StudyId>,
    /// Why it was not measured, or not to its end.
    pub failure: Option<String>,
}

/// A study about to begin.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct NewStudy {
    pub name: String,
    /// The study file's text, as it was read.
    pub toml: String,
    pub plan: Plan,
    pub seed: u64,
    pub scenario: String,
    pub version: String,
    /// The pair of a fleet that it measures.
    pub pair: Option<FleetPair>,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct NewRun {
    /// The boot's number is that of the boot in which it is recorded.
    pub planned: PlannedRun,
    /// When it started, in milliseconds since 1970 (UTC).
    pub started_unix_ms: i64,
    pub outcome: Outcome,
    /// Its limit; `None` if unknown.
    pub limited_by: Option<Limit>,
    pub series: BySide<Option<Series>>,
    pub detail: Detail,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The values.
    Ok(Metrics),
    /// The values, and the disturbance. The run does not count as recorded. The
    /// reason is stored as [`words::shortened_reason`] returns it.
    Invalid(Metrics, String),
    /// Why nothing was measured; stored as [`words::shortened_reason`] returns it.
    Failed(String),
}

impl Outcome {
    /// The run's end, in a word.
    pub fn status(&self) -> RunStatus {
        match self {
            Outcome::Ok(_) => RunStatus::Ok,
            Outcome::Invalid(..) => RunStatus::Invalid,
            Outcome::Failed(_) => RunStatus::Failed,
        }
    }

    /// The values; none if it failed.
    pub fn metrics(&self) -> impl Iterator<Item = (Metric, f64)> {
        let metrics = match self {
            Outcome::Ok(metrics) | Outcome::Invalid(metrics, _) => Some(metrics),
            Outcome::Failed(_) => None,
        };
        metrics.into_iter().flat_map(Metrics::iter)
    }

    /// Why it does not count; `None` if it does.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Ok(_) => None,
            Outcome::Invalid(_, reason) | Outcome::Failed(reason) => Some(reason),
        }
    }
}

/// The identity of a run ([`PlannedRun`] explains its fields); a second one is a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct RunKey {
    pub boot: u32,
    pub warmup: bool,
    pub repeat: u32,
    pub condition: usize,
}

words::vocabulary! {
    /// The state of a study.
    pub enum StudyStatus: "a state of a study" {
        /// A process is recording it now.
        Running = "running";
        /// Every planned run was made.
        Complete = "complete";
        /// It was stopped, or its process died; `--resume` continues it.
        Interrupted = "interrupted";
        /// An error ended it.
        Failed = "failed";
    }
}

words::vocabulary! {
    /// The end of a run.
    pub enum RunStatus: "an end of a run" {
        /// It was measured.
        Ok = "ok";
        /// It gave no values; its `reason` says why.
        Failed = "failed";
        /// It was measured, but its window was disturbed; its `reason` says by what.
        Invalid = "invalid";
    }
}

/// A study without its runs: a line of `netassay db list`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct StudyRow {
    pub id: StudyId,
    pub name: String,
    pub scenario: String,
    pub seed: u64,
    /// The version of the program that began it.
    pub version: String,
    /// Its state. `running` only while a process records into this database.
    pub status: StudyStatus,
    pub started_unix_ms: i64,
    /// When it last ended, in ms since 1970 (UTC); none while it runs or after its process died.
    pub finished_unix_ms: Option<i64>,
    /// The number of planned boots that have begun.
    pub boots: u32,
    /// The number of recorded runs, warm-ups and failed ones not counted.
    pub recorded_runs: u32,
    /// The number of failed runs, including warm-ups and tries that were repeated with success.
    pub failed_runs: u32,
    /// The number of disturbed runs, including repeated ones, without warm-ups.
    pub invalid_runs: u32,
    pub tags: Vec<String>,
    /// The pair of a fleet that it measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<FleetPair>,
    /// The study file's text.
    pub toml: String,
}

/// One part of one planned boot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct BootRow {
    pub id: BootId,
    /// The planned boot, from 1.
    pub number: u32,
    /// 1, or more when the boot was resumed.
    pub part: u32,
    pub environment: Environment,
    /// The environment when it ended; `None` if it did not end in order, or its hosts could no
    /// longer be asked.
    pub environment_after: Option<Environment>,
    pub started_unix_ms: i64,
    /// When it ended, in milliseconds since 1970 (UTC); none if it never ended in order.
    pub ended_unix_ms: Option<i64>,
}

/// One run; [`PlannedRun`] explains the numbers of its place in the plan. Its JSON leaves out
/// `metrics` and `detail`, which [`crate::export::json`] adds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct StoredRun {
    pub id: RunId,
    /// The planned boot, from 1: the unit of replication, also when the boot was resumed.
    pub boot: u32,
    pub part: u32,
    pub block: u32,
    pub repeat: u32,
    pub position: u32,
    pub warmup: bool,
    pub condition: usize,
    pub started_unix_ms: i64,
    pub status: RunStatus,
    /// The error of a failed run, or the disturbance of an invalid one; `None` for a good run.
    pub reason: Option<String>,
    /// Empty if it failed.
    #[serde(skip)]
    pub metrics: Metrics,
    /// `None` if unknown.
    pub limited_by: Option<Limit>,
    #[serde(skip)]
    pub detail: Detail,
}

impl StoredRun {
    /// Which run of the study this is.
    pub fn key(&self) -> RunKey {
        RunKey { boot: self.boot, warmup: self.warmup, repeat: self.repeat, condition: self.condition }
    }

    /// Whether it counts as a measurement: it succeeded undisturbed, and is no warm-up.
    pub fn is_measurement(&self) -> bool {
        self.status == RunStatus::Ok && !self.warmup
    }
}

/// One side's counters over one run's window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct StoredSeries {
    pub run: RunId,
    pub side: Side,
    pub series: Series,
}

/// A study with everything recorded, except the series that [`crate::Store::series`] loads.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct StoredStudy {
    pub row: StudyRow,
    pub plan: Plan,
    pub boots: Vec<BootRow>,
    /// Its runs, in the order in which they were recorded.
    pub runs: Vec<StoredRun>,
    /// The keys of stored values that are no metrics of this version: these values are not read.
    pub unknown_metrics: BTreeSet<String>,
    /// Whether the plan, the environments and the accounts are known to hold no text to sanitise.
    pub documents_are_plain: bool,
}

impl StoredStudy {
    /// A condition's label, "condition N" if the plan has no such condition.
    pub fn label(&self, condition: usize) -> String {
        let label = |one: &Condition| one.label.to_string();
        self.plan.conditions.get(condition).map_or_else(|| format!("condition {condition}"), label)
    }

    /// A condition's slug, "condition_N" if the plan has no such condition.
    pub fn slug(&self, condition: usize) -> String {
        let slug = |one: &Condition| one.slug.clone();
        self.plan.conditions.get(condition).map_or_else(|| format!("condition_{condition}"), slug)
    }

    /// The runs that count: no warm-ups, no failed or disturbed ones.
    pub fn measurements(&self) -> impl Iterator<Item = &StoredRun> {
        self.runs.iter().filter(|run| run.is_measurement())
    }

    /// The runs of a condition that count.
    pub fn measurements_of(&self, condition: usize) -> impl Iterator<Item = &StoredRun> {
        self.measurements().filter(move |run| run.condition == condition)
    }

    /// Planned runs of which every try was disturbed: they have no measurement.
    pub fn left_invalid(&self) -> BTreeSet<RunKey> {
        let with = |status| self.runs.iter().filter(move |run| !run.warmup && run.status == status);
        let good: BTreeSet<RunKey> = with(RunStatus::Ok).map(StoredRun::key).collect();
        with(RunStatus::Invalid).map(StoredRun::key).filter(|key| !good.contains(key)).collect()
    }

    /// One metric in the runs that count: (condition, planned boot, value), in recording order.
    pub fn values(&self, metric: Metric) -> impl Iterator<Item = (usize, u32, f64)> {
        self.measurements()
            .filter_map(move |run| run.metrics.get(metric).map(|value| (run.condition, run.boot, value)))
    }
}
