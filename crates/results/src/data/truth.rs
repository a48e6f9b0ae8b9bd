//! The kind of a study's figures: time on a machine, time under emulation, or counts.

use record::Environment;
use store::StoredStudy;
use study::Plan;
use words::Accelerated;

use crate::data::exact;

// The text below tables of rates under emulation.
const EMULATED: &str = "measured under emulation: rates compare with each other, not with those of hardware";

/// A kind of truth. Figures of different kinds are not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TruthKind {
    Counted,
    Emulated,
    Timed,
}

impl TruthKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Counted => "counts instructions",
            Self::Emulated => "measures time under emulation",
            Self::Timed => "measures time",
        }
    }
}

pub(crate) fn kind<'e>(plan: &Plan, environments: impl IntoIterator<Item = &'e Environment>) -> TruthKind {
    if plan.exact {
        return TruthKind::Counted;
    }
    // One emulated guest makes all times those of an emulation.
    let guests = environments.into_iter().filter_map(|environment| environment.guests.as_ref());
    let mut accelerations = guests.flat_map(|guests| guests.values()).map(|guest| &guest.acceleration);
    let is_emulated = accelerations.any(|acceleration| *acceleration != Accelerated::Kvm);
    if is_emulated { TruthKind::Emulated } else { TruthKind::Timed }
}

/// Without a full stop; `None` for time on the machine itself.
pub(crate) fn note<'e>(
    plan: &Plan,
    environments: impl IntoIterator<Item = &'e Environment>,
) -> Option<&'static str> {
    match kind(plan, environments) {
        TruthKind::Counted => Some(exact::truth(plan)),
        TruthKind::Emulated => Some(EMULATED),
        TruthKind::Timed => None,
    }
}

pub(crate) fn truth(stored: &StoredStudy) -> Option<&'static str> {
    note(&stored.plan, stored.boots.iter().map(|boot| &boot.environment))
}
