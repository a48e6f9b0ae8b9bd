//! Errors of a report.

use store::Outline;
use thiserror::Error as ThisError;

/// A reason why a report cannot be made.
#[derive(Debug, ThisError)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum Error {
    #[error("study {study} holds no recorded run with {metric}: {hint}")]
    NothingRecorded { study: i64, metric: String, hint: String },
    #[error("there is no metric {word:?}; {}", suggestion(.nearest))]
    UnknownMetric { word: String, nearest: Option<&'static str> },
    #[error("study {study} has no condition {word:?}; it has {known}")]
    UnknownCondition { study: i64, word: String, known: String },
    #[error(
        "study {study} ({name}) is no A/A study: it must have one condition under two labels of the factor `twin` \
         (`netassay run STUDY --aa` measures one)"
    )]
    NoTwins { study: i64, name: String },
    #[error("the study {study:?} compares nothing in that metric, so there is nothing to plan for")]
    NothingToSize { study: String },
    #[error("study {study} ({name}) holds no traces of two conditions: {why}")]
    NothingTraced { study: i64, name: String, why: String },
    #[error(
        "campaign {campaign}: pair {pair} (study {study}) was measured by another plan than pair {first}: {why}; \
         `netassay db remove {study}` leaves it out"
    )]
    OtherPlans { campaign: String, pair: String, study: i64, first: String, why: String },
    #[error(
        "the campaigns {campaigns} have no pair in common that all of them measured: pairs are matched by name, \
         as the file of hosts has it"
    )]
    NoCommonPairs { campaigns: String },
    #[error(
        "--by {word}: no pair of this campaign has this label, and of none anything of that name is recorded; {}",
        group_suggestion(.nearest)
    )]
    NoGroups { word: String, nearest: Option<String> },
    #[error("study {study} cannot be compared with study {baseline}: {why}")]
    NotComparable { baseline: i64, study: i64, why: String },
    #[error("study {study} cannot be judged so: {why}")]
    NothingToJudge { study: i64, why: String },
    #[error("ministat knows the confidences 80, 90, 95, 98, 99 and 99.5 %, not {percent} %")]
    UnknownLevel { percent: f64 },
    #[error("{0}: the classic test needs 3 runs or more of each condition")]
    Classic(#[from] samples::ministat::MinistatError),
    #[error(transparent)]
    Stats(#[from] stats::StatsError),
}

impl Error {
    pub(crate) fn not_comparable(baseline: &Outline, study: &Outline, why: String) -> Self {
        Self::NotComparable { baseline: baseline.row.id.0, study: study.row.id.0, why }
    }
}

fn group_suggestion(nearest: &Option<String>) -> String {
    let sources = || {
        "the file of hosts names labels, `netassay show NUMBER --environment` recorded settings".to_owned()
    };
    nearest.as_ref().map_or_else(sources, |word| format!("did you mean --by {word:?}?"))
}

fn suggestion(nearest: &Option<&'static str>) -> String {
    let lists = || "`netassay help --terms` lists them".to_owned();
    nearest.map_or_else(lists, |word| format!("did you mean {word}?"))
}
