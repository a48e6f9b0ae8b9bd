//! The early end of a study: its looks, and whether its comparisons are decided.

use stats::Look;
use stats::sequential::{Schedule, SpendingBounds};
use store::StoredStudy;
use study::{Protocol, Stop};

use crate::data::error::Error;
use crate::data::stored::subjects;
use crate::data::subject::answer;
use crate::data::target::{ComparisonRequest, own_targets};

/// Whether every comparison of a study that may stop early is decided: proven to differ, or proven
/// to differ by less than the study must detect. A comparison that cannot be judged is not decided.
pub fn is_decided(stored: &StoredStudy) -> bool {
    judged(stored).unwrap_or(false)
}

fn judged(stored: &StoredStudy) -> Result<bool, Error> {
    let targets = own_targets(&stored.plan);
    let mut subjects = subjects(stored, &targets, &ComparisonRequest::default())?;
    let analyses = answer(&mut subjects)?;
    // A condition without any record is in no analysis.
    let mut both = targets.iter().zip(&analyses);
    let is_whole = both.all(|(target, analysis)| analysis.comparisons.len() == target.conditions.len());
    Ok(!targets.is_empty()
        && is_whole
        && analyses.iter().flat_map(|analysis| &analysis.comparisons).all(|one| one.verdict.is_decided()))
}

pub(crate) fn stopping(stored: &StoredStudy) -> Option<String> {
    let Protocol { stop, boots: most, .. } = stored.plan.asked.protocol;
    let stop = stop?;
    let over = boots_over(stored);
    let taken = stop.after(most).filter(|after| *after <= over).count();
    let not = if is_decided(stored) { "" } else { "not " };
    Some(format!(
        "{taken} of {}, {over} of at most {most} boots; {not}every comparison is decided to within {}",
        stop.looks, stop.detect
    ))
}

/// `None` if it always takes all boots.
pub(crate) fn look_of(stored: &StoredStudy) -> Option<(Stop, Look)> {
    let Protocol { stop, boots, .. } = stored.plan.asked.protocol;
    let stop = stop?;
    let over = boots_over(stored);
    let schedule = schedule(stop, boots);
    // Between looks, and inside a boot, the earlier look counts, whose bound is the stricter;
    // before the first, the first.
    let taken = schedule.after().iter().take_while(|after| **after <= over).count().max(1);
    let number = u32::try_from(taken).unwrap_or(stop.looks);
    Some((stop, Look { number, schedule }))
}

pub(crate) fn boots_over(stored: &StoredStudy) -> u32 {
    // An open or lost boot has no look.
    let ended = stored.boots.iter().filter(|boot| boot.ended_unix_ms.is_some());
    ended.map(|boot| boot.number).max().unwrap_or(0)
}

pub(crate) fn schedule(stop: Stop, boots: u32) -> Schedule {
    let bounds = match stop.bounds {
        study::Bounds::ObrienFleming => SpendingBounds::ObrienFleming,
        study::Bounds::Pocock => SpendingBounds::Pocock,
    };
    Schedule { bounds, looks: stop.looks, boots }
}
