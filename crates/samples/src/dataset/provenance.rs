//! Runs that two files hold, and circumstances in which files differ.

use std::collections::HashMap;

use crate::error::{Fault, SamplesError};
use crate::measurement_file::Input;

/// The most files that a note names for one value.
const FILES: usize = 2;

/// Rejects a file that is given twice for one condition.
pub(super) fn require_once(inputs: &[Input]) -> Result<(), SamplesError> {
    for (index, input) in inputs.iter().enumerate() {
        let is_same = |other: &Input| other.file == input.file && other.condition == input.condition;
        if input.file != "<stdin>" && inputs[..index].iter().any(is_same) {
            let message = format!("{} is given twice for one condition: give each file once", input.file);
            return Err(SamplesError::Question(message));
        }
    }
    Ok(())
}

/// Rejects a run that two files of one condition hold, and notes one that stands in two conditions.
pub(super) fn shared_runs(inputs: &[Input]) -> Result<Vec<String>, SamplesError> {
    let mut seen: HashMap<u64, &Input> = HashMap::new();
    let mut shared: Vec<(&str, &str, u64)> = Vec::new();
    for input in inputs {
        for (run, place) in &input.sheet.found.runs.0 {
            let Some(first) = seen.get(run) else {
                seen.insert(*run, input);
                continue;
            };
            if first.condition.is_some() && first.condition == input.condition {
                let what = format!("a run that {} holds too", first.file);
                let fault = Fault::new(*place, what, "give each run once");
                return Err(fault.in_file(&input.file));
            }
            let files = (first.file.as_str(), input.file.as_str());
            match shared.iter_mut().find(|(one, other, _)| (*one, *other) == files) {
                Some((.., count)) => *count += 1,
                None => shared.push((files.0, files.1, 1)),
            }
        }
    }
    let note = |(one, other, count): &(&str, &str, u64)| {
        format!("{one} and {other} hold the same runs: {count}; they differ in nothing")
    };
    Ok(shared.iter().map(note).collect())
}

/// A value of a circumstance, and the files that have it.
type Value<'a> = (&'a str, Vec<&'a str>);

/// Notes circumstances, such as a CPU or a version, that differ among the runs.
pub(super) fn differences(inputs: &[Input]) -> Vec<String> {
    let mut all: Vec<(&str, Vec<Value<'_>>)> = Vec::new();
    for input in inputs {
        for (name, values) in &input.sheet.found.settings.0 {
            let known = match all.iter().position(|(known, _)| known == name) {
                Some(known) => known,
                None => {
                    all.push((name.as_str(), Vec::new()));
                    all.len() - 1
                }
            };
            for value in values {
                let values = &mut all[known].1;
                match values.iter_mut().find(|(known, _)| known == value) {
                    Some((_, files)) => files.push(input.file.as_str()),
                    None => values.push((value.as_str(), vec![input.file.as_str()])),
                }
            }
        }
    }
    let named = |(value, files): &Value<'_>| {
        let more = files.len().saturating_sub(FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let files = files[..files.len().min(FILES)].join(", ");
        words::sanitised_line(&format!("{value} ({files}{more})")).into_owned()
    };
    let differing = all.iter().filter(|(_, values)| values.len() > 1);
    let note = |(name, values): &(&str, Vec<Value<'_>>)| {
        let values: Vec<String> = values.iter().map(named).collect();
        format!("{name} differs: {}", values.join(", "))
    };
    differing.map(note).collect()
}
