//! netperf's results as data: its omni tests' CSV (`-- -o`) and keywords (`-- -k`), several results
//! in sequence.

use std::io::Read;

use super::{Found, no_such_metric, plain_word, require_no_boot};
use crate::error::{Fault, Place, quoted};
use crate::limits::LONGEST_NAME;
use crate::lines::{Line, Lines};
use crate::options::Options;
use crate::series::{Collector, Key};
use crate::word::measured;

/// The main metric, in netperf's word.
const MAIN: &str = "throughput";
const UNITS: &str = "throughput_units";

/// The most metrics that messages list.
const METRICS: usize = 1000;

/// Whether a line shows that netperf wrote the file.
pub(crate) fn is_sign(line: &[u8]) -> bool {
    is_banner(line) || line.starts_with(b"THROUGHPUT=")
}

fn is_banner(line: &[u8]) -> bool {
    const TEST: &[u8] = b" TEST from ";
    line.first().is_some_and(u8::is_ascii_uppercase) && line.windows(TEST.len()).any(|part| part == TEST)
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<Found, Fault> {
    require_no_boot("netperf", options)?;
    let mut reader = Reader::new(options);
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        reader.take(&line)?;
    }
    reader.finish()
}

struct Reader {
    metric: String,
    /// The names of the CSV's columns, as plain words.
    columns: Vec<String>,
    /// Keywords: the value that waits for its unit.
    waiting: Option<(f64, Place)>,
    unit: Option<String>,
    known: Vec<String>,
    collector: Collector,
    /// Lines that are not data, and the first of them.
    strange: u64,
    first_strange: Option<(u64, String)>,
}

impl Reader {
    fn new(options: &Options) -> Reader {
        let metric = options.metric.as_deref().filter(|metric| *metric != "all").unwrap_or(MAIN);
        Reader {
            metric: plain_word(metric),
            columns: Vec::new(),
            waiting: None,
            unit: None,
            known: Vec::new(),
            collector: Collector::default(),
            strange: 0,
            first_strange: None,
        }
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        if line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        if is_banner(line.bytes) {
            self.close()?;
            self.columns.clear();
            self.unit = None;
            return Ok(());
        }
        if let Some((key, value)) = keyword(line)? {
            return self.keyword(&plain_word(key), value, line);
        }
        // Tables for people align their columns with blanks; data do not.
        let content = line.bytes.trim_ascii();
        if content.windows(2).any(|pair| pair == b"  ") {
            self.wonder(line);
            return Ok(());
        }
        let fields: Vec<&[u8]> = content.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
        if fields.iter().all(|field| field.first().is_some_and(u8::is_ascii_uppercase)) {
            return self.heading(&fields, line);
        }
        if !self.columns.is_empty() && fields.len() == self.columns.len() {
            return self.row(&fields, line);
        }
        self.wonder(line);
        Ok(())
    }

    /// Notes a line that is not data.
    fn wonder(&mut self, line: &Line<'_>) {
        self.strange += 1;
        if self.first_strange.is_none() {
            self.first_strange = Some((line.number, quoted(line.bytes)));
        }
    }

    fn keyword(&mut self, key: &str, value: &[u8], line: &Line<'_>) -> Result<(), Fault> {
        self.learn(key);
        if key == UNITS && self.metric == MAIN {
            self.unit = Some(line.text_of(value)?.to_owned());
        }
        if key == self.metric {
            self.close()?;
            let place = line.place_of(value);
            self.waiting = Some((self.measured(value, place)?, place));
        }
        Ok(())
    }

    /// Stores the waiting value.
    fn close(&mut self) -> Result<(), Fault> {
        if let Some((value, place)) = self.waiting.take() {
            self.push(value, self.unit.clone(), place)?;
        }
        Ok(())
    }

    fn heading(&mut self, fields: &[&[u8]], line: &Line<'_>) -> Result<(), Fault> {
        self.columns.clear();
        for field in fields {
            let name = plain_word(line.text_of(field)?);
            self.learn(&name);
            self.columns.push(name);
        }
        Ok(())
    }

    fn row(&mut self, fields: &[&[u8]], line: &Line<'_>) -> Result<(), Fault> {
        let column = |name: &str| self.columns.iter().position(|column| column == name);
        let Some(value) = column(&self.metric) else { return Ok(()) };
        let unit = match column(UNITS).filter(|_| self.metric == MAIN) {
            Some(units) => Some(line.text_of(fields[units])?.to_owned()),
            None => None,
        };
        let place = line.place_of(fields[value]);
        let value = self.measured(fields[value], place)?;
        self.push(value, unit, place)
    }

    /// netperf writes -1 for CPU use that it was not asked to measure.
    fn measured(&self, word: &[u8], place: Place) -> Result<f64, Fault> {
        let value = measured(word, place)?;
        if value == -1.0 && self.metric.contains("cpu") {
            let what = format!("netperf did not measure {}", self.metric);
            return Err(Fault::new(place, what, "run it with -c and -C"));
        }
        Ok(value)
    }

    fn push(&mut self, value: f64, unit: Option<String>, place: Place) -> Result<(), Fault> {
        let key = Key { metric: Some(self.metric.clone()), unit, ..Key::default() };
        self.collector.push(&key, None, value, place)
    }

    fn learn(&mut self, name: &str) {
        if self.known.len() < METRICS
            && name.len() <= LONGEST_NAME
            && !self.known.iter().any(|known| known == name)
        {
            self.known.push(name.to_owned());
        }
    }

    fn finish(mut self) -> Result<Found, Fault> {
        self.close()?;
        let mut notes = Vec::new();
        if let Some((line, text)) = &self.first_strange {
            notes.push(format!(
                "lines that are neither netperf's CSV nor its keywords: {}, the first is line {line}, {text}",
                self.strange
            ));
        }
        let found = Found::new(self.collector, notes);
        if found.series.is_empty() {
            if let Some((line, _)) = self.first_strange {
                return Err(Fault::new(
                    Place::start_of(line),
                    "netperf's table for people",
                    "let it write data with -- -o or -- -k, or only the figure with -P 0 -v 0",
                ));
            }
            return Err(no_such_metric(&self.metric, &self.known));
        }
        Ok(found)
    }
}

fn keyword<'a>(line: &Line<'a>) -> Result<Option<(&'a str, &'a [u8])>, Fault> {
    let Some(equals) = line.bytes.iter().position(|byte| *byte == b'=') else { return Ok(None) };
    let key = &line.bytes[..equals];
    let is_key = key.first().is_some_and(u8::is_ascii_uppercase)
        && key.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    if !is_key {
        return Ok(None);
    }
    Ok(Some((line.text_of(key)?, line.bytes[equals + 1..].trim_ascii())))
}
