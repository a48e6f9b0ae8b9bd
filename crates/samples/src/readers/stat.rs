//! ministat's files: one value per line.
//!
//! Comments may describe the values: `# condition: ipv6`, `# metric: throughput (Mbit/s)`. Lines of
//! several words need `# columns: value, boot`, or an option: a unit looks like a boot's name.

use std::io::Read;

use crate::error::{Fault, FilePosition, quoted};
use crate::lines::{Line, for_each_line, measured};
use crate::options::{BootColumn, Options};
use crate::readers::{ReadValues, no_such_metric, plain_word};
use crate::series::{Collector, SeriesKey, bounded};

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let mut reader = StatReader::new(options)?;
    for_each_line(input, |line| reader.take(line))?;
    reader.finish(options)
}

struct StatReader {
    column: usize,
    /// The column of the boots, from 1.
    boot: Option<usize>,
    /// Whether an option or a comment names the columns.
    are_columns_known: bool,
    may_name_boots: bool,
    key: SeriesKey,
    collector: Collector,
}

/// Counts from 1; the column `taken` has another use.
fn column_number(word: &str, holds: &str, option: &str, taken: usize) -> Result<usize, Fault> {
    word.parse().ok().filter(|at| *at > 0 && *at != taken).ok_or_else(|| {
        let what = format!("a file of this format has no column {word:?} of {holds}");
        let way_out = format!("give the column's number from 1, such as {option} 2");
        Fault::new(FilePosition::start_of(1), what, way_out)
    })
}

impl StatReader {
    fn new(options: &Options) -> Result<StatReader, Fault> {
        let column = options.value.as_deref();
        let column = column.map_or(Ok(1), |word| column_number(word, "values", "--column", 0))?;
        let boot = match &options.boot {
            Some(BootColumn::Named(word)) => Some(column_number(word, "boots", "--boot", column)?),
            Some(BootColumn::None) | None => None,
        };
        Ok(StatReader {
            column,
            boot,
            are_columns_known: boot.is_some() || options.value.is_some(),
            may_name_boots: options.boot.is_none() && options.value.is_none(),
            key: SeriesKey::default(),
            collector: Collector::default(),
        })
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        match line.words().next() {
            None => Ok(()),
            Some(word) if word.starts_with(b"#") => self.comment(line),
            Some(_) => self.value(line),
        }
    }

    fn value(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let words = || line.words().take_while(|word| !word.starts_with(b"#"));
        let word = |column: usize| {
            words().nth(column - 1).ok_or_else(|| {
                let end = FilePosition { line: line.number, column: line.bytes.len() as u64 + 1 };
                let what = format!("no column {column} in {}", quoted(line.bytes));
                Fault::new(end, what, "complete the line, or put # before it")
            })
        };
        let place = line.place_of(word(self.column)?);
        let value = measured(word(self.column)?, place)?;
        if let (Some(second), false) = (words().nth(1), self.are_columns_known) {
            let count = words().count();
            let what =
                format!("{count} words in {}, and nothing says which is the value", quoted(line.bytes));
            let way_out = "-C NUMBER names its column, and --boot NUMBER that of the boots";
            return Err(Fault::new(line.place_of(second), what, way_out));
        }
        let boot = self.boot.map(word).transpose()?;
        self.key.require_possible(value, false, place)?;
        // Comments may name the series later.
        self.collector.push(&SeriesKey::default(), boot, value, place)
    }

    fn comment(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let content = line.bytes.trim_ascii_start()[1..].trim_ascii();
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
            b"columns" if self.collector.values == 0 => {
                self.are_columns_known = true;
                let columns = said.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                let boot = columns.zip(1..).find(|(word, _)| *word == b"boot").map(|(_, column)| column);
                if let (Some(column), true) = (boot, self.may_name_boots) {
                    if column == self.column {
                        let way_out = "put the values into the first column, or name the columns by options";
                        return Err(Fault::new(line.place_of(said), "boots where values are read", way_out));
                    }
                    self.boot = Some(column);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self, options: &Options) -> Result<ReadValues, Fault> {
        if let Some(wanted) = options.metric.as_deref().filter(|wanted| *wanted != "all") {
            let own = self.key.metric.get_or_insert_with(|| wanted.to_owned());
            if plain_word(own) != plain_word(wanted) {
                return Err(no_such_metric(wanted, std::slice::from_ref(own)));
            }
        }
        let mut found = self.collector.finish()?;
        found.series.iter_mut().for_each(|series| series.key = self.key.clone());
        Ok(found)
    }
}

fn name(line: &Line<'_>, said: &[u8]) -> Result<String, Fault> {
    bounded(said, line.place_of(said))?;
    Ok(line.text_of(said)?.to_owned())
}
