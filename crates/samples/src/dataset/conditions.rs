//! Sorts series into groups and conditions.

use std::collections::{BTreeSet, HashMap};

use stats::{Design, Observation};

use crate::error::{Fault, FilePosition, SamplesError};
use crate::measurement_file::Input;
use crate::options::{Boots, Options};
use crate::series::{Series, SeriesKey};

#[derive(Debug)]
pub(super) struct Condition {
    pub(super) label: String,
    /// The kind of its values, where a file says it.
    pub(super) kind: Option<String>,
    pub(super) parts: Vec<Part>,
}

/// The part of a condition from one file.
#[derive(Debug)]
pub(super) struct Part {
    /// The index of the file.
    pub(super) input: usize,
    pub(super) series: Series,
}

/// A group without its boots.
#[derive(Debug)]
pub(super) struct Proto {
    pub(super) name: Option<String>,
    pub(super) metric: Option<String>,
    pub(super) unit: Option<String>,
    pub(super) conditions: Vec<Condition>,
    /// Their indices, by label.
    places: HashMap<String, usize>,
    /// The label of the very first condition: the default baseline.
    pub(super) first: String,
}

impl Proto {
    pub(super) fn title(&self) -> String {
        match (&self.name, &self.metric) {
            (Some(name), Some(metric)) => format!("{name} ({metric})"),
            (Some(name), None) => name.clone(),
            (None, Some(metric)) => metric.clone(),
            (None, None) => {
                self.conditions.iter().map(|one| one.label.as_str()).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

pub(super) fn group(inputs: Vec<Input>) -> Result<Vec<Proto>, SamplesError> {
    let files_are_conditions = files_are_conditions(&inputs);
    let names_subjects = shares_a_condition(&inputs) || inputs.iter().any(holds_several);
    let only_metric = only(&inputs, |key| key.metric.as_ref());
    let mut groups: Vec<Proto> = Vec::new();
    let mut places: HashMap<(Option<String>, Option<String>), usize> = HashMap::new();
    let mut first = None;
    for (index, input) in inputs.into_iter().enumerate() {
        let file = input.file;
        for series in input.sheet.found.series {
            let own = series.key.condition.as_ref();
            let (label, name) = if files_are_conditions {
                let label = input.condition.clone().unwrap_or_else(|| file.clone());
                (label, own.filter(|_| names_subjects).cloned())
            } else {
                (own.cloned().unwrap_or_else(|| file.clone()), None)
            };
            first.get_or_insert_with(|| label.clone());
            let metric = series.key.metric.clone().or_else(|| only_metric.clone());
            let place = *places.entry((name.clone(), metric.clone())).or_insert(groups.len());
            if place == groups.len() {
                let first = first.clone().unwrap_or_default();
                groups.push(Proto {
                    name,
                    metric,
                    unit: None,
                    conditions: Vec::new(),
                    places: HashMap::new(),
                    first,
                });
            }
            add(&mut groups[place], label, Part { input: index, series }, &file)?;
        }
    }
    Ok(groups)
}

fn add(group: &mut Proto, label: String, part: Part, file: &str) -> Result<(), SamplesError> {
    if let Some(unit) = &part.series.key.unit {
        let known = group.unit.get_or_insert_with(|| unit.clone());
        if known != unit {
            let what = format!("values in {unit}, where others are in {known}");
            let fault = Fault::new(part.series.last, what, "compare values of one unit");
            return Err(fault.in_file(file));
        }
    }
    let kind = part.series.key.kind.clone();
    let Some(place) = group.places.get(&label).copied() else {
        group.places.insert(label.clone(), group.conditions.len());
        group.conditions.push(Condition { label, kind, parts: vec![part] });
        return Ok(());
    };
    let condition = &mut group.conditions[place];
    if let (Some(known), Some(kind)) = (&condition.kind, &kind)
        && known != kind
    {
        let what = format!("a value {kind}, in one condition with values {known}");
        let way_out = "these are no set: give a file for each kind, and name conditions, such as NAME=FILE";
        return Err(Fault::new(part.series.last, what, way_out).in_file(file));
    }
    condition.kind = condition.kind.take().or(kind);
    condition.parts.push(part);
    Ok(())
}

/// Files are conditions if the caller says which, or if two of them name the same conditions.
fn files_are_conditions(inputs: &[Input]) -> bool {
    inputs.iter().any(|input| input.condition.is_some()) || shares_a_condition(inputs)
}

/// Whether two files of different conditions name the same one.
fn shares_a_condition(inputs: &[Input]) -> bool {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    inputs.iter().any(|input| {
        let whose = input.condition.as_deref().unwrap_or(&input.file);
        let own: BTreeSet<&str> =
            input.sheet.found.series.iter().filter_map(|series| series.key.condition.as_deref()).collect();
        own.into_iter().any(|condition| *seen.entry(condition).or_insert(whose) != whose)
    })
}

fn holds_several(input: &Input) -> bool {
    count(std::slice::from_ref(input), |key| key.condition.as_ref()) > 1
}

fn keys(inputs: &[Input]) -> impl Iterator<Item = &SeriesKey> {
    inputs.iter().flat_map(|input| &input.sheet.found.series).map(|series: &Series| &series.key)
}

fn count<'a>(inputs: &'a [Input], part: impl Fn(&'a SeriesKey) -> Option<&'a String>) -> usize {
    keys(inputs).filter_map(part).collect::<BTreeSet<_>>().len()
}

/// The common value of all inputs that have one.
fn only<'a>(inputs: &'a [Input], part: impl Fn(&'a SeriesKey) -> Option<&'a String>) -> Option<String> {
    let all: BTreeSet<&String> = keys(inputs).filter_map(part).collect();
    if all.len() == 1 { all.first().map(|one| (*one).clone()) } else { None }
}

pub(super) fn are_known(
    conditions: &[Condition],
    files: &[String],
    options: &Options,
) -> Result<bool, SamplesError> {
    if options.boots != Boots::Named {
        return Ok(true);
    }
    let parts = || conditions.iter().flat_map(|condition| &condition.parts);
    let is_named = |part: &&Part| !part.series.boots.is_empty();
    let (Some(named), Some(nameless)) = (parts().find(is_named), parts().find(|part| !is_named(part))) else {
        return Ok(parts().all(|part| is_named(&part)));
    };
    let fault = Fault::new(
        nameless.series.last,
        format!("runs without boots, while {} names them", files[named.input]),
        "name them here too, or give --boots 10,10,10, or --boot none",
    );
    Err(fault.in_file(&files[nameless.input]))
}

/// Numbers for boots; the same boot has one number.
#[derive(Debug)]
pub(super) struct Numbering {
    boots: Boots,
    design: Option<Design>,
    /// The shared number of each boot of each file.
    shared: Vec<Vec<u32>>,
    /// The names of the shared numbers.
    names: Vec<String>,
    /// The numbers of the current group.
    given: HashMap<Boot, u32>,
    /// The names of those boots, by number: from the files, or their positions from 1.
    pub(super) called: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Boot {
    /// Its condition, where each has boots of its own.
    condition: Option<usize>,
    /// Its name, or its position in the condition.
    which: usize,
}

impl Numbering {
    pub(super) fn new(inputs: &mut [Input], options: &Options) -> Numbering {
        let mut numbers: HashMap<(Option<usize>, Vec<u8>), u32> = HashMap::new();
        let mut names = Vec::new();
        let mut shared = Vec::new();
        for (index, input) in inputs.iter_mut().enumerate() {
            let owner = input.sheet.found.owns_boots.then_some(index);
            let boots = std::mem::take(&mut input.sheet.found.boots);
            let number = |name: Vec<u8>| {
                let title = words::sanitised_line(&String::from_utf8_lossy(&name)).into_owned();
                *numbers.entry((owner, name)).or_insert_with(|| {
                    names.push(title);
                    names.len() as u32 - 1
                })
            };
            shared.push(boots.into_iter().map(number).collect());
        }
        Numbering {
            boots: options.boots.clone(),
            design: options.design,
            shared,
            names,
            given: HashMap::new(),
            called: Vec::new(),
        }
    }

    pub(super) fn begin_group(&mut self) {
        self.given.clear();
        self.called.clear();
    }

    pub(super) fn number(
        &mut self,
        condition: usize,
        parts: Vec<Part>,
        are_known: bool,
        files: &[String],
        observations: &mut Vec<Observation>,
    ) -> Result<(), SamplesError> {
        let count = parts.iter().map(|part| part.series.values.len()).sum();
        let sizes = match &self.boots {
            Boots::Sizes(sizes) => {
                let planned: usize = sizes.iter().fold(0, |sum, size| sum.saturating_add(*size));
                if let (true, Some(last)) = (planned != count, parts.last()) {
                    return Err(ragged(planned, count, last.series.last).in_file(&files[last.input]));
                }
                Some(places(sizes))
            }
            _ => None,
        };
        // Boots that are only counted belong to their condition; the same name is the same boot.
        let belongs_to_condition = match self.design {
            Some(design) => design == Design::Nested,
            None => self.boots != Boots::Named,
        };
        let own = (belongs_to_condition || !are_known).then_some(condition);
        observations.reserve(count);
        let mut run = 0;
        for (place, part) in parts.into_iter().enumerate() {
            for (index, value) in part.series.values.iter().enumerate() {
                let which = match (&sizes, &self.boots) {
                    (Some(sizes), _) => sizes[run],
                    (None, Boots::PerFile) => place,
                    _ if !are_known => run, // each its own
                    _ => self.shared[part.input][part.series.boots[index] as usize] as usize,
                };
                let boot = if are_known {
                    self.give(Boot { condition: own, which }, &files[part.input])
                } else {
                    observations.len() as u32
                };
                observations.push(Observation { condition, boot, value: *value });
                run += 1;
            }
        }
        Ok(())
    }

    fn give(&mut self, boot: Boot, file: &str) -> u32 {
        let next = self.given.len() as u32;
        let number = *self.given.entry(boot).or_insert(next);
        if number == next {
            self.called.push(match self.boots {
                Boots::Named => self.names[boot.which].clone(),
                Boots::Sizes(_) => (boot.which + 1).to_string(),
                Boots::PerFile => file.to_owned(),
            });
        }
        number
    }
}

/// The position of each run's boot.
fn places(sizes: &[usize]) -> Vec<usize> {
    sizes.iter().enumerate().flat_map(|(place, size)| std::iter::repeat_n(place, *size)).collect()
}

fn ragged(planned: usize, count: usize, place: FilePosition) -> Fault {
    Fault::new(
        place,
        format!("{count} values, but --boots gives {planned}"),
        "give as many runs as there are values, or a column that names the boots",
    )
}
