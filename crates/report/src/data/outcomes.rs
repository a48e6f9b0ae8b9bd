//! What the load engine itself said of its runs: sends without copying, what it could not have, what its clock cost.
//!
//! It is read from the runs' stored details by name: whatever is missing there, as in runs of older versions, is not told.

use serde_json::Value;
use store::{StoredRun, StoredStudy};
use study::Condition;

use crate::words::number::{figure, percent};
use crate::words::table::Table;

/// Both ends' outcomes of a run; null where there is none.
pub(crate) fn outcomes(run: &StoredRun) -> [&Value; 2] {
    ["transmitter", "receiver"].map(|side| &run.detail[side]["whole"]["outcome"])
}

/// How many sends without copying there were, and how many of them the kernel copied after all; a table, empty without any.
pub(crate) fn zerocopy(stored: &StoredStudy, conditions: &[Condition]) -> String {
    let mut table =
        Table::new(&["condition", "sends", "copied", "share"]).under(&["", "completed", "after all", "%"]);
    let mut any = false;
    for (index, condition) in conditions.iter().enumerate() {
        let sum = |word: &str| -> u64 {
            let runs = stored.measurements().filter(|run| run.condition == index);
            runs.flat_map(outcomes).filter_map(|outcome| outcome["zerocopy"][word].as_u64()).sum()
        };
        let (completed, copied) = (sum("completed"), sum("copied"));
        if completed == 0 {
            continue;
        }
        any = true;
        let share = percent(copied as f64 * 100.0 / completed as f64);
        table.row(&[&condition.label, &completed.to_string(), &copied.to_string(), &share]);
    }
    if any {
        format!("\nSends that the kernel was not to copy, over all runs:\n{}", table.render())
    } else {
        String::new()
    }
}

/// What was asked of the kernel and not had, and what was done instead, each once.
pub(crate) fn fallbacks(stored: &StoredStudy, conditions: &[Condition]) -> Vec<String> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for run in stored.measurements() {
        let notes = outcomes(run).into_iter().filter_map(|outcome| outcome["notes"].as_array());
        for note in notes.flatten().filter_map(Value::as_str) {
            match found.iter_mut().find(|(known, _)| known == note) {
                Some((_, members)) if members.contains(&run.condition) => {}
                Some((_, members)) => members.push(run.condition),
                None => found.push((note.to_owned(), vec![run.condition])),
            }
        }
    }
    let label = |index: &usize| conditions.get(*index).map(|condition| condition.label.as_str());
    found
        .into_iter()
        .map(|(note, members)| {
            if members.len() == conditions.len() {
                return note;
            }
            format!("{}: {note}", members.iter().filter_map(label).collect::<Vec<_>>().join(", "))
        })
        .collect()
}

/// What reading the clock cost, as a sentence with its newline; nothing where no latency was measured.
pub(crate) fn clock(stored: &StoredStudy) -> String {
    let mut costs: Vec<f64> = stored
        .measurements()
        .flat_map(outcomes)
        .filter_map(|outcome| outcome["latency"]["clock_ns"].as_f64())
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
