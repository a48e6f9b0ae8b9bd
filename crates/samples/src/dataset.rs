//! Combines files into groups of conditions to compare.

mod conditions;

use std::collections::{BTreeMap, HashMap};

use stats::Observation;

use crate::dataset::conditions::{Group, Numbering};
use crate::error::{Fault, SamplesError};
use crate::measurement_file::MeasurementFile;
use crate::options::{Boots, Options};

/// The groups to compare.
#[derive(Debug)]
pub struct Dataset {
    /// The groups in the order of the files.
    pub groups: Vec<ComparedConditions>,
    /// Notes on the files, for people.
    pub notes: Vec<String>,
}

/// Conditions that are compared with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedConditions {
    /// The benchmark, where there are several.
    pub name: Option<String>,
    /// The metric, if the files name it.
    pub metric: Option<String>,
    /// Its unit, if the files name it.
    pub unit: Option<String>,
    /// The conditions; observations refer to them by index.
    pub labels: Vec<String>,
    /// The kind of each condition's values, such as `received by the server, TCP, 1 stream`.
    pub kinds: Vec<Option<String>>,
    /// The condition to compare with, by index.
    pub baseline: usize,
    /// The names of the boots, by their numbers; `None` if each run counts as a boot.
    pub boots: Option<Vec<String>>,
    /// The runs, by condition, each in the order of its files.
    pub observations: Vec<Observation>,
    /// Notes, for people.
    pub notes: Vec<String>,
}

impl Dataset {
    /// Puts files together.
    ///
    /// A file is a condition, unless it names conditions itself and no other file names the same
    /// ones. If several files do, they are compared condition by condition.
    ///
    /// # Errors
    /// [`SamplesError`] where boots do not match the values, only some conditions have boots, or
    /// nothing is left to compare.
    pub fn new(mut inputs: Vec<MeasurementFile>, options: &Options) -> Result<Dataset, SamplesError> {
        let mut notes = Vec::new();
        for input in &mut inputs {
            input.file = words::sanitised_line(&input.file).into_owned();
            input.condition = input.condition.as_deref().map(|word| words::sanitised_line(word).into_owned());
            let file = &input.file;
            notes.extend(input.found.notes.drain(..).map(|note| format!("{file}: {note}")));
        }
        require_once(&inputs)?;
        notes.extend(shared_runs(&inputs)?);
        notes.extend(differences(&inputs));
        let files: Vec<String> = inputs.iter().map(|input| input.file.clone()).collect();
        let mut numbering = Numbering::new(&mut inputs, options);
        let mut groups = Vec::new();
        let mut alone = Vec::new();
        let found = conditions::group(inputs)?;
        let first = found.first().map(|group| group.conditions[0].label.clone());
        let baseline = options.baseline.clone().or(first);
        for group in found {
            match group.conditions.iter().position(|one| Some(&one.label) == baseline.as_ref()) {
                Some(baseline) if group.conditions.len() > 1 => {
                    groups.push(assemble(group, baseline, &mut numbering, &files, options)?);
                }
                _ => alone.push(group),
            }
        }
        if groups.is_empty() {
            return Err(SamplesError::Question(nothing(&alone, options)));
        }
        if !alone.is_empty() {
            let names = alone.iter().map(Group::title).collect::<Vec<_>>().join(", ");
            notes.push(format!("measured in one condition only, or not in the baseline: {names}"));
        }
        Ok(Dataset { groups, notes })
    }
}

fn assemble(
    group: Group,
    baseline: usize,
    numbering: &mut Numbering,
    files: &[String],
    options: &Options,
) -> Result<ComparedConditions, SamplesError> {
    let has_named_boots =
        group.conditions.iter().flat_map(|one| &one.parts).any(|part| !part.boots.is_empty());
    let knows_boots = conditions::are_known(&group.conditions, files, options)?;
    let mut observations = Vec::new();
    let (mut labels, mut kinds) = (Vec::new(), Vec::new());
    numbering.given.clear();
    for (index, condition) in group.conditions.into_iter().enumerate() {
        numbering.number(index, condition.parts, knows_boots, files, &mut observations)?;
        labels.push(condition.label);
        kinds.push(condition.kind);
    }
    let mut notes = Vec::new();
    if has_named_boots && options.boots != Boots::Named {
        notes.push("--boots replaces the boots that the files name");
    }
    if !knows_boots {
        notes.push(
            "nothing says which runs belong to the same boot, so each counts as a boot of its own. Runs of one boot are not independent: if these come from fewer boots (restarts, batches, machines), the intervals are too narrow and the verdicts too sure. Give the boots with --boots 10,10,10, or a column that names them",
        );
    }
    Ok(ComparedConditions {
        name: group.name,
        metric: group.metric,
        unit: group.unit,
        labels,
        kinds,
        baseline,
        boots: knows_boots.then(|| std::mem::take(&mut numbering.called)),
        observations,
        notes: notes.into_iter().map(str::to_owned).collect(),
    })
}

