//! Parts of a file that are left out, each with its reason, and circumstances of its runs.

use crate::error::{Fault, FilePosition};

/// The most reasons, and the most values of a circumstance, that are told apart.
const MOST: usize = 8;

/// The reason of the parts whose reasons are too many.
const OTHER: &str = "parts for other reasons";

/// The longest value of a circumstance, in bytes.
const LONGEST: usize = 60;

/// Parts of a file that are no measurements.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Each reason, how often, and where it was first.
    reasons: Vec<(String, u64, FilePosition)>,
}

impl LeftOut {
    /// Leaves a part out; the reason is in the plural, such as `runs that failed`.
    pub(crate) fn add(&mut self, reason: &str, place: FilePosition) {
        let find = |reason: &str| self.reasons.iter().position(|(known, ..)| known == reason);
        let reason = if find(reason).is_some() || self.reasons.len() < MOST { reason } else { OTHER };
        match find(reason) {
            Some(known) => self.reasons[known].1 += 1,
            None => self.reasons.push((reason.to_owned(), 1, place)),
        }
    }

    /// A note for each reason.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |(reason, count, place): &(String, u64, FilePosition)| {
            let first = if *count > 1 { "the first in line" } else { "in line" };
            format!("left out: {reason}: {count}, {first} {}", place.line)
        };
        self.reasons.iter().map(note).collect()
    }

    /// Rejects a file of which nothing else is left.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let (reason, count, place) = self.reasons.first()?;
        let what = format!("no measurement is left but {reason}: {count}");
        Some(Fault::new(*place, what, "measure again, and give results of runs that succeeded"))
    }
}

/// Circumstances of the runs of a file, such as the program's version: their distinct values.
#[derive(Debug, Default)]
pub(crate) struct Settings(pub(crate) Vec<(String, Vec<String>)>);

impl Settings {
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        let place = self.0.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        let value = value.get(..LONGEST).unwrap_or(value);
        let values = &mut self.0[place].1;
        if values.len() < MOST && !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
}
