//! The types in which the runner passes studies and runs.

use std::fmt;
use std::str::FromStr;

use ::record::{Detail, Limit, Series};
use serde::{Deserialize, Serialize};
use study::{BySide, Plan};

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<$name, Self::Err> {
                text.parse().map($name)
            }
        }
    };
}

row_id! {
    /// A study's number in its database, as `netassay db list` shows it.
    StudyId
}
row_id! {
    /// A row of boots: one part of one planned boot.
    BootId
}
row_id! {
    /// A row of runs.
    RunId
}

/// A study about to begin.
#[derive(Clone, Debug, PartialEq)]
pub struct NewStudy {
    /// The study's name.
    pub name: String,
    /// The study file's text, as it was read.
    pub toml: String,
    /// The plan.
    pub plan: Plan,
    /// The seed of the order of runs.
    pub seed: u64,
    /// The scenario's name.
    pub scenario: String,
    /// The version of the program.
    pub version: String,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// The block, 0 for warm-ups.
    pub block: u32,
    /// Which run of its condition and kind in its boot, from 1.
    pub repeat: u32,
    /// The place in the boot's order, from 0.
    pub position: u32,
    /// Whether it is a warm-up.
    pub warmup: bool,
    /// The condition's index in the plan.
    pub condition: usize,
    /// When it started, in milliseconds since 1970 (UTC).
    pub started_unix_ms: i64,
    /// Its result.
    pub outcome: Outcome,
    /// Its limit; `None` if unknown.
    pub limited_by: Option<Limit>,
    /// The sides' counters over time.
    pub series: BySide<Option<Series>>,
    /// The other stored data.
    pub detail: Detail,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The values, by metric key.
    Ok(Vec<(String, f64)>),
    /// The values, by metric key, and the disturbance. The run does not count as recorded. The
    /// reason is stored as [`words::shortened_reason`] returns it.
    Invalid(Vec<(String, f64)>, String),
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

    /// The values, by metric key; empty if it failed.
    pub fn metrics(&self) -> &[(String, f64)] {
        match self {
            Outcome::Ok(metrics) | Outcome::Invalid(metrics, _) => metrics,
            Outcome::Failed(_) => &[],
        }
    }

    /// Why it does not count; `None` if it does.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Ok(_) => None,
            Outcome::Invalid(_, reason) | Outcome::Failed(reason) => Some(reason),
        }
    }
}

/// The identity of a run in its study: a second recording with this key is a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The planned boot, from 1.
    pub boot: u32,
    /// Whether it is a warm-up.
    pub warmup: bool,
    /// Which run of its condition and kind in its boot, from 1.
    pub repeat: u32,
    /// The condition's index in the plan.
    pub condition: usize,
}

impl fmt::Display for RunKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunKey { boot, repeat, condition, .. } = self;
        let kind = if self.warmup { "warm-up" } else { "run" };
        write!(out, "{kind} {repeat} of condition {condition} in boot {boot}")
    }
}

/// The state of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyStatus {
    /// A process is recording it now.
    Running,
    /// Every planned run was made.
    Complete,
    /// It was stopped, or its process died; `--resume` continues it.
    Interrupted,
    /// An error ended it.
    Failed,
}

impl StudyStatus {
    /// The word, as stored and as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            StudyStatus::Running => "running",
            StudyStatus::Complete => "complete",
            StudyStatus::Interrupted => "interrupted",
            StudyStatus::Failed => "failed",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<StudyStatus> {
        [StudyStatus::Running, StudyStatus::Complete, StudyStatus::Interrupted, StudyStatus::Failed]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

impl fmt::Display for StudyStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It was measured.
    Ok,
    /// It gave no values; its `reason` says why.
    Failed,
    /// It was measured, but its window was disturbed; its `reason` says by what.
    Invalid,
}

impl RunStatus {
    /// The word, as stored and as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Ok => "ok",
            RunStatus::Failed => "failed",
            RunStatus::Invalid => "invalid",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<RunStatus> {
        [RunStatus::Ok, RunStatus::Failed, RunStatus::Invalid]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
