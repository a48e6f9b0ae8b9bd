//! Errors of a report.

use store::Outline;
use thiserror::Error as ThisError;

/// A reason why a report cannot be made.
#[derive(Debug, ThisError)]
pub enum Error {
    /// No run gave a value.
    #[error("study {study} holds no recorded run with {metric}: {hint}")]
    NothingRecorded {
        /// The study's number.
        study: i64,
        /// The metric asked for.
        metric: String,
        /// The way out.
        hint: String,
    },
    /// The metric does not exist.
    #[error("there is no metric {word:?}{}", suggestion(.nearest))]
    UnknownMetric {
        /// The metric asked for.
        word: String,
        /// The most similar metric.
        nearest: Option<String>,
    },
    /// The condition does not exist.
    #[error("study {study} has no condition {word:?}; it has {known}")]
    UnknownCondition {
        /// The study's number.
        study: i64,
        /// The condition asked for.
        word: String,
        /// The conditions that it has.
        known: String,
    },
    /// The study is no A/A study.
    #[error(
        "study {study} ({name}) is no A/A study: it must have one condition under two labels of the factor `twin` \
         (`netassay run STUDY --aa` measures one)"
    )]
    NoTwins {
        /// The study's number.
        study: i64,
        /// Its name.
        name: String,
    },
    /// A study compares nothing, or nothing in the metric asked for.
    #[error("the study {study:?} compares nothing in that metric, so there is nothing to plan for")]
    NothingToSize {
        /// The study's name.
        study: String,
    },
    /// No two conditions of a study have traces of the same path.
    #[error(
        "study {study} ({name}) holds no traces of two conditions: `[trace]` in a study asks for them, and `{}` makes them",
        words::shell_command(["netassay", "trace", .name])
    )]
    NothingTraced {
        /// The study's number.
        study: i64,
        /// Its name.
        name: String,
    },
    /// Traces of several databases that have nothing in common.
    #[error("these databases cannot be merged: {0}")]
    NotMerged(String),
    /// Two studies have nothing that may be compared.
    #[error("study {study} cannot be compared with study {baseline}: {why}")]
    NotComparable {
        /// The study that is the baseline.
        baseline: i64,
        /// The other.
        study: i64,
        /// The difference that keeps them apart.
        why: String,
    },
    /// A study has no conditions that may be judged as asked.
    #[error("study {study} cannot be judged so: {why}")]
    NothingToJudge {
        /// The study's number.
        study: i64,
        /// The missing part.
        why: String,
    },
    /// ministat has no table for this confidence.
    #[error("ministat knows the confidences 80, 90, 95, 98, 99 and 99.5 %, not {percent} %")]
    UnknownLevel {
        /// The confidence in percent.
        percent: f64,
    },
    /// The classic test rejects the data.
    #[error("{0}: the classic test needs 3 runs or more of each condition")]
    Classic(#[from] ministat::MinistatError),
    /// The statistics reject the data.
    #[error(transparent)]
    Stats(#[from] stats::StatsError),
}

impl Error {
    pub(crate) fn not_comparable(baseline: &Outline, study: &Outline, why: String) -> Self {
        Self::NotComparable { baseline: baseline.row.id.0, study: study.row.id.0, why }
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(word) => format!("; did you mean {word}?"),
        None => "; 'netassay explain' lists them".to_owned(),
    }
}
