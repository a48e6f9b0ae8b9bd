//! The reason why a condition has no value of a metric, and the remedy.

use store::{RunStatus, StoredRun, StoredStudy};

use crate::data::turns::not_in_turns;
use crate::words::number::counted;

/// Cause and remedy, without the last full stop.
pub(crate) fn hint(stored: &StoredStudy, condition: usize) -> String {
    let (id, label) = (stored.row.id.0, stored.label(condition));
    let tries: Vec<&StoredRun> =
        stored.runs.iter().filter(|run| !run.warmup && run.condition == condition).collect();
    let with = |status| tries.iter().filter(move |run| run.status == status);
    let valid = with(RunStatus::Ok).count();
    if valid > 0 {
        let is_disturbed = |run: &&&StoredRun| !run.detail.disturbed().is_empty();
        let disturbed = with(RunStatus::Ok).filter(is_disturbed).count();
        let why = if disturbed > 0 {
            format!(
                ": something disturbed {disturbed} of them, which count because of --keep-disturbed, and a disturbed side has no CPU time per unit of work. Stop the cause, and measure again"
            )
        } else {
            not_in_turns(stored, condition).to_owned()
        };
        return format!("{} of {label} did not yield it{why}", counted(valid, "run"));
    }
    let (status, became, remedy) = if with(RunStatus::Invalid).count() > 0 {
        let remedy = format!(
            "Stop the cause and repeat the study with --resume {id}; to count disturbed runs, add --keep-disturbed"
        );
        (RunStatus::Invalid, "was disturbed", remedy)
    } else {
        (RunStatus::Failed, "failed", format!("Correct that and repeat the study with --resume {id}"))
    };
    let Some(last) = with(status).next_back() else {
        return format!("{label} has not been measured yet. Repeat the study with --resume {id}");
    };
    let reason = last.reason.as_deref().unwrap_or("no reason was recorded");
    format!(
        "every try of {label} {became}, {} in all; the last, in boot {}: {reason}. {remedy}. netassay show {id} --runs lists every try",
        with(status).count(),
        last.boot
    )
}
