//! A file of measurements, after reading.

use std::io;
use std::io::Read;

use crate::error::{Fault, FilePosition, SamplesError};
use crate::limits::LARGEST_FILE;
use crate::lines::{separator, without_mark};
use crate::options::{InputFormat, Options};
use crate::readers::{ReadValues, csv, hyperfine, iperf, iperf3, netperf, stat};

// The bytes of a file that decide its format.
const HEAD: u64 = 1 << 16;

/// A file with its content.
#[derive(Debug)]
pub struct MeasurementFile {
    /// Its name in messages, and the default name of its condition.
    pub(crate) file: String,
    /// The condition, if the caller gives one.
    pub condition: Option<String>,
    /// The format, as requested or detected.
    pub format: InputFormat,
    pub(crate) found: ReadValues,
}

impl MeasurementFile {
    /// Reads a file; `file` is its name in messages.
    ///
    /// # Errors
    /// [`SamplesError`] for content that is not measurements, and for a file without values.
    pub fn read(file: &str, input: impl Read, options: &Options) -> Result<MeasurementFile, SamplesError> {
        let (format, found) = read_format(input, options).map_err(|fault| fault.in_file(file))?;
        Ok(MeasurementFile { file: file.to_owned(), condition: None, format, found })
    }

    /// The number of its values.
    pub fn values(&self) -> usize {
        self.found.series.iter().map(|series| series.values.len()).sum()
    }
}

fn read_format(mut input: impl Read, options: &Options) -> Result<(InputFormat, ReadValues), Fault> {
    let mut head = Vec::new();
    (&mut input).take(HEAD).read_to_end(&mut head)?;
    let recognised = format_of(&head);
    let format = options.format.map_or(recognised, Ok)?;
    // Endless comments would never reach a limit of values.
    let mut rest = input.take(LARGEST_FILE);
    let whole = without_mark(&head).chain(&mut rest);
    let found = match format {
        InputFormat::Stat => stat::read(whole, options),
        InputFormat::Csv => csv::read(whole, options),
        InputFormat::Netperf => netperf::read(whole, options),
        InputFormat::Iperf => iperf::read(whole, options),
        InputFormat::Iperf3 => iperf3::read(whole, options),
        InputFormat::Hyperfine => hyperfine::read(whole, options),
    };
    if rest.limit() == 0 {
        let error = format!("more than {LARGEST_FILE} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error).into());
    }
    let mut found = found?;
    if found.series.is_empty() {
        let what = if head.is_empty() { "an empty file" } else { "no measurement in the whole file" };
        let way_out =
            format!("give a file with values (it was read as {format}; --input-format takes another)");
        return Err(Fault::new(FilePosition::start_of(1), what, way_out));
    }
    found.series.iter_mut().for_each(|series| series.key = std::mem::take(&mut series.key).plain());
    found.notes.iter_mut().for_each(|note| *note = words::sanitised_line(note).into_owned());
    Ok((format, found))
}

pub(crate) fn format_of(head: &[u8]) -> Result<InputFormat, Fault> {
    let text = without_mark(head);
    require_text(head)?;
    // The only key of hyperfine's object.
    let json = || {
        let object = text.iter().position(|byte| *byte == b'{').map_or(text, |start| &text[start + 1..]);
        let is_hyperfine = object.trim_ascii_start().starts_with(b"\"results\"");
        if is_hyperfine { InputFormat::Hyperfine } else { InputFormat::Iperf3 }
    };
    if text.trim_ascii_start().starts_with(b"{") {
        return Ok(json());
    }
    let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).take(1000);
    if lines().any(netperf::is_sign) {
        return Ok(InputFormat::Netperf);
    }
    // Warnings before JSON are refused by its reader.
    if lines().any(|line| line == b"{") {
        return Ok(json());
    }
    require_data(lines())?;
    let data = lines().find(|line| !line.is_empty() && !line.starts_with(b"#"));
    Ok(match data {
        Some(line) if iperf::is_line(line) => InputFormat::Iperf,
        Some(line) if is_heading(line) => InputFormat::Csv,
        _ => InputFormat::Stat,
    })
}

