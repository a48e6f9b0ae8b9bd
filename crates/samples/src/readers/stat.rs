//! ministat's files: one value per line.
//!
//! Comments may describe the values, as in netassay's own export: `# condition: ipv6`, `# metric:
//! throughput (Mbit/s)`, `# columns: value, boot`. Lines of several words need such a comment, or
//! an option: a unit or a size behind the value looks like the name of a boot.

use std::io::Read;

use ministat::parse_decimal_prefix;

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::{MOST_BOOTS, MOST_VALUES};
use crate::lines::{Line, for_each_line, measured};
use crate::options::{Column, Options};
use crate::readers::{ReadValues, no_such_metric, plain_word};
use crate::series::{Names, Series, SeriesKey, bounded, too_many_values};

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let mut reader = Reader::new(options)?;
    for_each_line(input, |line| reader.take(line))?;
    reader.finish(options)
}

struct Reader {
    column: usize,
    /// The column of the boots, from 1.
    boot: Option<usize>,
    /// Whether an option or a comment names the columns.
    are_columns_known: bool,
    /// Whether a comment may say which column names boots.
    may_name_boots: bool,
    names: Names,
    key: SeriesKey,
    values: Vec<f64>,
    numbers: Vec<u32>,
    last: FilePosition,
}

/// The number of a column, from 1, other than the one that is taken.
fn column_number(word: &str, holds: &str, option: &str, taken: usize) -> Result<usize, Fault> {
    word.parse().ok().filter(|at| *at > 0 && *at != taken).ok_or_else(|| {
        Fault::new(
            FilePosition::start_of(1),
            format!("a file of this format has no column {word:?} of {holds}"),
            format!("give the column's number from 1, such as {option} 2"),
        )
    })
}

impl Reader {
    fn new(options: &Options) -> Result<Reader, Fault> {
        let column = options.value.as_deref();
        let column = column.map_or(Ok(1), |word| column_number(word, "values", "--column", 0))?;
        let boot = match &options.boot {
            Some(Column::Named(word)) => Some(column_number(word, "boots", "--boot", column)?),
            Some(Column::None) | None => None,
        };
        Ok(Reader {
            column,
            boot,
            are_columns_known: boot.is_some() || options.value.is_some(),
            may_name_boots: options.boot.is_none() && options.value.is_none(),
            names: Names::default(),
            key: SeriesKey::default(),
            values: Vec::new(),
            numbers: Vec::new(),
            last: FilePosition::default(),
        })
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        // Most lines are a single number.
        if self.column == 1
            && let Some((value, length)) = parse_decimal_prefix(line.bytes)
            && length == line.bytes.len()
            && value.is_finite()
        {
            if let Some(column) = self.boot {
                return Err(too_short(line, column));
            }
            return self.push(value, FilePosition::start_of(line.number));
        }
        match line.words().next() {
            None => Ok(()),
            Some(word) if word.starts_with(b"#") => self.comment(line),
            Some(_) => self.columns(line),
        }
    }

    fn columns(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let (mut value, mut boot, mut unknown) = (None, None, None);
        for (word, number) in line.words().take_while(|word| !word.starts_with(b"#")).zip(1..) {
            if number == self.column {
                value = Some(word);
            } else if Some(number) == self.boot {
                boot = Some(word);
            }
            if number == 2 && !self.are_columns_known {
                unknown = Some(word);
            }
        }
        let Some(value) = value else { return Err(too_short(line, self.column)) };
        let place = line.place_of(value);
        let value = measured(value, place)?;
        if let Some(word) = unknown {
            return Err(unknown_columns(line, word));
        }
        match (self.boot, boot) {
            (Some(column), None) => return Err(too_short(line, column)),
            (Some(_), Some(boot)) => self.boot(boot, line.place_of(boot))?,
            (None, _) => {}
        }
        self.push(value, place)
    }

    fn push(&mut self, value: f64, place: FilePosition) -> Result<(), Fault> {
        if self.values.len() == MOST_VALUES {
            return Err(too_many_values(place));
        }
        self.key.require_possible(value, place)?;
        self.values.push(value);
        self.last = place;
        Ok(())
    }

    fn boot(&mut self, name: &[u8], place: FilePosition) -> Result<(), Fault> {
        bounded(name, place)?;
        self.numbers.push(self.names.number(name));
        if self.names.len() > MOST_BOOTS {
            return Err(Fault::new(place, format!("more than {MOST_BOOTS} boots"), "give --boot none"));
        }
        Ok(())
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
            b"columns" if self.values.is_empty() => {
                self.are_columns_known = true;
                let column = said.split(|byte| *byte == b',').position(|word| word.trim_ascii() == b"boot");
                if let (Some(column), true) = (column, self.may_name_boots) {
                    self.boot = Some(column + 1);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self, options: &Options) -> Result<ReadValues, Fault> {
        if let Some(wanted) = options.metric.as_deref().filter(|wanted| *wanted != "all") {
            match &self.key.metric {
                Some(own) if plain_word(own) == plain_word(wanted) => {}
                Some(own) => {
                    return Err(no_such_metric(wanted, std::slice::from_ref(own)));
                }
                None => self.key.metric = Some(wanted.to_owned()),
            }
        }
        let mut found = ReadValues { boots: self.names.into_names(), ..ReadValues::default() };
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

fn unknown_columns(line: &Line<'_>, second: &[u8]) -> Fault {
    let count = line.words().take_while(|word| !word.starts_with(b"#")).count();
    Fault::new(
        line.place_of(second),
        format!("{count} words in {}, and nothing says which is the value", quoted(line.bytes)),
        "-C NUMBER names its column, and --boot NUMBER that of the boots",
    )
}

fn too_short(line: &Line<'_>, column: usize) -> Fault {
    let end = FilePosition::new(line.number, line.bytes.len() as u64 + 1);
    Fault::new(
        end,
        format!("no column {column} in {}", quoted(line.bytes)),
        "complete the line, or put # before it",
    )
}
