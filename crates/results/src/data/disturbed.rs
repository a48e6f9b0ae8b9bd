//! Disturbed runs, which do not count.

use serde::Serialize;
use store::{RunStatus, StoredRun, StoredStudy, StudyRow};

use crate::words::number::counted;

pub(crate) fn kept_in(row: &StudyRow, disturbed: usize) -> Option<String> {
    // Runs that --keep-disturbed let count are recorded like all others.
    let (study, all) = (row.id, row.recorded_runs as usize);
    (disturbed > 0).then(|| {
        format!(
            "{disturbed} of the {all} runs of study {study} count though something disturbed them (--keep-disturbed), which may be the cause of a difference: `netassay show {study}` names it"
        )
    })
}

/// The reason why a run does not count: of a disturbed one each kind of cause once, since a
/// sentence has no room for all.
pub(crate) fn reason_in_brief(run: &StoredRun) -> Option<String> {
    let brief = record::in_brief(run.detail.disturbed());
    if brief.is_empty() { run.reason.clone() } else { Some(brief) }
}

/// The disturbed runs of a study.
#[derive(Debug, Serialize)]
pub struct DisturbedRuns {
    /// The number of disturbed runs, with those whose repeat was undisturbed.
    pub runs: usize,
    /// The number of planned runs that have no undisturbed try, and so no value.
    pub left: usize,
    each: Vec<DisturbedRun>,
    #[serde(skip)]
    last: String,
}

#[derive(Debug, Serialize)]
struct DisturbedRun {
    condition: String,
    boot: u32,
    run: u32,
    reason: String,
}

impl DisturbedRuns {
    pub(crate) fn from_stored(stored: &StoredStudy) -> Self {
        let disturbed = || stored.runs.iter().filter(|run| run.status == RunStatus::Invalid);
        let last = disturbed().next_back().and_then(reason_in_brief).unwrap_or_default();
        let each: Vec<DisturbedRun> = disturbed()
            .map(|run| DisturbedRun {
                condition: stored.label(run.condition),
                boot: run.boot,
                run: run.repeat,
                reason: run.reason.clone().unwrap_or_default(),
            })
            .collect();
        Self { runs: each.len(), left: stored.left_invalid().len(), each, last }
    }

    /// Sentences for people, the last without a full stop; none if nothing was disturbed.
    pub fn sentence(&self) -> Option<String> {
        let last = self.each.last()?;
        let left = match self.left {
            0 => "Each was repeated undisturbed".to_owned(),
            left => {
                let (runs, have) = (counted(left, "planned run"), if left == 1 { "has" } else { "have" });
                format!("{runs} {have} no undisturbed try, and so no value")
            }
        };
        let do_not = if self.runs == 1 { "does not" } else { "do not" };
        Some(format!(
            "{} {do_not} count. {left}. The last of them ({}, boot {}): {}",
            counted(self.runs, "run"),
            last.condition,
            last.boot,
            self.last
        ))
    }
}