fn require_text(head: &[u8]) -> Result<(), Fault> {
    // No format here has a NUL; binary data soon do.
    let Some(nul) = head.iter().position(|byte| *byte == 0) else { return Ok(()) };
    let place = FilePosition::start_of(1).after(&head[..nul]);
    let (what, way_out) = match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => ("UTF-16 text", "convert it with iconv -f UTF-16 -t UTF-8"),
        [0x1f, 0x8b, ..] => ("compressed by gzip", "unpack it with gunzip"),
        _ => ("a NUL byte, which no text has", "give a text file"),
    };
    Err(Fault::new(place, what, way_out))
}

/// Rejects output for people, which has too few digits to compare.
fn require_data<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Result<(), Fault> {
    // The beginning of a line, the program that writes it, and its option for data.
    const TEXTS: [(&[u8], &str, &str); 7] = [
        (b"Connecting to host ", "iperf3", "-J"),
        (b"Server listening on ", "iperf3 or iperf", "-J (iperf3) or -y C (iperf)"),
        (b"[ ID] Interval", "iperf3 or iperf", "-J (iperf3) or -y C (iperf)"),
        (b"[ID] Interval", "iperf", "-y C"),
        (b"Client connecting to ", "iperf", "-y C"),
        (b"Benchmark 1: ", "hyperfine", "--export-json FILE"),
        (b"Benchmark #1: ", "hyperfine", "--export-json FILE"),
    ];
    for (line, number) in lines.zip(1..) {
        if let Some((_, program, option)) = TEXTS.iter().find(|(start, ..)| line.starts_with(start)) {
            let what = format!("the text of {program} for people, whose figures are rounded");
            let way_out = format!("let it write data with {option}");
            return Err(Fault::new(FilePosition::start_of(number), what, way_out));
        }
    }
    Ok(())
}

fn is_heading(line: &[u8]) -> bool {
    let Some(separator) = separator(line) else { return false };
    let first = line.split(|byte| *byte == separator).next().unwrap_or_default().trim_ascii();
    crate::ministat::parse_number(first).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_lines() {
        use InputFormat::{Csv, Hyperfine, Iperf, Iperf3, Netperf, Stat};
        for (text, format) in [
            ("1.5\n2\n", Stat),
            ("# a,b\n1.5 1\n", Stat),
            ("", Stat),
            ("value\n1\n", Stat),
            ("1,5\n", Stat),
            ("\u{feff}value,boot\n1,2\n", Csv),
            ("# x\nvalue;boot\n", Csv),
            ("value\tboot\n", Csv),
            ("{\"start\": {}}", Iperf3),
            (" {\n\"results\": []}", Hyperfine),
            (r#"{"end": {"results": 1}, "title": "results"}"#, Iperf3),
            ("{", Iperf3),
            ("20261121122148,127.0.0.1,43032,127.0.0.1,5303,1,0.0-0.5,1397096508,22353544128\n", Iperf),
            ("MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 127.0.0.1 ()\n", Netperf),
            ("LOCAL_CPU_UTIL=1.0\nTHROUGHPUT=34755.68\n", Netperf),
        ] {
            assert_eq!(format_of(text.as_bytes()).unwrap(), format, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        for (bytes, expected, words) in [
            (&b"1\n2\0"[..], FilePosition { line: 2, column: 2 }, "NUL"),
            (b"\xff\xfe1\0\n\0", FilePosition { line: 1, column: 4 }, "UTF-16"),
            (b"\x1f\x8b\x08\0", FilePosition { line: 1, column: 4 }, "gzip"),
        ] {
            let Err(Fault::Content { place, what, .. }) = format_of(bytes) else { panic!("{bytes:?}") };
            assert_eq!(place, expected);
            assert!(what.contains(words), "{what}");
        }
    }
}
