//! A file of measurements, after reading.

use std::io::{self, Read};

use crate::error::{Fault, FilePosition, SamplesError};
use crate::format::InputFormat;
use crate::limits::LARGEST_FILE;
use crate::lines::read;
use crate::options::Options;
use crate::readers::{ReadValues, csv, go, hyperfine, iperf, iperf3, netperf, stat};
use crate::recognise::format_of;
use crate::token::without_mark;

/// The bytes of a file that decide its format.
const HEAD: usize = 1 << 16;

/// A file and its condition.
#[derive(Debug)]
pub struct Input {
    /// Its name in messages, and the default name of its condition.
    pub file: String,
    /// The condition, if the caller gave one.
    pub condition: Option<String>,
    /// Its content.
    pub sheet: MeasurementFile,
}

/// The content of a file.
#[derive(Debug)]
pub struct MeasurementFile {
    pub(crate) format: InputFormat,
    pub(crate) found: ReadValues,
}

impl MeasurementFile {
    /// Reads a file; `file` is its name in messages.
    ///
    /// # Errors
    /// [`SamplesError`] with file, line and column for content that is not measurements, and for a
    /// file without values.
    pub fn read(file: &str, input: impl Read, options: &Options) -> Result<MeasurementFile, SamplesError> {
        MeasurementFile::read_format(input, options).map_err(|fault| fault.in_file(file))
    }

    /// Its format.
    #[must_use]
    pub fn format(&self) -> InputFormat {
        self.format
    }

    /// The number of its values.
    #[must_use]
    pub fn values(&self) -> usize {
        self.found.series.iter().map(|series| series.values.len()).sum()
    }

    fn read_format(mut input: impl Read, options: &Options) -> Result<MeasurementFile, Fault> {
        let head = head(&mut input)?;
        let recognised = format_of(&head);
        let format = match options.format {
            Some(format) => format,
            None => recognised?,
        };
        let whole = without_mark(&head).chain(Bounded { input, left: LARGEST_FILE });
        let mut found = match format {
            InputFormat::Stat => stat::read(whole, options),
            InputFormat::Csv => csv::read(whole, options),
            InputFormat::Netperf => netperf::read(whole, options),
            InputFormat::Iperf => iperf::read(whole, options),
            InputFormat::Iperf3 => iperf3::read(whole, options),
            InputFormat::Hyperfine => hyperfine::read(whole, options),
            InputFormat::Go => go::read(whole, options),
        }?;
        if found.series.is_empty() {
            let what = if head.is_empty() { "an empty file" } else { "no measurement in the whole file" };
            return Err(Fault::new(
                FilePosition::start_of(1),
                what,
                format!("give a file with values (it was read as {format}; --input-format takes another)"),
            ));
        }
        for series in &mut found.series {
            series.key = std::mem::take(&mut series.key).plain();
        }
        for note in &mut found.notes {
            *note = words::sanitised_line(note).into_owned();
        }
        Ok(MeasurementFile { format, found })
    }
}

/// An input with an end: endless comments would never reach a limit of values.
struct Bounded<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {LARGEST_FILE} bytes"))
        })?;
        Ok(read)
    }
}

/// The first bytes, however they arrive.
fn head(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD];
    let mut length = 0;
    while length < HEAD {
        match read(input, &mut head[length..])? {
            0 => break,
            more => length += more,
        }
    }
    head.truncate(length);
    Ok(head)
}
