//! Why a report cannot be made.

use thiserror::Error as ThisError;

/// Why a report cannot be made.
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
    /// There is no such metric.
    #[error("there is no metric {word:?}{}", suggestion(.nearest))]
    UnknownMetric {
        /// The word.
        word: String,
        /// The word that it may have been.
        nearest: Option<String>,
    },
    /// There is no such condition.
    #[error("study {study} has no condition {word:?}; it has {known}")]
    UnknownCondition {
        /// The study's number.
        study: i64,
        /// The word.
        word: String,
        /// The conditions that it has.
        known: String,
    },
    /// It is no A/A study.
    #[error(
        "study {study} ({name}) is no A/A study: it must have one condition under two labels of the factor `twin` \
         (`netassay aa` measures one)"
    )]
    NoTwins {
        /// The study's number.
        study: i64,
        /// Its name.
        name: String,
    },
    /// A study compares nothing, or not in the metric asked for.
    #[error("the study {study:?} compares nothing in that metric, so there is nothing to plan for")]
    NothingToSize {
        /// The study's name.
        study: String,
    },
    /// ministat has no table for this confidence.
    #[error("ministat knows the confidences 80, 90, 95, 98, 99 and 99.5 %, not {percent} %")]
    UnknownLevel {
        /// The confidence in percent.
        percent: f64,
    },
    /// The classic test refuses.
    #[error("{0}: the classic test takes 3 runs or more of each condition")]
    Classic(#[from] ministat::MinistatError),
    /// The statistics refuse.
    #[error(transparent)]
    Stats(#[from] stats::StatsError),
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |word| format!("; did you mean {word}?"))
}
