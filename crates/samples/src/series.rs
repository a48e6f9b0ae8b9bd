//! The values of one series, in the order of a file.

use std::collections::HashMap;

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::{LONGEST_NAME, MOST_BOOTS, MOST_SERIES, MOST_VALUES};

/// The identity of a series in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SeriesKey {
    pub(crate) condition: Option<String>,
    pub(crate) metric: Option<String>,
    pub(crate) unit: Option<String>,
    /// The kind of the values, where the file says it: `received by the server, TCP, forward`.
    /// Values of different kinds are no set.
    pub(crate) kind: Option<String>,
}

impl SeriesKey {
    pub(crate) fn new(metric: &str, unit: &str) -> SeriesKey {
        SeriesKey { metric: Some(metric.to_owned()), unit: Some(unit.to_owned()), ..SeriesKey::default() }
    }

    /// The key with its words sanitised.
    pub(crate) fn plain(self) -> SeriesKey {
        let plain = |word: Option<String>| word.map(|word| words::sanitised_line(&word).into_owned());
        SeriesKey {
            condition: plain(self.condition),
            metric: plain(self.metric),
            unit: plain(self.unit).map(one_name),
            kind: plain(self.kind),
        }
    }

    /// Rejects a rate below 0: a damaged result, not a measurement.
    pub(crate) fn require_possible(&self, value: f64, place: FilePosition) -> Result<(), Fault> {
        let is_rate = |unit: &String| ["/s", "/sec", "/op"].iter().any(|end| unit.ends_with(end));
        if value >= 0.0 || !self.unit.as_ref().is_some_and(is_rate) {
            return Ok(());
        }
        Err(impossible(self, value, place))
    }
}

fn impossible(key: &SeriesKey, value: f64, place: FilePosition) -> Fault {
    let metric = key.metric.as_deref().unwrap_or("value");
    let unit = key.unit.as_deref().unwrap_or_default();
    Fault::new(
        place,
        format!("{metric} is {value} {unit}, and cannot be less than 0"),
        "the result is damaged: leave it out",
    )
}

/// One name for each unit: netperf's, and that of netassay's exports before it used Mbit/s.
fn one_name(unit: String) -> String {
    if ["10^6 bits/s", "10^6bits/s"].contains(&unit.as_str()) { "Mbit/s".to_owned() } else { unit }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) key: SeriesKey,
    pub(crate) values: Vec<f64>,
    /// The number of each value's boot; empty if the file names none.
    pub(crate) boots: Vec<u32>,
    /// The place of the last value.
    pub(crate) last: FilePosition,
}

#[derive(Debug, Default)]
pub(crate) struct Collector {
    series: Vec<Series>,
    places: HashMap<SeriesKey, usize>,
    boots: Names,
    values: usize,
    /// The series of the last value, often also of the next.
    current: usize,
    /// Whether each value is a count, a time or a share, none of which is below 0.
    is_of_program: bool,
}

impl Collector {
    /// A collector for values that a program measured.
    pub(crate) fn of_program() -> Collector {
        Collector { is_of_program: true, ..Collector::default() }
    }

    /// Adds a value, with its series, boot and place.
    pub(crate) fn push(
        &mut self,
        key: &SeriesKey,
        boot: Option<&[u8]>,
        value: f64,
        place: FilePosition,
    ) -> Result<(), Fault> {
        if self.values == MOST_VALUES {
            return Err(too_many_values(place));
        }
        if self.is_of_program && value < 0.0 {
            return Err(impossible(key, value, place));
        }
        key.require_possible(value, place)?;
        self.values += 1;
        let series = self.series_of(key, place)?;
        let boot = match boot {
            Some(name) => Some(self.boot(name, place)?),
            None => None,
        };
        let series = &mut self.series[series];
        series.values.push(value);
        series.boots.extend(boot);
        series.last = place;
        Ok(())
    }

    fn series_of(&mut self, key: &SeriesKey, place: FilePosition) -> Result<usize, Fault> {
        if self.series.get(self.current).is_some_and(|series| series.key == *key) {
            return Ok(self.current);
        }
        self.current = match self.places.get(key) {
            Some(known) => *known,
            None if self.series.len() == MOST_SERIES => {
                return Err(Fault::new(
                    place,
                    format!("more than {MOST_SERIES} conditions and metrics"),
                    "choose the column of conditions with --condition",
                ));
            }
            None => {
                let names = [&key.condition, &key.metric, &key.unit, &key.kind];
                for name in names.into_iter().flatten() {
                    bounded(name.as_bytes(), place)?;
                }
                self.places.insert(key.clone(), self.series.len());
                self.series.push(Series { key: key.clone(), ..Series::default() });
                self.series.len() - 1
            }
        };
        Ok(self.current)
    }

    fn boot(&mut self, name: &[u8], place: FilePosition) -> Result<u32, Fault> {
        bounded(name, place)?;
        let number = self.boots.number(name);
        if self.boots.len() > MOST_BOOTS {
            return Err(Fault::new(
                place,
                format!("more than {MOST_BOOTS} boots"),
                "choose the column of boots with --boot, or --boot none",
            ));
        }
        Ok(number)
    }

    pub(crate) fn finish(self) -> (Vec<Series>, Vec<Vec<u8>>) {
        (self.series, self.boots.into_names())
    }
}

pub(crate) fn too_many_values(place: FilePosition) -> Fault {
    let what = format!("more than {MOST_VALUES} values");
    Fault::new(place, what, "compare fewer runs, or a mean for each boot")
}

/// Rejects a name that is too long to be kept.
pub(crate) fn bounded(name: &[u8], place: FilePosition) -> Result<(), Fault> {
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(Fault::new(
        place,
        format!("a name of {} bytes, {}", name.len(), quoted(name)),
        format!("names have at most {LONGEST_NAME}"),
    ))
}

/// Distinct names, numbered in order of appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Vec<u8>, u32>,
    /// The last one asked for: files repeat the name of a boot.
    last: Option<(Vec<u8>, u32)>,
}

impl Names {
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        if let Some((last, number)) = &self.last
            && last == name
        {
            return *number;
        }
        let next = u32::try_from(self.numbers.len()).expect("files are limited to far fewer names");
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                self.numbers.insert(name.to_owned(), next);
                next
            }
        };
        self.last = Some((name.to_owned(), number));
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) fn into_names(self) -> Vec<Vec<u8>> {
        let mut names: Vec<(u32, Vec<u8>)> =
            self.numbers.into_iter().map(|(name, number)| (number, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_come() {
        let mut names = Names::default();
        let numbers: Vec<u32> = [b"b", b"a", b"a", b"b", b"c"].map(|name| names.number(name)).to_vec();
        assert_eq!((numbers, names.len()), (vec![0, 1, 1, 0, 2], 3));
        assert_eq!(names.into_names(), [b"b", b"a", b"c"]);
    }
}
