//! A text file, line by line, in bounded memory.

use std::io::{BufRead, BufReader, Read};

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::LONGEST_LINE;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Its bytes without the newline, and without a carriage return before it.
    pub(crate) bytes: &'a [u8],
}

pub(crate) fn for_each_line(
    input: impl Read,
    mut take: impl FnMut(&Line<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        input.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if line.len() > LONGEST_LINE {
            let place = FilePosition { line: number, column: LONGEST_LINE as u64 + 1 };
            let way_out = "this is not a file of measurements, or its newlines are missing";
            return Err(Fault::new(place, format!("a line of more than {LONGEST_LINE} bytes"), way_out));
        }
        let bytes = line.strip_suffix(b"\n").unwrap_or(&line);
        take(&Line { number, bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes) })?;
    }
}

impl<'a> Line<'a> {
    pub(crate) fn place_of(&self, part: &[u8]) -> FilePosition {
        let column = (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize);
        FilePosition { line: self.number, column: column.min(self.bytes.len()) as u64 + 1 }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.bytes.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
    }

    pub(crate) fn text_of<'b>(&self, part: &'b [u8]) -> Result<&'b str, Fault> {
        str::from_utf8(part).map_err(|error| {
            let place = self.place_of(&part[error.valid_up_to()..]);
            Fault::new(place, "bytes that are not UTF-8", "convert the file with iconv -t UTF-8")
        })
    }
}

pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    // UTF-8's encoding of U+FEFF.
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The most frequent of comma, semicolon and tab, if any.
pub(crate) fn separator(line: &[u8]) -> Option<u8> {
    let count = |separator: u8| line.iter().filter(|byte| **byte == separator).count();
    let most = [b'\t', b';', b','].into_iter().max_by_key(|separator| count(*separator))?;
    (count(most) > 0).then_some(most)
}

pub(crate) fn measured(word: &[u8], place: FilePosition) -> Result<f64, Fault> {
    let way_out = match crate::ministat::parse_number(word) {
        Some(value) if value.is_finite() => return Ok(value),
        Some(_) => {
            let what = format!("{} is not a measurement", quoted(word));
            return Err(Fault::new(place, what, "leave the run out, and say that it failed"));
        }
        None if word.is_empty() => {
            let what = "no number where one is expected";
            return Err(Fault::new(place, what, "leave the line out, or complete it"));
        }
        None if word.contains(&b',') => {
            "write a decimal point, not a comma; several columns need a first line with their names"
        }
        None => "write numbers like 1234.5 or 1.2e3, and # before what is not data",
    };
    Err(Fault::new(place, format!("{} is not a number", quoted(word)), way_out))
}

#[cfg(test)]
mod tests;
