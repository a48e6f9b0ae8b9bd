//! Sorts series into groups and conditions.

use std::collections::{BTreeSet, HashMap};

use stats::{Design, Observation};

use crate::error::{Fault, SamplesError};
use crate::measurement_file::MeasurementFile;
use crate::options::{Boots, Options};
use crate::series::{SampleSeries, SeriesKey};

#[derive(Debug)]
pub(super) struct SampleCondition {
    pub(super) label: String,
    pub(super) kind: Option<String>,
    pub(super) parts: Vec<SampleSeries>,
}

/// Conditions to compare, without their boots.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) name: Option<String>,
    pub(super) metric: Option<String>,
    pub(super) unit: Option<String>,
    pub(super) conditions: Vec<SampleCondition>,
    places: HashMap<String, usize>,
}

impl Group {
    pub(super) fn title(&self) -> String {
        match (&self.name, &self.metric) {
            (Some(name), Some(metric)) => format!("{name} ({metric})"),
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => {
                self.conditions.iter().map(|one| one.label.as_str()).collect::<Vec<_>>().join(", ")
            }
        }
    }

    fn add(&mut self, label: String, part: SampleSeries, file: &str) -> Result<(), SamplesError> {
        let place = part.last;
        if let Some(unit) = &part.key.unit {
            let known = self.unit.get_or_insert_with(|| unit.clone());
            if known != unit {
                let what = format!("values in {unit}, where others are in {known}");
                return Err(Fault::new(place, what, "compare values of one unit").in_file(file));
            }
        }
        let kind = part.key.kind.clone();
        let known = *self.places.entry(label.clone()).or_insert(self.conditions.len());
        if known == self.conditions.len() {
            self.conditions.push(SampleCondition { label, kind: None, parts: Vec::new() });
        }
        let condition = &mut self.conditions[known];
        if let (Some(known), Some(kind)) = (&condition.kind, &kind)
            && known != kind
        {
            let what = format!("a value {kind}, in one condition with values {known}");
            let way_out =
                "these are no set: give a file for each kind, and name conditions, such as NAME=FILE";
            return Err(Fault::new(place, what, way_out).in_file(file));
        }
        condition.kind = condition.kind.take().or(kind);
        condition.parts.push(part);
        Ok(())
    }
}

pub(super) fn group(inputs: Vec<MeasurementFile>) -> Result<Vec<Group>, SamplesError> {
    let shares_a_condition = shares_a_condition(&inputs);
    // Files are conditions if the caller says which, or if two of them name the same conditions.
    let files_are_conditions = shares_a_condition || inputs.iter().any(|input| input.condition.is_some());
    let conditions = |input| distinct(std::slice::from_ref(input), |key| key.condition.as_ref());
    let names_groups = shares_a_condition || inputs.iter().any(|input| conditions(input).len() > 1);
    let metrics = distinct(&inputs, |key| key.metric.as_ref());
    let only_metric = metrics.first().filter(|_| metrics.len() == 1).map(|metric| (*metric).clone());
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<(Option<String>, Option<String>), usize> = HashMap::new();
    for (index, MeasurementFile { file, condition, found, .. }) in inputs.into_iter().enumerate() {
        for mut series in found.series {
            series.input = index;
            let own = series.key.condition.clone();
            let (label, name) = if files_are_conditions {
                (condition.clone(), own.filter(|_| names_groups))
            } else {
                (own, None)
            };
            let label = label.unwrap_or_else(|| file.clone());
            let metric = series.key.metric.clone().or_else(|| only_metric.clone());
            let place = *places.entry((name.clone(), metric.clone())).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Group { name, metric, ..Group::default() });
            }
            groups[place].add(label, series, &file)?;
        }
    }
    Ok(groups)
}

/// Whether two files of different conditions name the same one.
fn shares_a_condition(inputs: &[MeasurementFile]) -> bool {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    inputs.iter().any(|input| {
        let whose = input.condition.as_deref().unwrap_or(&input.file);
        let own = distinct(std::slice::from_ref(input), |key| key.condition.as_ref());
        own.into_iter().any(|condition| *seen.entry(condition).or_insert(whose) != whose)
    })
}

fn distinct(inputs: &[MeasurementFile], part: impl Fn(&SeriesKey) -> Option<&String>) -> BTreeSet<&String> {
    let series = inputs.iter().flat_map(|input| &input.found.series);
    series.filter_map(|series| part(&series.key)).collect()
}

