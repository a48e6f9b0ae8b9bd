//! A stored study that may stop early: which look its data stand at.

use stats::Look;
use stats::sequential::{Bounds, Schedule};
use store::StoredStudy;
use study::{Protocol, Stop};

/// The look that a stored study's data stand at, with what the study says of stopping; none if it
/// takes all its boots whatever they show.
///
/// Between two looks, and inside a boot (a study that was interrupted), the earlier one counts,
/// whose bound is the stricter; before the first, the first.
pub(crate) fn look_of(stored: &StoredStudy) -> Option<(Stop, Look)> {
    let Protocol { stop, boots, .. } = stored.plan.asked.protocol;
    let stop = stop?;
    let over = boots_over(stored);
    let schedule = schedule(stop, boots);
    let taken = schedule.after().iter().take_while(|after| **after <= over).count().max(1);
    let number = u32::try_from(taken).unwrap_or(stop.looks);
    Some((stop, Look { number, schedule }))
}

/// The last boot that ended in order. One under way, or given up, leads to no look.
pub(crate) fn boots_over(stored: &StoredStudy) -> u32 {
    let ended = stored.boots.iter().filter(|boot| boot.ended_unix_ms.is_some());
    ended.map(|boot| boot.number).max().unwrap_or(0)
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
