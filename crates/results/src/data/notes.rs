//! Notes for the reader beside the figures.

use record::Disturbance;
use store::StoredStudy;

use crate::data::ambient::ambient;
use crate::data::congestion_control;
use crate::data::fragments;
use crate::data::turns;
use crate::words::lists::{distinct, grouped};
use crate::words::number::counted;
use crate::words::phrases::{first_of, of_some};

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
    let unknown: Vec<&String> = stored.unknown_metrics.iter().collect();
    let unknown = (!unknown.is_empty()).then(|| {
        format!(
            "another version stored metrics that this one does not know and leaves out: {}",
            first_of(&unknown, 3)
        )
    });
    let all = all.chain(fragments::note(stored)).chain(fallbacks(stored)).chain(kept).chain(unknown);
    distinct(all.chain(turns::notes(stored)).chain(resumed))
}

pub(crate) fn kept_disturbed(stored: &StoredStudy) -> (usize, Option<&Disturbance>) {
    let kept = || stored.measurements().filter_map(|run| run.detail.disturbed().first());
    (kept().count(), kept().last())
}

fn fallbacks(stored: &StoredStudy) -> Vec<String> {
    let conditions = stored.plan.conditions.len();
    let notes = stored.measurements().flat_map(|run| {
        let notes = run.detail.sides().flat_map(|side| &side.whole.outcome.notes);
        notes.map(move |note| (note, run.condition))
    });
    grouped(distinct(notes))
        .into_iter()
        .map(|(note, members)| {
            let of = of_some(members.iter().map(|index| stored.label(*index)), conditions);
            format!("{of}{note}")
        })
        .collect()
}
