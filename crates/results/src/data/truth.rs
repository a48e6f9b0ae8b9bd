//! The kind of a study's figures: time on a machine, time under emulation, or counts.

use record::Environment;
use store::{Outline, StoredStudy};
use study::Plan;
use words::Accelerated;

use crate::data::exact;

// The text below tables of rates under emulation.
const EMULATED: &str = "measured under emulation: rates compare with each other, not with those of hardware";

/// The kind, as the end of a sentence on a study. Figures of different kinds are not compared.
pub(crate) fn kind(outline: &Outline) -> &'static str {
    match (outline.plan.exact, is_emulated(&outline.environments)) {
        (true, _) => "counts instructions",
        (false, true) => "measures time under emulation",
        (false, false) => "measures time",
    }
}

fn is_emulated<'e>(environments: impl IntoIterator<Item = &'e Environment>) -> bool {
    // One emulated guest makes all times those of an emulation.
    let guests = environments.into_iter().filter_map(|environment| environment.guests.as_ref());
    let mut accelerations = guests.flat_map(|guests| guests.values()).map(|guest| &guest.acceleration);
    accelerations.any(|acceleration| *acceleration != Accelerated::Kvm)
}

/// Without a full stop; `None` for time on the machine itself.
pub(crate) fn note<'e>(
    plan: &Plan,
    environments: impl IntoIterator<Item = &'e Environment>,
) -> Option<&'static str> {
    if plan.exact {
        return Some(exact::truth(plan));
    }
    is_emulated(environments).then_some(EMULATED)
}

pub(crate) fn truth(stored: &StoredStudy) -> Option<&'static str> {
    note(&stored.plan, stored.boots.iter().map(|boot| &boot.environment))
}
