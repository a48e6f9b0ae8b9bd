//! ministat's input format: lines, columns, comments.

use memchr::memchr;

use crate::ministat::number::{is_space, parse_number};

/// The format of values in a file.
#[derive(Clone, Debug)]
pub struct Format {
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

impl Format {
    /// Values are in this column, from 1, between runs of any of these bytes. A line longer than
    /// `longest_line` bytes is several.
    ///
    /// # Panics
    /// If `column` or `longest_line` is 0.
    pub fn new(column: usize, delimiters: &[u8], longest_line: usize) -> Format {
        assert!(column > 0 && longest_line > 0, "columns and bytes are counted from 1");
        let mut is_delimiter = [false; 256];
        for byte in delimiters {
            is_delimiter[usize::from(*byte)] = true;
        }
        Format { column, is_delimiter, longest_line }
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
        while !rest.is_empty() {
            lines += 1;
            let line = self.line(rest);
            if let Some(token) = self.token(content(line)) {
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

fn content(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| *byte == 0).unwrap_or(line.len());
    let blanks = line[..end].iter().rev().take_while(|byte| is_space(**byte)).count();
    &line[..end - blanks]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(format: &Format, bytes: &[u8]) -> (Vec<f64>, Result<u64, InvalidData>) {
        let mut values = Vec::new();
        let lines = format.read(bytes, &mut values);
        (values, lines)
    }

    fn plain() -> Format {
        Format::new(1, b" \t", 8191)
    }

    #[test]
    fn numbers_comments_and_blanks() {
        let (values, lines) = read(&plain(), b"1\n\n# x\n\t 2 # y\r\n 3.5\r\n-4 junk\n16\x00z\n7");
        assert_eq!((values, lines), (vec![1.0, 2.0, 3.5, -4.0, 16.0, 7.0], Ok(8)));
        assert_eq!(read(&plain(), b"1\n5#x\n2\n"), (vec![1.0], Err(InvalidData { line: 2 })));
    }

    #[test]
    fn another_column_between_other_bytes() {
        let format = Format::new(2, b",;", 8191);
        let text = b"a,1\n;b;; 2,,\nc\n#,3\nd,#3\n,e,4\n";
        assert_eq!(read(&format, text), (vec![1.0, 2.0, 4.0], Ok(6)));
        assert_eq!(read(&format, b"a,1 ,b\n").1, Err(InvalidData { line: 1 }));
    }

    #[test]
    fn delimiters_that_numbers_are_made_of() {
        assert_eq!(read(&Format::new(1, b"e", 8191), b"1e5\n2E5\n").0, [1.0, 2e5]);
        assert_eq!(read(&Format::new(2, b" E", 8191), b"a 1E5\n").0, [1.0]);
        assert!(read(&Format::new(2, b"\n", 8191), b"1\n2\n").0.is_empty());
    }

    #[test]
    fn long_lines_are_cut() {
        let format = Format::new(1, b" \t", 4);
        assert_eq!(read(&format, b"123456\n7\n"), (vec![1234.0, 56.0, 7.0], Ok(3)));
        assert_eq!(
            read(&format, b"1234\n7\n"),
            (vec![1234.0, 7.0], Ok(3)),
            "the newline alone is a line too"
        );
        assert_eq!(read(&format, b"123\n"), (vec![123.0], Ok(1)));
        assert_eq!(format.complete(b"12345678901"), 8);
        assert_eq!(format.complete(b"1\n123"), 2);
        assert_eq!(format.complete(b"1\n12345"), 6);
        assert_eq!(format.complete(b""), 0);
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_does_not_matter(
            text in r"([0-9.#, \t\n-]|nan|\n){0,60}",
            column in 1_usize..3,
            at in 0_usize..60,
        ) {
            let format = Format::new(column, b" \t,", 7);
            let text = text.as_bytes();
            let whole = read(&format, text);
            let first = format.complete(&text[..at.min(text.len())]);
            let mut parts = read(&format, &text[..first]);
            if let Ok(lines) = parts.1 {
                let (values, result) = read(&format, &text[first..]);
                parts.0.extend(values);
                let later = |error: InvalidData| InvalidData { line: lines + error.line };
                parts.1 = result.map(|more| lines + more).map_err(later);
            }
            prop_assert_eq!(format!("{:?}", parts), format!("{:?}", whole));
        }

        #[test]
        fn any_bytes(text: Vec<u8>, delimiters: Vec<u8>, column in 1_usize..4, longest in 1_usize..20) {
            let format = Format::new(column, &delimiters, longest);
            prop_assert!(format.complete(&text) <= text.len());
            let (values, lines) = read(&format, &text);
            prop_assert!(values.len() as u64 <= lines.unwrap_or_else(|error| error.line));
        }
    }
}
