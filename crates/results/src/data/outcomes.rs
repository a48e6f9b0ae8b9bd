//! Reports of the load engine: sends without copying, refused options, the cost of its clock.

use store::StoredStudy;
use study::Condition;

use crate::words::number::{figure, percent};
use crate::words::table::Table;

/// Sends without copying, and how many the kernel copied; a table, empty without any.
pub(crate) fn zerocopy(stored: &StoredStudy, conditions: &[Condition]) -> String {
    let mut table =
        Table::new(&["condition", "sends", "copied", "share"]).units(&["", "completed", "after all", "%"]);
    let mut any = false;
    for (index, condition) in conditions.iter().enumerate() {
        let sides =
            stored.measurements().filter(|run| run.condition == index).flat_map(|run| run.detail.sides());
        let (completed, copied) = sides.filter_map(|side| side.whole.outcome.zerocopy).fold(
            (0_u64, 0_u64),
            |(completed, copied), sends| {
                (completed.saturating_add(sends.completed), copied.saturating_add(sends.copied))
            },
        );
        if completed == 0 {
            continue;
        }
        any = true;
        let share = percent(copied as f64 * 100.0 / completed as f64);
        table.row(&[&condition.label, &completed.to_string(), &copied.to_string(), &share]);
    }
    if any { format!("\nSends without copying, over all runs:\n{}", table.render()) } else { String::new() }
}

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

/// The cost of reading the clock, as a sentence with its newline; `None` without latency.
pub(crate) fn clock(stored: &StoredStudy) -> String {
    let mut costs: Vec<f64> = stored
        .measurements()
        .flat_map(|run| run.detail.sides())
        .filter_map(|side| side.whole.outcome.latency.as_ref().map(|latency| latency.clock_ns))
        .filter(|cost| cost.is_finite())
        .collect();
    costs.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (costs.first(), costs.last()) else { return String::new() };
    format!(
        "\nReading the clock cost {} ns beside the runs ({} to {}); each latency holds about one reading.\n",
        figure(costs[costs.len() / 2]),
        figure(*least),
        figure(*most)
    )
}
