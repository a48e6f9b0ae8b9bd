//! Assigns runs to boots.

use std::collections::HashMap;

use stats::{Design, Observation};

use super::conditions::{Condition, Part};
use crate::error::{Fault, FilePosition, SamplesError};
use crate::measurement_file::Input;
use crate::options::{Boots, Options};

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
