//! The look of a stored study that may stop early.

use stats::Look;
use stats::sequential::{Bounds, Schedule};
use store::StoredStudy;
use study::{Protocol, Stop};

/// The look that a stored study has reached, and its stopping rule; `None` if it always takes all
/// its boots. Between two looks, and inside a boot (of an interrupted study), it is the earlier
/// one, whose bound is the stricter; before the first, the first.
pub(crate) fn look_of(stored: &StoredStudy) -> Option<(Stop, Look)> {
    let Protocol { stop, boots, .. } = stored.plan.asked.protocol;
    let stop = stop?;
    let over = boots_over(stored);
    let schedule = schedule(stop, boots);
    let taken = schedule.after().iter().take_while(|after| **after <= over).count().max(1);
    let number = u32::try_from(taken).unwrap_or(stop.looks);
    Some((stop, Look { number, schedule }))
}

/// The last boot that ended in order. An open or lost boot has no look.
pub(crate) fn boots_over(stored: &StoredStudy) -> u32 {
    let ended = stored.boots.iter().filter(|boot| boot.ended_unix_ms.is_some());
    ended.map(|boot| boot.number).max().unwrap_or(0)
}

/// The planned looks of a study of at most this number of boots.
pub(crate) fn schedule(stop: Stop, boots: u32) -> Schedule {
    Schedule { bounds: bounds(stop.bounds), looks: stop.looks, boots }
}

fn bounds(word: study::Bounds) -> Bounds {
    match word {
        study::Bounds::ObrienFleming => Bounds::ObrienFleming,
        study::Bounds::Pocock => Bounds::Pocock,
    }
}
