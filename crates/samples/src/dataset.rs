//! Combines files into groups of conditions to compare.

mod boots;
mod conditions;
mod provenance;

use std::collections::HashMap;

use stats::{Design, Observation};

use crate::error::SamplesError;
use crate::measurement_file::Input;
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
    /// The kind of each condition's values, where a file says it, such as `received by the server,
    /// TCP, forward, 1 stream`.
    pub kinds: Vec<Option<String>>,
    /// The condition to compare with, by index.
    pub baseline: usize,
    /// The names of the boots, by their numbers; `None` if they are unknown and each run counts as
    /// a boot.
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
    /// ones. If several files do, they are compared condition by condition; benchmarks are always
    /// compared separately.
    ///
    /// # Errors
    /// [`SamplesError`] where boots do not match the values, only some conditions have boots, or
    /// nothing is left to compare.
    pub fn new(mut inputs: Vec<Input>, options: &Options) -> Result<Dataset, SamplesError> {
        let mut notes = Vec::new();
        for input in &mut inputs {
            input.file = words::sanitised_line(&input.file).into_owned();
            input.condition = input.condition.as_deref().map(|word| words::sanitised_line(word).into_owned());
            let file = &input.file;
            notes.extend(input.sheet.found.notes.drain(..).map(|note| format!("{file}: {note}")));
        }
        provenance::require_once(&inputs)?;
        notes.extend(provenance::shared_runs(&inputs)?);
        notes.extend(provenance::differences(&inputs));
        let files: Vec<String> = inputs.iter().map(|input| input.file.clone()).collect();
        let mut numbering = boots::Numbering::new(&mut inputs, options);
        let proto = conditions::group(inputs)?;
        let mut groups = Vec::new();
        let mut alone = Vec::new();
        for group in proto {
            let baseline = match &options.baseline {
                None => group.conditions.iter().position(|one| one.label == group.first),
                Some(word) => group.conditions.iter().position(|one| one.label == *word),
            };
            match baseline {
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
            let names: Vec<String> = alone.iter().map(conditions::Proto::title).collect();
            notes.push(format!(
                "measured in one condition only, or not in the baseline: {}{}",
                names.join(", "),
                reason_for_package(&alone).map(|why| format!(" ({why})")).unwrap_or_default()
            ));
        }
        Ok(Dataset { groups, notes })
    }
}

fn assemble(
    group: conditions::Proto,
    baseline: usize,
    numbering: &mut boots::Numbering,
    files: &[String],
    options: &Options,
) -> Result<ComparedConditions, SamplesError> {
    let has_named_boots =
        group.conditions.iter().flat_map(|one| &one.parts).any(|part| !part.series.boots.is_empty());
    let knows_boots = boots::are_known(&group.conditions, files, options)?;
    let mut observations = Vec::new();
    let (mut labels, mut kinds) = (Vec::new(), Vec::new());
    numbering.begin_group();
    for (index, condition) in group.conditions.into_iter().enumerate() {
        numbering.number(index, condition.parts, knows_boots, files, &mut observations)?;
        labels.push(condition.label);
        kinds.push(condition.kind);
    }
    let mut notes = Vec::new();
    if has_named_boots && options.boots != Boots::Named {
        notes.push("--boots replaces the boots that the files name".to_owned());
    }
    if !knows_boots {
        notes.push(
            "nothing says which runs belong to the same boot, so each counts as a boot of its own. Runs of one boot are not independent: if these come from fewer boots (restarts, batches, machines), the intervals are too narrow and the verdicts too sure. Give the boots with --boots 10,10,10, or a column that names them"
                .to_owned(),
        );
    } else if options.boots != Boots::Named {
        let note = match (options.design, &options.boots) {
            (Some(Design::Crossed), _) => {
                Some("--design crossed: boots with the same number in each condition are one boot")
            }
            (_, Boots::Sizes(_)) => Some("boots are numbered from 1 in each condition"),
            _ => None,
        };
        notes.extend(note.map(str::to_owned));
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
        notes,
    })
}

fn nothing(alone: &[conditions::Proto], options: &Options) -> String {
    let mut labels: Vec<&str> = Vec::new();
    let mut metrics: HashMap<&str, &str> = HashMap::new();
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
    if let Some(word) = options.baseline.as_deref().filter(|word| !labels.contains(word)) {
        return format!("there is no condition {word:?} to compare with; there are {}", quoted_list(&labels));
    }
    if labels.len() > 1 && metrics.len() > 1 {
        let mut told: Vec<String> =
            metrics.into_iter().map(|(metric, label)| format!("{label} holds {metric}")).collect();
        told.sort();
        return format!(
            "nothing to compare: {}; choose with --metric, or give files of the same one",
            told.join(", ")
        );
    }
    if labels.len() > 1 {
        let way_out = reason_for_package(alone).unwrap_or_else(|| "give files of the same ones".to_owned());
        return format!(
            "nothing to compare: no benchmark was measured in two of {}; {way_out}",
            quoted_list(&labels)
        );
    }
    format!("one condition only, {}: give a second file to compare it with", quoted_list(&labels))
}

/// Why a benchmark has two names: its CPUs, or its package.
fn reason_for_package(alone: &[conditions::Proto]) -> Option<String> {
    let without_cpus = |name: &str| match name.rsplit_once('-') {
        Some((rest, cpus)) if cpus.parse::<u32>().is_ok() => rest.to_owned(),
        _ => name.to_owned(),
    };
    let mut seen: HashMap<String, &conditions::Proto> = HashMap::new();
    for group in alone {
        let (Some(name), Some(subject)) = (&group.name, &group.subject) else { continue };
        let Some(first) = seen.get(&without_cpus(subject)) else {
            seen.insert(without_cpus(subject), group);
            continue;
        };
        if first.name.as_ref() == Some(name) {
            continue;
        }
        let whose = |group: &conditions::Proto| {
            group.conditions.first().map_or(String::new(), |one| one.label.clone())
        };
        let known = first.name.as_deref().unwrap_or_default();
        let both = format!("{known} in {}, {name} in {}", whose(first), whose(group));
        return Some(if first.subject.as_ref() == Some(subject) {
            format!("{both}: the packages (pkg:) differ")
        } else {
            format!(
                "{both}: the number at the end is that of the CPUs (GOMAXPROCS); measure with the same -cpu"
            )
        });
    }
    None
}

fn quoted_list(words: &[&str]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}
