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
    let environments = stored.boots.iter().flat_map(|boot| &boot.environment.notes);
    let fragments = stored.plan.effective.iter().filter_map(|effective| effective.fragments);
    let (kept, last) = kept_disturbed(stored);
    let kept = last.map(|by| {
        let runs = counted(kept, "run");
        format!("{runs} counted though something disturbed them (--keep-disturbed); the last: {by}")
    });
    let resumed = stored.boots.iter().filter(|boot| boot.part > 1).count();
    let resumed = (resumed > 0).then(|| {
        let boots = counted(resumed, "boot");
        format!("{boots} continued on a new testbed; the parts of a boot count as one boot")
    });
    let all = environments.map(ToString::to_string).chain(congestion_control::notes(stored));
    let all = all.chain(ambient(stored)).chain(fragments.map(|one| one.to_string()));
    let all = all.chain(fragments::note(stored)).chain(fallbacks(stored)).chain(kept);
    let mut notes: Vec<String> = Vec::new();
    for note in all.chain(turns::notes(stored)).chain(resumed) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// The number of disturbed runs that count, and the disturbance of the last of them.
pub(crate) fn kept_disturbed(stored: &StoredStudy) -> (usize, Option<&Disturbance>) {
    let kept = || stored.measurements().filter_map(|run| run.detail.disturbed().first());
    (kept().count(), kept().last())
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
