//! Notes for the reader beside the figures.

use record::Disturbance;
use store::StoredStudy;

use crate::data::ambient::ambient;
use crate::data::congestion_control;
use crate::data::fragments;
use crate::data::turns;
use crate::words::number::counted;

/// The limitations of the testbeds, and the properties of the machine that affect results, each
/// once.
pub(crate) fn notes(stored: &StoredStudy) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for boot in &stored.boots {
        for note in &boot.environment.notes {
            push(&mut notes, note.to_string());
        }
    }
    for note in congestion_control::notes(stored).into_iter().chain(ambient(stored)) {
        push(&mut notes, note);
    }
    for fragments in stored.plan.effective.iter().filter_map(|effective| effective.fragments) {
        push(&mut notes, fragments.to_string());
    }
    if let Some(note) = fragments::note(stored) {
        push(&mut notes, note);
    }
    for note in fallbacks(stored) {
        push(&mut notes, note);
    }
    let (kept, last) = kept_disturbed(stored);
    if let Some(by) = last {
        let runs = counted(kept, "run");
        push(
            &mut notes,
            format!("{runs} counted though something disturbed them (--keep-disturbed); the last: {by}"),
        );
    }
    for note in turns::notes(stored) {
        push(&mut notes, note);
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

/// The number of disturbed runs that count, and the disturbance of the last of them.
pub(crate) fn kept_disturbed(stored: &StoredStudy) -> (usize, Option<&Disturbance>) {
    let kept = || stored.measurements().filter_map(|run| run.detail.disturbed().first());
    (kept().count(), kept().last())
}

fn push(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// The options that the kernel refused, with the substitute, each once.
fn fallbacks(stored: &StoredStudy) -> Vec<String> {
    let conditions = &stored.plan.conditions;
    let mut found: Vec<(&_, Vec<usize>)> = Vec::new();
    for run in stored.measurements() {
        for note in run.detail.sides().flat_map(|side| &side.whole.outcome.notes) {
            match found.iter_mut().find(|(known, _)| *known == note) {
                Some((_, members)) if members.contains(&run.condition) => {}
                Some((_, members)) => members.push(run.condition),
                None => found.push((note, vec![run.condition])),
            }
        }
    }
    let label = |index: &usize| conditions.get(*index).map(|condition| condition.label.as_str());
    found
        .into_iter()
        .map(|(note, members)| {
            if members.len() == conditions.len() {
                return note.to_string();
            }
            format!("{}: {note}", members.iter().filter_map(label).collect::<Vec<_>>().join(", "))
        })
        .collect()
}
