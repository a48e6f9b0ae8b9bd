//! netperf's omni tests, several results in sequence: CSV (`-- -o`) and keywords (`-- -k`).
//!
//! A test begins with a line that names it. Its throughput is what was received, also for UDP.

use std::io::Read;

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::LONGEST_NAME;
use crate::lines::{Line, for_each_line, measured};
use crate::options::Options;
use crate::readers::{MOST_METRICS, ReadValues, no_such_metric, plain_word, require_no_boot};
use crate::series::{Collector, SeriesKey};

const MAIN: &str = "throughput";
const UNITS: &str = "throughput_units";

pub(crate) fn is_sign(line: &[u8]) -> bool {
    is_banner(line) || line.starts_with(b"THROUGHPUT=")
}

fn is_banner(line: &[u8]) -> bool {
    const TEST: &[u8] = b" TEST from ";
    line.first().is_some_and(u8::is_ascii_uppercase) && line.windows(TEST.len()).any(|part| part == TEST)
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    require_no_boot("netperf", options)?;
    let metric = options.metric.as_deref().filter(|metric| *metric != "all").unwrap_or(MAIN);
    let mut reader = NetperfReader {
        metric: plain_word(metric),
        collector: Collector::of_program(),
        ..NetperfReader::default()
    };
    for_each_line(input, |line| reader.take(line))?;
    reader.finish()
}

#[derive(Default)]
struct NetperfReader {
    metric: String,
    test: Option<Test>,
    columns: Vec<String>,
    /// Keywords: the value that waits for its unit.
    waiting: Option<(f64, FilePosition)>,
    unit: Option<String>,
    known: Vec<String>,
    collector: Collector,
    /// The first line that is not data.
    first_strange: Option<(FilePosition, String)>,
}

struct Test {
    place: FilePosition,
    kind: String,
    has_value: bool,
}

