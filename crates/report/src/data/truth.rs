//! Which kind of truth a study's figures are: time on a machine, time under emulation, or counts.

use serde_json::Value;
use store::StoredStudy;

use crate::data::exact;
use study::PlanDocument;

/// What tables of rates under emulation say.
const EMULATED: &str = "measured under emulation: rates compare with each other, not with those of hardware";

/// What every table of the study must say, without a full stop; none for time on the machine itself.
pub(crate) fn truth(stored: &StoredStudy, plan: &PlanDocument) -> Option<&'static str> {
    if plan.plan.exact {
        return Some(exact::truth(&plan.plan));
    }
    let is_emulated = |guest: &Value| {
        // Environments stored before they held it have only words.
        let said = || guest["acceleration"].as_str().is_some_and(|words| words != "KVM");
        guest["emulated"].as_bool().unwrap_or_else(said)
    };
    let guests = stored.boots.iter().filter_map(|boot| boot.environment["guests"].as_object());
    guests.flat_map(serde_json::Map::values).any(is_emulated).then_some(EMULATED)
}

/// The line below a table; empty without anything to say.
pub(crate) fn line(truth: Option<&str>) -> String {
    truth.map_or(String::new(), |truth| format!("({truth})\n"))
}
