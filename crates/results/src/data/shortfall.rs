//! Planned runs that a study has not recorded.

use store::{StudyRow, StudyStatus};
use study::Plan;

use crate::words::number::counted;

/// The missing runs of a study, in a sentence without a full stop; `None` if every planned run is
/// recorded. A study that ended early by its rule planned only the boots that it began.
pub(crate) fn shortfall(row: &StudyRow, plan: &Plan) -> Option<String> {
    let protocol = &plan.asked.protocol;
    let may_be_less = protocol.stop.is_some() && row.status == StudyStatus::Complete;
    let last = if may_be_less { row.boots } else { u32::MAX };
    let planned = study::schedule(&plan.states_of_conditions(), protocol);
    let planned = planned.iter().flatten().filter(|run| !run.warmup && run.boot <= last).count();
    let (study, status, recorded) = (row.id, stands(row.status), row.recorded_runs as usize);
    (recorded < planned)
        .then(|| format!("study {study} {status}: it has {recorded} of {}", counted(planned, "planned run")))
}

/// A note for a study that may stop early and is compared with another, without a full stop.
pub(crate) fn may_have_stopped(row: &StudyRow, plan: &Plan) -> Option<String> {
    plan.asked.protocol.stop.map(|_| {
        format!(
            "study {} may have stopped at a look at its own comparisons: a difference that made it stop is likelier too large than too small",
            row.id
        )
    })
}

/// The status of a study after its name: `is interrupted`, `failed`.
pub(crate) fn stands(status: StudyStatus) -> String {
    match status {
        StudyStatus::Failed => status.to_string(),
        _ => format!("is {status}"),
    }
}
