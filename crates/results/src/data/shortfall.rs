//! Planned runs that a study has not recorded.

use std::fmt;

use store::{StudyRow, StudyStatus};
use study::Plan;

use crate::words::number::counted;

/// A study that has fewer runs than it planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shortfall {
    study: i64,
    status: StudyStatus,
    recorded: usize,
    planned: usize,
}

impl Shortfall {
    /// The missing runs of a study; `None` if every planned run is recorded. A study that ended
    /// early by its rule planned only the boots that it began.
    pub(crate) fn from_row(row: &StudyRow, plan: &Plan) -> Option<Self> {
        let protocol = &plan.asked.protocol;
        let may_be_less = protocol.stop.is_some() && row.status == StudyStatus::Complete;
        let last = if may_be_less { row.boots } else { u32::MAX };
        let planned = study::schedule(&plan.states_of_conditions(), protocol);
        let planned = planned.iter().flatten().filter(|run| !run.warmup && run.boot <= last).count();
        let recorded = row.recorded_runs as usize;
        let (study, status) = (row.id.0, row.status);
        (recorded < planned).then_some(Self { study, status, recorded, planned })
    }
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

/// A sentence without a full stop.
impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { study, status, recorded, planned } = self;
        let status = stands(*status);
        write!(f, "study {study} {status}: it has {recorded} of {}", counted(*planned, "planned run"))
    }
}

/// The status of a study after its name: `is interrupted`, `failed`.
pub(crate) fn stands(status: StudyStatus) -> String {
    match status {
        StudyStatus::Failed => status.to_string(),
        _ => format!("is {status}"),
    }
}
