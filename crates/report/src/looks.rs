//! A stored study that may stop early: which look its data stand at, and whether they decide it.

use stats::Look;
use stats::sequential::{Bounds, Schedule};
use store::StoredStudy;
use study::{Protocol, Stop};

use crate::error::Error;
use crate::metric::{asked_of, plan_of};
use crate::stored::subjects;
use crate::subject::answer;
use crate::target::{ComparisonRequest, own_targets};
use crate::view::PlanView;

/// Whether every comparison of a study that may stop early is decided: proven to differ, or proven to differ by less than
/// the study is to detect. What cannot be judged is not decided.
#[must_use]
pub fn is_decided(stored: &StoredStudy) -> bool {
    judged(stored).unwrap_or(false)
}

fn judged(stored: &StoredStudy) -> Result<bool, Error> {
    let plan = plan_of(stored)?;
    let targets = own_targets(&plan);
    let mut subjects = subjects(stored, &plan, &targets, &ComparisonRequest::default())?;
    let analyses = answer(&mut subjects)?;
    // A condition of which nothing is recorded yet is in no analysis.
    let is_whole = targets
        .iter()
        .zip(&analyses)
        .all(|(target, analysis)| analysis.comparisons.len() == target.conditions.len());
    Ok(!targets.is_empty()
        && is_whole
        && analyses.iter().flat_map(|analysis| &analysis.comparisons).all(|one| one.verdict.is_decided()))
}

/// The look that a stored study's data stand at, with what the study says of stopping; none if it takes all its boots
/// whatever they show.
///
/// Between two looks, and inside a boot (a study that was interrupted), the earlier one counts, whose bound is the stricter; before the first,
/// the first.
///
/// # Errors
/// [`Error::Plan`] when what the study asked cannot be read.
pub(crate) fn look_of(stored: &StoredStudy, plan: &PlanView) -> Result<Option<(Stop, Look)>, Error> {
    let Protocol { stop, boots, .. } = asked_of(stored, plan)?.protocol;
    let Some(stop) = stop else { return Ok(None) };
    let over = boots_over(stored);
    let schedule = schedule(stop, boots);
    let taken = schedule.after().iter().take_while(|after| **after <= over).count().max(1);
    let number = u32::try_from(taken).unwrap_or(stop.looks);
    Ok(Some((stop, Look { number, schedule })))
}

/// The last boot that ended in order. One under way, or given up, leads to no look.
fn boots_over(stored: &StoredStudy) -> u32 {
    let ended = stored.boots.iter().filter(|boot| boot.ended_unix_ms.is_some());
    ended.map(|boot| boot.number).max().unwrap_or(0)
}

/// Where a study that may stop early stands, in a sentence without a full stop.
///
/// # Errors
/// [`Error::Plan`] when what the study asked cannot be read.
pub(crate) fn stopping(stored: &StoredStudy, plan: &PlanView) -> Result<Option<String>, Error> {
    let Protocol { stop, boots: most, .. } = asked_of(stored, plan)?.protocol;
    let Some(stop) = stop else { return Ok(None) };
    let over = boots_over(stored);
    let taken = stop.after(most).filter(|after| *after <= over).count();
    let so = if is_decided(stored) {
        format!("every comparison is decided to within {}", stop.detect)
    } else {
        format!("not every comparison is decided to within {}", stop.detect)
    };
    Ok(Some(format!("{taken} of {}, {over} of at most {most} boots; {so}", stop.looks)))
}

/// The looks that a study of at most so many boots has planned.
pub(crate) fn schedule(stop: Stop, boots: u32) -> Schedule {
    Schedule { bounds: bounds(stop.bounds), looks: stop.looks, boots }
}

fn bounds(word: study::Bounds) -> Bounds {
    match word {
        study::Bounds::ObrienFleming => Bounds::ObrienFleming,
        study::Bounds::Pocock => Bounds::Pocock,
    }
}
