//! Which program wrote a file, as its first bytes tell.

use std::fmt;

use crate::error::{Fault, Place, quoted};
use crate::readers::{go, iperf, netperf};

/// A format of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// ministat's: a value a line, `#` starts a comment; a second column may name the boot.
    Stat,
    /// Columns with names, between commas, semicolons or tabulators.
    Csv,
    /// netperf's results as CSV (`-o`) or keywords (`-k`).
    Netperf,
    /// iperf's `-y C`.
    Iperf,
    /// iperf3's `-J`.
    Iperf3,
    /// hyperfine's `--export-json`.
    Hyperfine,
    /// Go's benchmark format.
    Go,
}

impl InputFormat {
    /// All of them.
    pub const ALL: [InputFormat; 7] = [
        InputFormat::Stat,
        InputFormat::Csv,
        InputFormat::Netperf,
        InputFormat::Iperf,
        InputFormat::Iperf3,
        InputFormat::Hyperfine,
        InputFormat::Go,
    ];

    /// The format that a file begins like.
    pub(crate) fn of(head: &[u8]) -> Result<InputFormat, Fault> {
        let text = without_mark(head);
        require_text(head)?;
        if text.trim_ascii_start().starts_with(b"{") {
            let is_hyperfine = first_key(text).is_some_and(|key| key == b"results");
            return Ok(if is_hyperfine { InputFormat::Hyperfine } else { InputFormat::Iperf3 });
        }
        let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).take(1000);
        if lines().any(go::is_result) {
            return Ok(InputFormat::Go);
        }
        if lines().any(netperf::is_sign) {
            return Ok(InputFormat::Netperf);
        }
        let data = lines().find(|line| !line.is_empty() && !line.starts_with(b"#"));
        Ok(match data {
            Some(line) if iperf::is_line(line) => InputFormat::Iperf,
            Some(line) if is_heading(line) => InputFormat::Csv,
            _ => InputFormat::Stat,
        })
    }
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stat => "stat",
            Self::Csv => "csv",
            Self::Netperf => "netperf",
            Self::Iperf => "iperf",
            Self::Iperf3 => "iperf3",
            Self::Hyperfine => "hyperfine",
            Self::Go => "go",
        })
    }
}

/// Text without the mark that some editors put before it (UTF-8's encoding of U+FEFF).
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// No format here has a NUL, and what is not text has one soon.
fn require_text(head: &[u8]) -> Result<(), Fault> {
    let Some(nul) = head.iter().position(|byte| *byte == 0) else { return Ok(()) };
    let before = &head[..nul];
    let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() as u64 + 1;
    let (what, way_out) = match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => ("UTF-16 text", "convert it with iconv -f UTF-16 -t UTF-8"),
        [0x1f, 0x8b, ..] => ("compressed by gzip", "unpack it with gunzip"),
        _ => ("a NUL byte, which no text has", "give a text file"),
    };
    Err(Fault::new(Place::new(line, column), what, way_out))
}

/// The first key of a JSON object.
fn first_key(text: &[u8]) -> Option<&[u8]> {
    text.split(|byte| *byte == b'"').nth(1)
}

/// Whether a line is names with separators between them, and not numbers.
fn is_heading(line: &[u8]) -> bool {
    let Some(separator) = separator(line) else { return false };
    let first = line.split(|byte| *byte == separator).next().unwrap_or_default().trim_ascii();
    ministat::parse_number(first).is_none()
}

/// What stands between the columns of a heading: the most frequent of comma, semicolon and tabulator, if any.
pub(crate) fn separator(line: &[u8]) -> Option<u8> {
    let count = |separator: u8| line.iter().filter(|byte| **byte == separator).count();
    let most = [b'\t', b';', b','].into_iter().max_by_key(|separator| count(*separator))?;
    (count(most) > 0).then_some(most)
}

/// A number in a measurement's place.
pub(crate) fn measured(word: &[u8], place: Place) -> Result<f64, Fault> {
    match ministat::parse_number(word) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(Fault::new(
            place,
            format!("{} is no measurement", quoted(word)),
            "leave the run out, and say that it failed",
        )),
        None if word.is_empty() => {
            Err(Fault::new(place, "no number where one is expected", "leave the line out, or complete it"))
        }
        None => {
            let way_out = if word.contains(&b',') {
                "write a decimal point, not a comma; several columns need a first line with their names"
            } else {
                "write numbers like 1234.5 or 1.2e3, and # before what is not data"
            };
            Err(Fault::new(place, format!("{} is no number", quoted(word)), way_out))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_lines() {
        use InputFormat::{Csv, Go, Hyperfine, Iperf, Iperf3, Netperf, Stat};
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
            ("{", Iperf3),
            ("20261121122148,127.0.0.1,43032,127.0.0.1,5303,1,0.0-0.5,1397096508,22353544128\n", Iperf),
            ("goos: linux\nBenchmarkX-8 \t 100\t 12.5 ns/op\n", Go),
            ("MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 127.0.0.1 ()\n", Netperf),
            ("LOCAL_CPU_UTIL=1.0\nTHROUGHPUT=34755.68\n", Netperf),
        ] {
            assert_eq!(InputFormat::of(text.as_bytes()).unwrap(), format, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        for (bytes, expected, words) in [
            (&b"1\n2\0"[..], Place::new(2, 2), "NUL"),
            (b"\xff\xfe1\0\n\0", Place::new(1, 4), "UTF-16"),
            (b"\x1f\x8b\x08\0", Place::new(1, 4), "gzip"),
        ] {
            let Err(Fault::Content { place, what, .. }) = InputFormat::of(bytes) else { panic!("{bytes:?}") };
            assert_eq!(place, expected);
            assert!(what.contains(words), "{what}");
        }
    }
}
