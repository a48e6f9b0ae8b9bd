//! Whether a stored study that may stop early has its answer.

use store::StoredStudy;

use crate::data::error::Error;
use crate::data::looks::boots_over;
use crate::data::stored::subjects;
use crate::data::subject::answer;
use crate::data::target::{ComparisonRequest, own_targets};
use study::Protocol;

/// Whether every comparison of a study that may stop early is decided: proven to differ, or proven
/// to differ by less than the study must detect. A comparison that cannot be judged is not decided.
#[must_use]
pub fn is_decided(stored: &StoredStudy) -> bool {
    judged(stored).unwrap_or(false)
}

fn judged(stored: &StoredStudy) -> Result<bool, Error> {
    let targets = own_targets(&stored.plan);
    let mut subjects = subjects(stored, &targets, &ComparisonRequest::default())?;
    let analyses = answer(&mut subjects)?;
    // A condition without any record is in no analysis.
    let is_whole = targets
        .iter()
        .zip(&analyses)
        .all(|(target, analysis)| analysis.comparisons.len() == target.conditions.len());
    Ok(!targets.is_empty()
        && is_whole
        && analyses.iter().flat_map(|analysis| &analysis.comparisons).all(|one| one.verdict.is_decided()))
}

/// The state of a study that may stop early, in a sentence without a full stop.
pub(crate) fn stopping(stored: &StoredStudy) -> Option<String> {
    let Protocol { stop, boots: most, .. } = stored.plan.asked.protocol;
    let stop = stop?;
    let over = boots_over(stored);
    let taken = stop.after(most).filter(|after| *after <= over).count();
    let so = if is_decided(stored) {
        format!("every comparison is decided to within {}", stop.detect)
    } else {
        format!("not every comparison is decided to within {}", stop.detect)
    };
    Some(format!("{taken} of {}, {over} of at most {most} boots; {so}", stop.looks))
}
