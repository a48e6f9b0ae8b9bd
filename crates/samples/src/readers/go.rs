//! Go's benchmark format: `BenchmarkName-8 1000 12.5 ns/op 0 B/op`, with configuration lines `key:
//! value` (Go's design document 14313, 2016, and its amendments for sub-benchmarks and units).
//! Other lines are ignored, as that format demands, but what began as a result is read or named:
//! Go prints a benchmark's name when it starts, and what it logs may follow in the same line.

use std::collections::BTreeSet;
use std::io::Read;

use crate::error::{Fault, FilePosition, LeftOut, Settings};
use crate::lines::{Line, for_each_line, measured};
use crate::options::{Column, Options};
use crate::readers::{ReadValues, no_such_metric};
use crate::series::{Collector, SeriesKey, bounded};

/// The unit of every benchmark of the testing package.
const MAIN: &str = "ns/op";

/// The most units that messages list.
const UNITS: usize = 1000;

/// Keys that say where benchmarks ran.
const PLACES: [&[u8]; 3] = [b"goos", b"goarch", b"cpu"];

pub(crate) fn is_result(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next().is_some_and(is_name)
        && words.next().is_some_and(|word| word.iter().all(u8::is_ascii_digit))
        && words.next().is_some()
        && words.next().is_some()
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let mut reader = Reader {
        options,
        package: None,
        boot: None,
        units: BTreeSet::new(),
        begun: None,
        joined: 0,
        collector: Collector::default(),
        left_out: LeftOut::default(),
        settings: Settings::default(),
    };
    for_each_line(input, |line| reader.take(line))?;
    reader.finish()
}

struct Reader<'o> {
    options: &'o Options,
    package: Option<String>,
    boot: Option<Vec<u8>>,
    units: BTreeSet<String>,
    /// A benchmark of which only the name has come.
    begun: Option<Begun>,
    /// Results whose line was cut, and put together again.
    joined: u64,
    collector: Collector,
    left_out: LeftOut,
    settings: Settings,
}

struct Begun {
    name: String,
    place: FilePosition,
    /// Whether a name without a result is right: `-v` prints it before anything runs.
    is_heading: bool,
}

impl Reader<'_> {
    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let words = || line.bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let place = FilePosition::start_of(line.number);
        if is_result(line.bytes) {
            self.give_up();
            let words: Vec<&[u8]> = words().collect();
            return self.result(line.text_of(words[0])?, &words[2..], line);
        }
        if let Some(name) = words().next().filter(|word| is_name(word)) {
            self.give_up();
            bounded(name, place)?;
            if words().any(|word| word == b"FAIL:") {
                self.left_out.add("benchmarks that failed", place);
                return Ok(());
            }
            let name = line.text_of(name)?;
            let has_cpus = name.rsplit_once('-').is_some_and(|(_, cpus)| cpus.parse::<u32>().is_ok());
            let is_heading = line.bytes == name.as_bytes() && !has_cpus;
            self.begun = Some(Begun { name: name.to_owned(), place, is_heading });
            return Ok(());
        }
        if is_rest(words()) {
            let Some(Begun { name, .. }) = self.begun.take() else {
                self.left_out.add("results without the name of a benchmark", place);
                return Ok(());
            };
            self.joined += 1;
            let words: Vec<&[u8]> = words().collect();
            return self.result(&name, &words[1..], line);
        }
        if line.bytes.starts_with(b"--- FAIL: Benchmark") {
            self.left_out.add("benchmarks that failed", place);
        } else if line.bytes.starts_with(b"FAIL\t") {
            self.left_out.add("the rest of packages that failed", place);
        }
        match configuration(line.bytes) {
            Some((key, value)) => self.configure(key, value, line),
            None => Ok(()),
        }
    }

    /// Notes a benchmark whose result did not come.
    fn give_up(&mut self) {
        if let Some(begun) = self.begun.take().filter(|begun| !begun.is_heading) {
            let reason = format!("results of {} that other output cut", begun.name);
            self.left_out.add(&reason, begun.place);
        }
    }

    fn configure(&mut self, key: &[u8], value: &[u8], line: &Line<'_>) -> Result<(), Fault> {
        let wanted = match &self.options.boot {
            Some(Column::None) => None,
            Some(Column::Named(key)) => Some(key.as_str()),
            None => Some("boot"),
        };
        let is_boot = wanted.is_some_and(|wanted| wanted.as_bytes() == key);
        if !is_boot && key != b"pkg" && !PLACES.contains(&key) {
            return Ok(());
        }
        bounded(value, line.place_of(value))?;
        if is_boot {
            self.boot = Some(value.to_owned());
        }
        if key == b"pkg" {
            self.package = Some(line.text_of(value)?.to_owned());
        } else if PLACES.contains(&key) {
            self.settings.add(line.text_of(key)?, line.text_of(value)?);
        }
        Ok(())
    }

    /// A benchmark's figures, each with its unit.
    fn result(&mut self, name: &str, words: &[&[u8]], line: &Line<'_>) -> Result<(), Fault> {
        let name = name.strip_prefix("Benchmark").unwrap_or(name);
        let (pairs, rest) = words.as_chunks::<2>();
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
            if self.units.len() < UNITS {
                self.units.insert(unit.to_owned());
            }
            if self.options.metric.as_deref().is_some_and(|wanted| wanted != "all" && wanted != unit) {
                continue;
            }
            let key = SeriesKey {
                package: self.package.clone(),
                subject: Some(name.to_owned()),
                ..SeriesKey::new(unit, unit)
            };
            self.collector.push(&key, self.boot.as_deref(), measured(value, place)?, place)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ReadValues, Fault> {
        self.give_up();
        if let (Some(Column::Named(key)), None) = (&self.options.boot, &self.boot) {
            let what = format!("no line `{key}: …` before a result");
            return Err(Fault::new(FilePosition::start_of(1), what, "name the key that tells boots apart"));
        }
        let mut found = ReadValues::new(self.collector, &self.left_out)?;
        found.settings = self.settings;
        if self.joined > 0 {
            let joined = self.joined;
            found.notes.push(format!("results that other output cut, and that were put together: {joined}"));
        }
        choose(&mut found, self.units, self.options)?;
        Ok(found)
    }
}

/// Keeps the main unit, or the requested one.
fn choose(found: &mut ReadValues, units: BTreeSet<String>, options: &Options) -> Result<(), Fault> {
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
    Ok(())
}

/// Whether a word is a benchmark's name: behind `Benchmark` there is no small letter.
fn is_name(word: &[u8]) -> bool {
    word.strip_prefix(b"Benchmark").is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_lowercase))
}

/// Whether words are a result without its name: a count, a figure, a unit such as ns/op.
fn is_rest<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> bool {
    words.next().is_some_and(|word| word.iter().all(u8::is_ascii_digit))
        && words.next().is_some_and(|word| ministat::parse_number(word).is_some())
        && words.next().is_some_and(|word| word.contains(&b'/'))
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