impl NetperfReader {
    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let content = line.bytes.trim_ascii();
        if is_banner(content) {
            self.close()?;
            self.test = Some(Test {
                place: FilePosition::start_of(line.number),
                kind: test_name(line.text_of(content)?),
                has_value: false,
            });
            (self.columns, self.unit) = (Vec::new(), None);
            return Ok(());
        }
        if let Some((key, value)) = keyword(line)? {
            return self.keyword(&plain_word(key), value, line);
        }
        let mut is_quoted = false;
        let separates = |byte: &u8| {
            is_quoted ^= *byte == b'"';
            *byte == b',' && !is_quoted
        };
        let fields: Vec<&[u8]> = content.split(separates).map(<[u8]>::trim_ascii).collect();
        // Lines of tables for people are padded.
        if !line.bytes.ends_with(b" ") && self.is_heading(&fields) {
            return self.heading(&fields, line);
        }
        if !self.columns.is_empty() && fields.len() == self.columns.len() {
            return self.row(&fields, line);
        }
        if !content.is_empty() {
            self.wonder(line);
        }
        Ok(())
    }

    fn wonder(&mut self, line: &Line<'_>) {
        let place = FilePosition::start_of(line.number);
        self.collector.leave_out("lines that are no results of netperf", place);
        self.first_strange.get_or_insert_with(|| (place, quoted(line.bytes)));
    }

    fn keyword(&mut self, key: &str, value: &[u8], line: &Line<'_>) -> Result<(), Fault> {
        self.learn(key);
        self.circumstance(key, value, line)?;
        if key == UNITS && self.metric == MAIN {
            self.unit = Some(line.text_of(value)?.to_owned());
        }
        if key == self.metric {
            self.flush()?;
            let place = line.place_of(value);
            self.waiting = Some((self.measured(value, place)?, place));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Fault> {
        let Some((value, place)) = self.waiting.take() else { return Ok(()) };
        self.push(value, self.unit.clone(), place)
    }

    fn close(&mut self) -> Result<(), Fault> {
        self.flush()?;
        if let Some(test) = self.test.take().filter(|test| !test.has_value) {
            self.collector.leave_out(&format!("tests without {}", self.metric), test.place);
        }
        Ok(())
    }

    fn is_heading(&self, fields: &[&[u8]]) -> bool {
        let is_title = |field: &&[u8]| {
            field.iter().any(u8::is_ascii_alphabetic)
                && !field.iter().any(|byte| b":=\"^".contains(byte))
                && !field.windows(2).any(|pair| pair == b"  ")
        };
        if !fields.iter().all(is_title) {
            return false;
        }
        let names: Vec<String> =
            fields.iter().map(|field| plain_word(&String::from_utf8_lossy(field))).collect();
        let has_metric = |names: &[String]| names.contains(&self.metric);
        if self.columns.is_empty() {
            return names.len() > 1 || has_metric(&names);
        }
        names == self.columns || has_metric(&names) && !has_metric(&self.columns)
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
        let Some(value) = column(&self.metric) else {
            if self.test.is_none() {
                self.wonder(line);
            }
            return Ok(());
        };
        let units = column(UNITS).filter(|_| self.metric == MAIN);
        let unit = units.map(|units| line.text_of(fields[units])).transpose()?.map(str::to_owned);
        let place = line.place_of(fields[value]);
        let value = self.measured(fields[value], place)?;
        let names = std::mem::take(&mut self.columns);
        names.iter().zip(fields).try_for_each(|(name, field)| self.circumstance(name, field, line))?;
        self.columns = names;
        self.push(value, unit, place)
    }

    fn circumstance(&mut self, name: &str, value: &[u8], line: &Line<'_>) -> Result<(), Fault> {
        let is_result = ["final", "end"].iter().any(|word| name.ends_with(word));
        if ["protocol", "direction"].contains(&name) || name.contains("size") && !is_result {
            self.collector.found.add_setting(name, line.text_of(value)?);
        }
        Ok(())
    }

    fn measured(&self, word: &[u8], place: FilePosition) -> Result<f64, Fault> {
        let value = measured(word, place)?;
        // netperf writes -1 for CPU use that it was not asked to measure.
        if value == -1.0 && self.metric.contains("cpu") {
            let what = format!("netperf did not measure {}", self.metric);
            return Err(Fault::new(place, what, "run it with -c and -C"));
        }
        Ok(value)
    }

    fn push(&mut self, value: f64, unit: Option<String>, place: FilePosition) -> Result<(), Fault> {
        let kind = self.test.as_mut().map(|test| {
            test.has_value = true;
            test.kind.clone()
        });
        let unit = unit.map(|unit| unit.replace("/sec", "/s"));
        let key = SeriesKey { metric: Some(self.metric.clone()), unit, kind, ..SeriesKey::default() };
        self.collector.push(&key, None, value, place)
    }

    fn learn(&mut self, name: &str) {
        if self.known.len() < MOST_METRICS
            && name.len() <= LONGEST_NAME
            && !self.known.iter().any(|known| known == name)
        {
            self.known.push(name.to_owned());
        }
    }

    fn finish(mut self) -> Result<ReadValues, Fault> {
        self.close()?;
        if !self.known.is_empty() && !self.known.contains(&self.metric) {
            return Err(no_such_metric(&self.metric, &self.known));
        }
        if let (Some((place, text)), 0) = (&self.first_strange, self.collector.values) {
            let what = format!("{text}, which is no result: netperf's text for people has rounded figures");
            return Err(Fault::new(*place, what, "let it write data with -- -o or -- -k"));
        }
        self.collector.finish()
    }
}

/// The name of a test with its parameters: `TCP REQUEST/RESPONSE, first burst 0`.
fn test_name(banner: &str) -> String {
    let (name, rest) = banner.split_once(" TEST ").unwrap_or((banner, ""));
    let name = name.strip_prefix("MIGRATED ").unwrap_or(name);
    let is_asked = |word: &&str| !["", "demo", "histogram"].contains(word) && !word.ends_with(" conf.");
    let asked = rest.split(" : ").skip(1).map(str::trim).filter(is_asked);
    std::iter::once(name).chain(asked).collect::<Vec<_>>().join(", ")
}

fn keyword<'a>(line: &Line<'a>) -> Result<Option<(&'a str, &'a [u8])>, Fault> {
    let Some(equals) = line.bytes.iter().position(|byte| *byte == b'=') else { return Ok(None) };
    let key = &line.bytes[..equals];
    let is_key = key.first().is_some_and(u8::is_ascii_uppercase)
        && key.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    if is_key { Ok(Some((line.text_of(key)?, line.bytes[equals + 1..].trim_ascii()))) } else { Ok(None) }
}