fn nothing(alone: &[Group], options: &Options) -> String {
    let mut labels: Vec<&str> = Vec::new();
    let mut metrics: BTreeMap<&str, &str> = BTreeMap::new();
    for group in alone {
        for condition in &group.conditions {
            if !labels.contains(&condition.label.as_str()) {
                labels.push(&condition.label);
            }
            if let Some(metric) = &group.metric {
                metrics.entry(metric).or_insert(&condition.label);
            }
        }
    }
    let quoted = labels.iter().map(|label| format!("{label:?}")).collect::<Vec<_>>().join(", ");
    if let Some(word) = options.baseline.as_deref().filter(|word| !labels.contains(word)) {
        return format!("there is no condition {word:?} to compare with; there are {quoted}");
    }
    if labels.len() < 2 {
        return format!("one condition only, {quoted}: give a second file to compare it with");
    }
    if metrics.len() > 1 {
        let mut told: Vec<String> =
            metrics.into_iter().map(|(metric, label)| format!("{label} holds {metric}")).collect();
        told.sort();
        let told = told.join(", ");
        return format!("nothing to compare: {told}; choose with --metric, or give files of the same one");
    }
    format!("nothing to compare: no benchmark was measured in two of {quoted}; give files of the same ones")
}

// The most files that a note names for one value.
const FILES: usize = 2;

fn require_once(inputs: &[MeasurementFile]) -> Result<(), SamplesError> {
    for (index, input) in inputs.iter().enumerate() {
        let is_same =
            |other: &MeasurementFile| other.file == input.file && other.condition == input.condition;
        if input.file != "<stdin>" && inputs[..index].iter().any(is_same) {
            let message = format!("{} is given twice for one condition: give each file once", input.file);
            return Err(SamplesError::Question(message));
        }
    }
    Ok(())
}

/// Rejects a run that two files of one condition hold, and notes one that stands in two conditions.
fn shared_runs(inputs: &[MeasurementFile]) -> Result<Vec<String>, SamplesError> {
    let mut seen: HashMap<u64, &MeasurementFile> = HashMap::new();
    let mut shared: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for input in inputs {
        for (run, place) in &input.found.runs {
            let Some(first) = seen.get(run) else {
                seen.insert(*run, input);
                continue;
            };
            if first.condition.is_some() && first.condition == input.condition {
                let what = format!("a run that {} holds too", first.file);
                return Err(Fault::new(*place, what, "give each run once").in_file(&input.file));
            }
            *shared.entry((first.file.as_str(), input.file.as_str())).or_default() += 1;
        }
    }
    let note = |((one, other), count): ((&str, &str), u64)| {
        format!("{one} and {other} hold the same runs: {count}; they differ in nothing")
    };
    Ok(shared.into_iter().map(note).collect())
}

fn differences(inputs: &[MeasurementFile]) -> Vec<String> {
    // The files that have each value of a circumstance.
    let mut all: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for input in inputs {
        for (name, values) in &input.found.settings {
            for value in values {
                all.entry(name).or_default().entry(value).or_default().push(&input.file);
            }
        }
    }
    let named = |(value, files): (&str, Vec<&str>)| {
        let more = files.len().saturating_sub(FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let files = files[..files.len().min(FILES)].join(", ");
        words::sanitised_line(&format!("{value} ({files}{more})")).into_owned()
    };
    let differing = all.into_iter().filter(|(_, values)| values.len() > 1);
    let note = |(name, values): (&str, BTreeMap<&str, Vec<&str>>)| {
        let values: Vec<String> = values.into_iter().map(named).collect();
        format!("{name} differs: {}", values.join(", "))
    };
    differing.map(note).collect()
}
