//! Go's benchmark format: `BenchmarkName-8 1000 12.5 ns/op 0 B/op`, with configuration lines `key:
//! value` (Go's design document 14313, 2016, and its amendments for sub-benchmarks and units).
//! Other lines are ignored, as that format demands.

use std::collections::BTreeSet;
use std::io::Read;

use super::{Found, no_such_metric};
use crate::error::{Fault, Place};
use crate::lines::{Line, Lines};
use crate::options::{Column, Options};
use crate::series::{Collector, Key, bounded};
use crate::word::measured;

/// The unit of every benchmark of the testing package.
const MAIN: &str = "ns/op";

/// The most units that messages list.
const UNITS: usize = 1000;

/// Whether a line is a benchmark's result.
pub(crate) fn is_result(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_name = words.next().is_some_and(|word| word.starts_with(b"Benchmark"));
    is_name
        && words.next().is_some_and(|word| word.iter().all(u8::is_ascii_digit))
        && words.next().is_some()
        && words.next().is_some()
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<Found, Fault> {
    let boot_key = match &options.boot {
        Some(Column::None) => None,
        Some(Column::Named(key)) => Some(key.as_str()),
        None => Some("boot"),
    };
    let mut package = None;
    let mut boot: Option<Vec<u8>> = None;
    let mut units = BTreeSet::new();
    let mut collector = Collector::default();
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        if is_result(line.bytes) {
            result(&line, &package, boot.as_deref(), options, &mut units, &mut collector)?;
        } else if let Some((key, value)) = configuration(line.bytes) {
            bounded(value, line.place_of(value))?;
            if key == b"pkg" {
                package = Some(line.text_of(value)?.to_owned());
            }
            if boot_key.is_some_and(|wanted| wanted.as_bytes() == key) {
                boot = Some(value.to_owned());
            }
        }
    }
    if let Some(Column::Named(key)) = &options.boot
        && boot.is_none()
    {
        let place = Place::start_of(1);
        return Err(Fault::new(
            place,
            format!("no line `{key}: …` before a result"),
            "name the key that tells boots apart",
        ));
    }
    choose(collector, units, options)
}

/// The main unit, or the requested one.
fn choose(collector: Collector, units: BTreeSet<String>, options: &Options) -> Result<Found, Fault> {
    let mut found = Found::new(collector, Vec::new());
    let units: Vec<String> = units.into_iter().collect();
    match options.metric.as_deref() {
        Some("all") => {}
        Some(unit) if units.iter().any(|known| known == unit) => {}
        Some(unit) => return Err(no_such_metric(unit, &units)),
        None => {
            let main = units.iter().find(|unit| *unit == MAIN).or(units.first()).cloned();
            found.series.retain(|series| series.key.metric == main);
            let others: Vec<String> = units.into_iter().filter(|unit| Some(unit) != main.as_ref()).collect();
            if !others.is_empty() {
                found.notes.push(format!("also measured: {} (--metric)", others.join(", ")));
            }
        }
    }
    Ok(found)
}

fn result(
    line: &Line<'_>,
    package: &Option<String>,
    boot: Option<&[u8]>,
    options: &Options,
    units: &mut BTreeSet<String>,
    collector: &mut Collector,
) -> Result<(), Fault> {
    let words: Vec<&[u8]> =
        line.bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let name = line.text_of(words[0])?;
    let name = name.strip_prefix("Benchmark").unwrap_or(name);
    let (pairs, rest) = words[2..].as_chunks::<2>();
    if let [value] = rest {
        return Err(Fault::new(
            line.place_of(value),
            "a value without a unit",
            "complete the line, or delete it",
        ));
    }
    for [value, unit] in pairs {
        let place = line.place_of(value);
        bounded(unit, line.place_of(unit))?;
        let unit = line.text_of(unit)?;
        if units.len() < UNITS {
            units.insert(unit.to_owned());
        }
        if options.metric.as_deref().is_some_and(|wanted| wanted != "all" && wanted != unit) {
            continue;
        }
        let key = Key {
            package: package.clone(),
            subject: Some(name.to_owned()),
            condition: None,
            metric: Some(unit.to_owned()),
            unit: Some(unit.to_owned()),
        };
        collector.push(&key, boot, measured(value, place)?, place)?;
    }
    Ok(())
}

/// A configuration line's key and value: the key has no capitals and no blanks, and a blank follows
/// its colon.
fn configuration(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (key, value) = (&line[..colon], &line[colon + 1..]);
    let is_key = key.first().is_some_and(u8::is_ascii_lowercase)
        && !key.iter().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_whitespace());
    let is_apart = value.first().is_none_or(u8::is_ascii_whitespace);
    (is_key && is_apart).then_some((key, value.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_distinguished() {
        assert!(is_result(b"BenchmarkSum/1400-2 \t 48990 \t 446.3 ns/op"));
        for line in
            ["BenchmarkSum", "Benchmark 1 2", "BenchmarkX-8 --- FAIL: x", "PASS", "Unit ns/op better=lower"]
        {
            assert!(!is_result(line.as_bytes()), "{line}");
        }
        assert_eq!(configuration(b"cpu: AMD EPYC"), Some((&b"cpu"[..], &b"AMD EPYC"[..])));
        assert_eq!(configuration(b"note:"), Some((&b"note"[..], &b""[..])));
        for line in ["PASS", "Cpu: x", "a b: c", "http://x", ": x"] {
            assert_eq!(configuration(line.as_bytes()), None, "{line}");
        }
    }
}