pub(super) fn are_known(
    conditions: &[SampleCondition],
    files: &[String],
    options: &Options,
) -> Result<bool, SamplesError> {
    if options.boots != Boots::Named {
        return Ok(true);
    }
    let parts = || conditions.iter().flat_map(|condition| &condition.parts);
    let is_named = |part: &&SampleSeries| !part.boots.is_empty();
    let (Some(named), Some(nameless)) = (parts().find(is_named), parts().find(|part| !is_named(part))) else {
        return Ok(parts().all(|part| is_named(&part)));
    };
    let what = format!("runs without boots, while {} names them", files[named.input]);
    let way_out = "name them here too, or give --boots 10,10,10, or --boot none";
    Err(Fault::new(nameless.last, what, way_out).in_file(&files[nameless.input]))
}

/// Numbers for boots; the same boot has one number.
#[derive(Debug)]
pub(super) struct Numbering<'o> {
    options: &'o Options,
    /// The shared number of each boot of each file.
    shared: Vec<Vec<u32>>,
    names: Vec<String>,
    /// The key is the condition, if each has boots of its own, and the shared number or position.
    pub(super) given: HashMap<(Option<usize>, usize), u32>,
    /// The names of those boots, by number: from the files, or their positions from 1.
    pub(super) called: Vec<String>,
}

impl<'o> Numbering<'o> {
    pub(super) fn new(inputs: &mut [MeasurementFile], options: &'o Options) -> Numbering<'o> {
        let mut numbers: HashMap<(Option<usize>, Vec<u8>), u32> = HashMap::new();
        let mut names = Vec::new();
        let mut shared = Vec::new();
        for (index, input) in inputs.iter_mut().enumerate() {
            let owner = input.found.owns_boots.then_some(index);
            let boots = std::mem::take(&mut input.found.boots);
            let number = |name: Vec<u8>| {
                let title = words::sanitised_line(&String::from_utf8_lossy(&name)).into_owned();
                *numbers.entry((owner, name)).or_insert_with(|| {
                    names.push(title);
                    names.len() as u32 - 1
                })
            };
            shared.push(boots.into_iter().map(number).collect());
        }
        Numbering { options, shared, names, given: HashMap::new(), called: Vec::new() }
    }

    pub(super) fn number(
        &mut self,
        condition: usize,
        parts: Vec<SampleSeries>,
        are_known: bool,
        files: &[String],
        observations: &mut Vec<Observation>,
    ) -> Result<(), SamplesError> {
        let boots = &self.options.boots;
        // The position of each run's boot.
        let mut positions = Vec::new();
        if let Boots::Sizes(sizes) = boots {
            let count: usize = parts.iter().map(|part| part.values.len()).sum();
            let planned = sizes.iter().fold(0_usize, |sum, size| sum.saturating_add(*size));
            if let (true, Some(last)) = (planned != count, parts.last()) {
                let what = format!("{count} values, but --boots gives {planned}");
                let way_out = "give as many runs as there are values, or a column that names the boots";
                return Err(Fault::new(last.last, what, way_out).in_file(&files[last.input]));
            }
            let sizes = sizes.iter().enumerate();
            positions.extend(sizes.flat_map(|(place, size)| std::iter::repeat_n(place, *size)));
        }
        // Boots that are only counted belong to their condition; the same name is the same boot.
        let belongs_to_condition = match self.options.design {
            Some(design) => design == Design::Nested,
            None => *boots != Boots::Named,
        };
        let own = belongs_to_condition.then_some(condition);
        let mut run = 0;
        for (place, part) in parts.into_iter().enumerate() {
            for (index, value) in part.values.iter().enumerate() {
                let boot = if are_known {
                    let which = match boots {
                        Boots::Sizes(_) => positions[run],
                        Boots::PerFile => place,
                        Boots::Named => self.shared[part.input][part.boots[index] as usize] as usize,
                    };
                    let next = self.given.len() as u32;
                    let number = *self.given.entry((own, which)).or_insert(next);
                    if number == next {
                        self.called.push(match boots {
                            Boots::Named => self.names[which].clone(),
                            Boots::Sizes(_) => (which + 1).to_string(),
                            Boots::PerFile => files[part.input].clone(),
                        });
                    }
                    number
                } else {
                    observations.len() as u32
                };
                observations.push(Observation { condition, boot, value: *value });
                run += 1;
            }
        }
        Ok(())
    }
}
