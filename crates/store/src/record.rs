//! What is recorded: the words in which the runner hands over studies and runs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// A study's number in its database, as `netassay list` shows it.
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
    /// The plan: `conditions[i]` has at least a `label` and a `slug`.
    pub plan_json: Value,
    /// What the order of runs was drawn from.
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
    /// What was measured, by metric key, or why there is nothing.
    pub outcome: Result<Vec<(String, f64)>, String>,
    /// Anything worth keeping that is no metric.
    pub detail: Value,
}

/// Which run of a study: what makes a second recording a duplicate.
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

/// Where a study stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyStatus {
    /// A process is recording it now.
    Running,
    /// Every planned run was made.
    Complete,
    /// It was stopped, or its process died; `--resume` continues it.
    Interrupted,
    /// It could not go on.
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

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It was measured.
    Ok,
    /// It gave nothing; its `reason` says why.
    Failed,
}

impl RunStatus {
    /// The word, as stored and as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Ok => "ok",
            RunStatus::Failed => "failed",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
