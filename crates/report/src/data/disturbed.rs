//! Disturbed runs, which do not count.

use serde::Serialize;
use store::{RunStatus, StoredStudy};
use study::Condition;

use crate::words::number::counted;

/// The disturbed runs of a study.
#[derive(Debug, Serialize)]
pub(crate) struct Disturbed {
    /// How many runs were disturbed, those included that were repeated well.
    pub(crate) runs: usize,
    /// How many planned runs have no undisturbed try, and so no value.
    pub(crate) left: usize,
    /// Each of them, in the order of measurement.
    each: Vec<One>,
}

/// One disturbed run.
#[derive(Debug, Serialize)]
struct One {
    condition: String,
    boot: u32,
    run: u32,
    reason: String,
}

impl Disturbed {
    pub(crate) fn of(stored: &StoredStudy, conditions: &[Condition]) -> Self {
        let label = |condition: usize| conditions.get(condition).map(|one| one.label.to_string());
        let each: Vec<One> = stored
            .runs
            .iter()
            .filter(|run| run.status == RunStatus::Invalid)
            .map(|run| One {
                condition: label(run.condition).unwrap_or_default(),
                boot: run.boot,
                run: run.repeat,
                reason: run.reason.clone().unwrap_or_default(),
            })
            .collect();
        Self { runs: each.len(), left: stored.left_invalid().len(), each }
    }

    /// Sentences for people, the last without a full stop; none if nothing was disturbed.
    pub(crate) fn sentence(&self) -> Option<String> {
        let last = self.each.last()?;
        let left = match self.left {
            0 => "Each was repeated undisturbed".to_owned(),
            left => format!("{} no undisturbed try, and so no value", planned(left)),
        };
        let do_not = if self.runs == 1 { "does not" } else { "do not" };
        Some(format!(
            "{} {do_not} count. {left}. The last of them ({}, boot {}): {}",
            counted(self.runs, "run"),
            last.condition,
            last.boot,
            last.reason
        ))
    }
}

fn planned(runs: usize) -> String {
    format!("{} {}", counted(runs, "planned run"), if runs == 1 { "has" } else { "have" })
}
