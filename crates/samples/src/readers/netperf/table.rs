//! netperf's tables for people.
//!
//! The tables of the classic tests have a heading whose last line begins with `bytes`, a blank
//! line, and one line of figures; for UDP a second line has what was received. Their figures are
//! not aligned with the heading, so they are counted. Those of the omni tests have four lines of
//! heading, some of them blank, and figures that begin where their heading begins.

use crate::error::{Fault, FilePosition};
use crate::lines::{Line, measured};
use crate::readers::netperf::plain_word;

/// Lines of the heading of an omni test.
const HEADING: usize = 4;

/// Columns of UDP's sender that its receiver lacks: the size of messages, and errors.
const SENDERS: usize = 2;

/// The first words of further tables (`-v 2`): they have no throughput of their own.
const FURTHER: [&[u8]; 3] = [b"Alignment", b"Maximum", b"Histogram"];

#[derive(Debug, Default)]
pub(super) struct Table {
    /// The heading so far.
    heading: Vec<Vec<u8>>,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum State {
    #[default]
    Heading,
    /// A classic test's figures come.
    Figures(Columns),
    /// UDP's figures of the receiver come.
    Received(Columns),
    Done,
    /// A further table, up to a blank line.
    Further,
}

/// The columns of a classic test.
#[derive(Clone, Debug, PartialEq)]
struct Columns {
    count: usize,
    throughput: usize,
    unit: String,
}

/// The kind of a line.
pub(super) enum Content<'a> {
    /// A line of a table, without a result.
    Part,
    Throughput {
        value: f64,
        unit: String,
        place: FilePosition,
    },
    Row {
        names: Vec<String>,
        fields: Vec<&'a [u8]>,
    },
    /// Not of a table.
    Strange,
}

impl Table {
    pub(super) fn take<'a>(&mut self, line: &Line<'a>) -> Result<Content<'a>, Fault> {
        let words: Vec<&[u8]> = line.words().collect();
        let Some(first) = words.first() else {
            match self.state {
                State::Heading if self.heading.len() == HEADING => self.heading.clear(),
                State::Heading if !self.heading.is_empty() => self.heading.push(Vec::new()),
                State::Further => self.state = State::Done,
                _ => {}
            }
            return Ok(Content::Part);
        };
        let are_numbers = words.iter().all(|word| ministat::parse_number(word).is_some());
        match self.state.clone() {
            State::Heading if self.heading.len() == HEADING => Ok(self.omni(line)),
            State::Heading => {
                let is_padded = line.bytes.windows(2).any(|pair| pair == b"  ") || line.bytes.ends_with(b" ");
                if self.heading.is_empty() && !is_padded && line.bytes != b"Local /Remote" {
                    return Ok(Content::Strange);
                }
                self.heading.push(line.bytes.to_vec());
                if first.eq_ignore_ascii_case(b"bytes") {
                    match self.columns(&words) {
                        Some(columns) => self.state = State::Figures(columns),
                        None => {
                            *self = Table::default();
                            return Ok(Content::Strange);
                        }
                    }
                }
                Ok(Content::Part)
            }
            State::Figures(columns) if are_numbers && words.len() == columns.count => {
                if self.says("Errors") {
                    self.state = State::Received(columns);
                    return Ok(Content::Part);
                }
                self.throughput(words[columns.throughput], columns.unit, line)
            }
            State::Received(columns) if are_numbers && words.len() + SENDERS == columns.count => {
                match columns.throughput.checked_sub(SENDERS) {
                    Some(throughput) => self.throughput(words[throughput], columns.unit, line),
                    None => Ok(Content::Strange),
                }
            }
            State::Further => Ok(Content::Part),
            State::Done if FURTHER.contains(first) => {
                self.state = State::Further;
                Ok(Content::Part)
            }
            // The sizes of the other side's buffers.
            State::Done if are_numbers => Ok(Content::Part),
            State::Figures(_) | State::Received(_) | State::Done => Ok(Content::Strange),
        }
    }

    fn throughput<'a>(&mut self, word: &[u8], unit: String, line: &Line<'_>) -> Result<Content<'a>, Fault> {
        self.state = State::Done;
        let place = line.place_of(word);
        Ok(Content::Throughput { value: measured(word, place)?, unit, place })
    }

    /// Whether a word is in the heading.
    fn says(&self, wanted: &str) -> bool {
        let has = |line: &Vec<u8>| line.split(|byte| *byte == b' ').any(|word| word == wanted.as_bytes());
        self.heading.iter().any(has)
    }

    /// The columns of a classic test, by the last line of the heading, which has the units.
    fn columns(&self, words: &[&[u8]]) -> Option<Columns> {
        let mut units: Vec<String> = Vec::new();
        for word in words {
            let word = String::from_utf8_lossy(word);
            match units.last_mut() {
                // `% S`, `per sec`
                Some(last) if last == "%" || last == "per" => last.push_str(&format!(" {word}")),
                _ => units.push(word.into_owned()),
            }
        }
        let is_rate = |unit: &String| unit.ends_with("/s") || unit.ends_with("/sec") || unit == "per sec";
        let throughput = units.iter().position(is_rate)?;
        let unit = match units[throughput].as_str() {
            "per sec" if self.says("Trans.") => "Trans/s".to_owned(),
            // The unit stands above: `10^6bits`, `per sec`
            "per sec" => {
                let above = self.heading.len().checked_sub(2).map(|line| &self.heading[line])?;
                let is_unit = |word: &&[u8]| word.ends_with(b"bits") || word.ends_with(b"Bytes");
                let word = above.split(|byte| *byte == b' ').find(is_unit)?;
                format!("{}/s", String::from_utf8_lossy(word))
            }
            unit => unit.to_owned(),
        };
        Some(Columns { count: units.len(), throughput, unit })
    }

    /// The figures of an omni test; another table may follow.
    fn omni<'a>(&mut self, line: &Line<'a>) -> Content<'a> {
        let heading = std::mem::take(&mut self.heading);
        let begins = |bytes: &[u8], at: usize| {
            bytes.get(at).is_some_and(|byte| *byte != b' ') && (at == 0 || bytes[at - 1] == b' ')
        };
        let starts: Vec<usize> = (0..line.bytes.len())
            .filter(|at| begins(line.bytes, *at) && heading.iter().any(|words| begins(words, *at)))
            .collect();
        let mut names = Vec::new();
        let mut fields = Vec::new();
        for (index, start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied();
            let cell = |bytes: &'_ [u8]| bytes.len().min(end.unwrap_or(usize::MAX));
            fields.push(line.bytes[*start..cell(line.bytes)].trim_ascii());
            let title: Vec<String> = heading
                .iter()
                .filter_map(|words| words.get(*start..cell(words).max(*start).min(words.len())))
                .map(|part| String::from_utf8_lossy(part).trim().to_owned())
                .collect();
            names.push(plain_word(&title.join(" ")));
        }
        if names.is_empty() { Content::Strange } else { Content::Row { names, fields } }
    }
}
