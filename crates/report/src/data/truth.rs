//! Which kind of truth a study's figures are: time on a machine, time under emulation, or counts.

use store::StoredStudy;

use crate::data::exact;

/// What tables of rates under emulation say.
const EMULATED: &str = "measured under emulation: rates compare with each other, not with those of hardware";

/// What every table of the study must say, without a full stop; none for time on the machine
/// itself.
pub(crate) fn truth(stored: &StoredStudy) -> Option<&'static str> {
    if stored.plan.exact {
        return Some(exact::truth(&stored.plan));
    }
    let guests = stored.boots.iter().filter_map(|boot| boot.environment.guests.as_ref());
    guests.flat_map(|guests| guests.values()).any(|guest| guest.emulated).then_some(EMULATED)
}

/// The line below a table; empty without anything to say.
pub(crate) fn line(truth: Option<&str>) -> String {
    truth.map_or(String::new(), |truth| format!("({truth})\n"))
}
