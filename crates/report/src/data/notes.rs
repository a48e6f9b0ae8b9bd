//! What a reader must know beside the figures.

use store::StoredStudy;

use crate::data::ambient::ambient;
use crate::data::congestion_control;
use crate::data::outcomes::fallbacks;
use crate::words::number::counted;
use study::PlanDocument;

/// What the testbeds could not give, and what of the machine shapes the results, each once.
pub(crate) fn notes(stored: &StoredStudy, plan: &PlanDocument) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for boot in &stored.boots {
        for note in &boot.environment.notes {
            push(&mut notes, note.clone());
        }
    }
    for note in congestion_control::notes(stored, plan).into_iter().chain(ambient(stored)) {
        push(&mut notes, note);
    }
    for note in plan.effective.iter().flat_map(|effective| &effective.notes) {
        push(&mut notes, note.clone());
    }
    for note in fallbacks(stored, &plan.plan.conditions) {
        push(&mut notes, note);
    }
    let kept: Vec<&String> = stored.measurements().filter_map(|run| run.detail.disturbed().first()).collect();
    if let Some(by) = kept.last() {
        let runs = counted(kept.len(), "run");
        push(
            &mut notes,
            format!("{runs} counted though something disturbed them (--keep-disturbed); the last: {by}"),
        );
    }
    let resumed = stored.boots.iter().filter(|boot| boot.part > 1).count();
    if resumed > 0 {
        let boots = counted(resumed, "boot");
        push(
            &mut notes,
            format!("{boots} continued on a new testbed; the parts of a boot count as one boot"),
        );
    }
    notes
}

fn push(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}
