//! Options that the load engine requested and the kernel refused.

use store::StoredStudy;
use study::Condition;

/// The options that the kernel refused, with the substitute, each once.
pub(crate) fn fallbacks(stored: &StoredStudy, conditions: &[Condition]) -> Vec<String> {
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
