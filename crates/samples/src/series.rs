//! The values of one series, in the order of a file.

use std::collections::HashMap;

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::{LONGEST_NAME, MOST_BOOTS, MOST_SERIES, MOST_VALUES};
use crate::readers::ReadValues;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SeriesKey {
    pub(crate) condition: Option<String>,
    pub(crate) metric: Option<String>,
    pub(crate) unit: Option<String>,
    /// As in the file: `received by the server, TCP, forward`. Different kinds are no set.
    pub(crate) kind: Option<String>,
}

impl SeriesKey {
    pub(crate) fn new(metric: &str, unit: &str) -> SeriesKey {
        SeriesKey { metric: Some(metric.to_owned()), unit: Some(unit.to_owned()), ..SeriesKey::default() }
    }

    pub(crate) fn plain(self) -> SeriesKey {
        let plain = |word: Option<String>| word.map(|word| words::sanitised_line(&word).into_owned());
        SeriesKey {
            condition: plain(self.condition),
            metric: plain(self.metric),
            unit: plain(self.unit).map(one_name),
            kind: plain(self.kind),
        }
    }

    pub(crate) fn require_possible(
        &self,
        value: f64,
        is_size: bool,
        place: FilePosition,
    ) -> Result<(), Fault> {
        let unit = self.unit.as_deref().unwrap_or_default();
        let is_rate = ["/s", "/sec", "/op"].iter().any(|end| unit.ends_with(end));
        // A value below 0 of a rate, or of any unit if it `is_size`, is a damaged result.
        if value >= 0.0 || !(is_size || is_rate) {
            return Ok(());
        }
        let metric = self.metric.as_deref().unwrap_or("value");
        let what = format!("{metric} is {value} {unit}, and cannot be less than 0");
        Err(Fault::new(place, what, "the result is damaged: leave it out"))
    }
}

fn one_name(unit: String) -> String {
    // netperf's unit, and that of netassay's exports before they used Mbit/s.
    if ["10^6 bits/s", "10^6bits/s"].contains(&unit.as_str()) { "Mbit/s".to_owned() } else { unit }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SampleSeries {
    /// The number of its file; readers do not know it.
    pub(crate) input: usize,
    pub(crate) key: SeriesKey,
    pub(crate) values: Vec<f64>,
    /// The number of each value's boot; empty if the file names none.
    pub(crate) boots: Vec<u32>,
    pub(crate) last: FilePosition,
}

// The most reasons of parts left out that are told apart.
const MOST_REASONS: usize = 8;

// The reason of the parts whose reasons are too many.
const OTHER: &str = "parts for other reasons";

#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) found: ReadValues,
    /// The reasons of parts that are no measurements, how often, and where each was first.
    left_out: Vec<(String, u64, FilePosition)>,
    pub(crate) values: usize,
    places: HashMap<SeriesKey, usize>,
    /// Boots are numbered in order of appearance.
    boots: HashMap<Vec<u8>, u32>,
    /// Whether each value is a count, a time or a share, none of which is below 0.
    is_of_program: bool,
}

impl Collector {
    pub(crate) fn of_program() -> Collector {
        Collector { is_of_program: true, ..Collector::default() }
    }

    pub(crate) fn push(
        &mut self,
        key: &SeriesKey,
        boot: Option<&[u8]>,
        value: f64,
        place: FilePosition,
    ) -> Result<(), Fault> {
        if self.values == MOST_VALUES {
            let what = format!("more than {MOST_VALUES} values");
            return Err(Fault::new(place, what, "compare fewer runs, or a mean for each boot"));
        }
        key.require_possible(value, self.is_of_program, place)?;
        self.values += 1;
        let boot = boot.map(|name| self.boot(name, place)).transpose()?;
        let series = self.series_of(key, place)?;
        series.values.push(value);
        // A file names a boot for all of its values or for none.
        series.boots.extend(boot);
        series.last = place;
        Ok(())
    }

    /// Leaves a part out; the reason is in the plural, such as `runs that failed`.
    pub(crate) fn leave_out(&mut self, reason: &str, place: FilePosition) {
        let find = |reason: &str| self.left_out.iter().position(|(known, ..)| known == reason);
        let reason =
            if find(reason).is_some() || self.left_out.len() < MOST_REASONS { reason } else { OTHER };
        match find(reason) {
            Some(known) => self.left_out[known].1 += 1,
            None => self.left_out.push((reason.to_owned(), 1, place)),
        }
    }

    fn series_of(&mut self, key: &SeriesKey, place: FilePosition) -> Result<&mut SampleSeries, Fault> {
        if let Some(known) = self.places.get(key) {
            return Ok(&mut self.found.series[*known]);
        }
        let next = self.found.series.len();
        if next == MOST_SERIES {
            let what = format!("more than {MOST_SERIES} conditions and metrics");
            return Err(Fault::new(place, what, "choose the column of conditions with --condition"));
        }
        for name in [&key.condition, &key.metric, &key.unit, &key.kind].into_iter().flatten() {
            bounded(name.as_bytes(), place)?;
        }
        self.places.insert(key.clone(), next);
        self.found.series.push(SampleSeries { key: key.clone(), ..SampleSeries::default() });
        Ok(&mut self.found.series[next])
    }

    fn boot(&mut self, name: &[u8], place: FilePosition) -> Result<u32, Fault> {
        bounded(name, place)?;
        if let Some(known) = self.boots.get(name) {
            return Ok(*known);
        }
        if self.boots.len() == MOST_BOOTS {
            let way_out = "choose the column of boots with --boot, or --boot none";
            return Err(Fault::new(place, format!("more than {MOST_BOOTS} boots"), way_out));
        }
        let next = self.boots.len() as u32;
        self.boots.insert(name.to_owned(), next);
        self.found.boots.push(name.to_owned());
        Ok(next)
    }

    pub(crate) fn finish(mut self) -> Result<ReadValues, Fault> {
        // Only parts that are no measurements are left of the file.
        if let (Some((reason, count, place)), true) = (self.left_out.first(), self.found.series.is_empty()) {
            let what = format!("no measurement is left but {reason}: {count}");
            return Err(Fault::new(*place, what, "measure again, and give results of runs that succeeded"));
        }
        let note = |(reason, count, place): &(String, u64, FilePosition)| {
            let first = if *count > 1 { "the first in line" } else { "in line" };
            format!("left out: {reason}: {count}, {first} {}", place.line)
        };
        self.found.notes.extend(self.left_out.iter().map(note));
        Ok(self.found)
    }
}

pub(crate) fn bounded(name: &[u8], place: FilePosition) -> Result<(), Fault> {
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    let what = format!("a name of {} bytes, {}", name.len(), quoted(name));
    Err(Fault::new(place, what, format!("names have at most {LONGEST_NAME}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boots_are_numbered_as_they_come() {
        let mut collector = Collector::default();
        for name in [b"b", b"a", b"a", b"b", b"c"] {
            collector.push(&SeriesKey::default(), Some(name), 1.0, FilePosition::default()).unwrap();
        }
        let found = collector.finish().unwrap();
        assert_eq!(found.series[0].boots, [0, 1, 1, 0, 2]);
        assert_eq!(found.boots, [b"b", b"a", b"c"]);
    }
}
