//! ministat's files: one value per line.
//!
//! Comments may describe the values, as in netassay's own export: `# condition: ipv6`, `# metric:
//! throughput (Mbit/s)`, `# columns: value, boot`. Without such a comment, a second column is read
//! as boots if every line has exactly two columns and some word in the second is repeated.

use std::io::Read;

use ministat::parse_decimal_prefix;

use super::{Found, no_such_metric, plain_word};
use crate::error::{Fault, Place, quoted};
use crate::limits::{MOST_BOOTS, MOST_VALUES};
use crate::lines::{Line, Lines};
use crate::names::Names;
use crate::options::{Column, Options};
use crate::series::{Key, Series, bounded, too_many_values};
use crate::word::measured;

pub(crate) fn read(input: impl Read, options: &Options) -> Result<Found, Fault> {
    let mut reader = Reader::new(options)?;
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        reader.take(&line)?;
    }
    reader.finish(options)
}

/// Why a second column is not read as boots.
const DIFFERENT: &str = "the second column has another word on each line";

struct Reader {
    column: usize,
    boots: BootColumn,
    names: Names,
    key: Key,
    values: Vec<f64>,
    numbers: Vec<u32>,
    last: Place,
    notes: Vec<String>,
}

/// The column of the boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BootColumn {
    Nowhere,
    /// In this column, from 1, in each line.
    At(usize),
    /// Perhaps in the second.
    Perhaps,
}

impl Reader {
    fn new(options: &Options) -> Result<Reader, Fault> {
        let column = options.value_column.unwrap_or(1);
        let boots = match &options.boot {
            Some(Column::None) => BootColumn::Nowhere,
            Some(Column::Named(name)) => match name.parse() {
                Ok(at) if at > 0 && at != column => BootColumn::At(at),
                _ => {
                    return Err(Fault::new(
                        Place::start_of(1),
                        format!("a file of this format has no column {name:?} of boots"),
                        "give the column's number from 1, such as --boot 2",
                    ));
                }
            },
            None if column == 1 => BootColumn::Perhaps,
            None => BootColumn::Nowhere,
        };
        Ok(Reader {
            column,
            boots,
            names: Names::default(),
            key: Key::default(),
            values: Vec::new(),
            numbers: Vec::new(),
            last: Place::default(),
            notes: Vec::new(),
        })
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        // Most lines are a single number.
        if self.column == 1
            && let Some((value, length)) = parse_decimal_prefix(line.bytes)
            && length == line.bytes.len()
            && value.is_finite()
        {
            match self.boots {
                BootColumn::Nowhere => {}
                BootColumn::Perhaps => self.doubt(line.number),
                BootColumn::At(column) => return Err(too_short(line, column)),
            }
            return self.push(value, Place::start_of(line.number));
        }
        match line.words().next() {
            None => Ok(()),
            Some(word) if word.starts_with(b"#") => self.comment(line),
            Some(_) => self.columns(line),
        }
    }

    fn columns(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let mut value = None;
        let mut boot = None;
        let mut count = 0;
        for word in line.words().take_while(|word| !word.starts_with(b"#")) {
            count += 1;
            if count == self.column {
                value = Some(word);
            }
            match self.boots {
                BootColumn::At(column) if count == column => boot = Some(word),
                BootColumn::Perhaps if count == 2 => boot = Some(word),
                _ => {}
            }
        }
        let Some(value) = value else { return Err(too_short(line, self.column)) };
        let place = line.place_of(value);
        let value = measured(value, place)?;
        match (self.boots, boot) {
            (BootColumn::At(column), None) => return Err(too_short(line, column)),
            (BootColumn::At(_), Some(boot)) => self.boot(boot, line.place_of(boot))?,
            // A boot for almost every run is not a boot (see `finish`), so it is not kept.
            (BootColumn::Perhaps, Some(_)) if self.names.len() == MOST_BOOTS => self.give_up(DIFFERENT),
            (BootColumn::Perhaps, Some(boot)) if count == 2 => self.boot(boot, line.place_of(boot))?,
            (BootColumn::Perhaps, _) => self.doubt(line.number),
            (BootColumn::Nowhere, _) => {}
        }
        self.push(value, place)
    }

    fn push(&mut self, value: f64, place: Place) -> Result<(), Fault> {
        if self.values.len() == MOST_VALUES {
            return Err(too_many_values(place));
        }
        self.values.push(value);
        self.last = place;
        Ok(())
    }

    fn boot(&mut self, name: &[u8], place: Place) -> Result<(), Fault> {
        bounded(name, place)?;
        self.numbers.push(self.names.number(name));
        if self.names.len() > MOST_BOOTS {
            return Err(Fault::new(place, format!("more than {MOST_BOOTS} boots"), "give --boot none"));
        }
        Ok(())
    }

    /// This line does not have two columns, so the second column of the others is something else.
    fn doubt(&mut self, line: u64) {
        self.give_up(&format!("line {line} does not have two columns as those before it"));
    }

    fn give_up(&mut self, why: &str) {
        self.boots = BootColumn::Nowhere;
        if !self.numbers.is_empty() {
            self.notes.push(format!(
                "{why}: the second column is not read as boots; use --boot 2 if it holds boots"
            ));
            self.numbers = Vec::new();
            self.names = Names::default();
        }
    }

    fn comment(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let content = line.bytes.trim_ascii_start();
        let content = content[1..].trim_ascii();
        let Some(colon) = content.iter().position(|byte| *byte == b':') else { return Ok(()) };
        let (word, said) = (&content[..colon], content[colon + 1..].trim_ascii());
        match word {
            b"condition" => self.key.condition = Some(name(line, said)?),
            b"metric" => {
                let text = name(line, said)?;
                let (metric, unit) = match text.strip_suffix(')').and_then(|text| text.split_once(" (")) {
                    Some((metric, unit)) => (metric.to_owned(), Some(unit.to_owned())),
                    None => (text, None),
                };
                (self.key.metric, self.key.unit) = (Some(metric), unit);
            }
            b"columns" => {
                let column = said.split(|byte| *byte == b',').position(|word| word.trim_ascii() == b"boot");
                if let (Some(column), BootColumn::Perhaps, true) =
                    (column, self.boots, self.values.is_empty())
                {
                    self.boots = BootColumn::At(column + 1);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self, options: &Options) -> Result<Found, Fault> {
        let are_different = self.names.len() == self.values.len() && self.values.len() > 1;
        if self.boots == BootColumn::Perhaps && are_different {
            self.give_up(DIFFERENT);
        }
        if let Some(wanted) = options.metric.as_deref().filter(|wanted| *wanted != "all") {
            match &self.key.metric {
                Some(own) if plain_word(own) == plain_word(wanted) => {}
                Some(own) => {
                    return Err(no_such_metric(wanted, std::slice::from_ref(own)));
                }
                None => self.key.metric = Some(wanted.to_owned()),
            }
        }
        let mut found = Found { boots: self.names.into_names(), notes: self.notes, ..Found::default() };
        if !self.values.is_empty() {
            found.series.push(Series {
                key: self.key,
                values: self.values,
                boots: self.numbers,
                last: self.last,
            });
        }
        Ok(found)
    }
}

fn name(line: &Line<'_>, said: &[u8]) -> Result<String, Fault> {
    bounded(said, line.place_of(said))?;
    Ok(line.text_of(said)?.to_owned())
}

fn too_short(line: &Line<'_>, column: usize) -> Fault {
    let end = Place::new(line.number, line.bytes.len() as u64 + 1);
    Fault::new(
        end,
        format!("no column {column} in {}", quoted(line.bytes)),
        "complete the line, or put # before it",
    )
}
