//! ministat's input format: lines, columns, comments.

use memchr::memchr;

use crate::ministat::number::{is_space, parse_number};

/// The format of values in a file.
#[derive(Clone, Debug)]
pub struct ValueFormat {
    column: usize,
    is_delimiter: [bool; 256],
    longest_line: usize,
}

/// A token in the column that is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidData {
    /// Its line, from 1, of the given bytes.
    pub line: u64,
}

impl ValueFormat {
    /// Values are in this column, from 1, between runs of any of these bytes. A line longer than
    /// `longest_line` bytes is several.
    ///
    /// # Panics
    /// If `column` or `longest_line` is 0.
    pub fn new(column: usize, delimiters: &[u8], longest_line: usize) -> ValueFormat {
        assert!(column > 0 && longest_line > 0, "columns and bytes are counted from 1");
        let mut is_delimiter = [false; 256];
        delimiters.iter().for_each(|byte| is_delimiter[usize::from(*byte)] = true);
        ValueFormat { column, is_delimiter, longest_line }
    }

    /// The length of the whole lines among these bytes, which begin with a line.
    pub fn complete(&self, bytes: &[u8]) -> usize {
        let after_newline = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = bytes.len() - after_newline;
        after_newline + rest / self.longest_line * self.longest_line
    }

    /// Appends the values of these lines, and returns the number of lines.
    ///
    /// # Errors
    /// [`InvalidData`] at the first token that is not a number; earlier values are appended.
    pub fn read(&self, bytes: &[u8], values: &mut Vec<f64>) -> Result<u64, InvalidData> {
        let mut lines = 0;
        let mut rest = bytes;
        // Asked once: it takes long for each short line.
        let has_nul = memchr(0, bytes).is_some();
        while !rest.is_empty() {
            lines += 1;
            let line = self.line(rest);
            if let Some(token) = self.token(content(line, has_nul)) {
                let value = parse_number(token).filter(|value| !value.is_nan());
                values.push(value.ok_or(InvalidData { line: lines })?);
            }
            rest = &rest[line.len()..];
        }
        Ok(lines)
    }

    fn line<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let most = &bytes[..bytes.len().min(self.longest_line)];
        memchr(b'\n', most).map_or(most, |newline| &most[..=newline])
    }

    /// The token in the column, unless a comment starts before it or with it.
    fn token<'a>(&self, content: &'a [u8]) -> Option<&'a [u8]> {
        let mut tokens =
            content.split(|byte| self.is_delimiter[usize::from(*byte)]).filter(|token| !token.is_empty());
        for _ in 1..self.column {
            if tokens.next()?[0] == b'#' {
                return None;
            }
        }
        tokens.next().filter(|token| token[0] != b'#')
    }
}

fn content(line: &[u8], has_nul: bool) -> &[u8] {
    let end = if has_nul { memchr(0, line) } else { None }.unwrap_or(line.len());
    let blanks = line[..end].iter().rev().take_while(|byte| is_space(**byte)).count();
    &line[..end - blanks]
}

#[cfg(test)]
mod tests;
