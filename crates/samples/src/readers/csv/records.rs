//! The records of a CSV file, each field with its place, in bounded memory.

use std::io::Read;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::{LONGEST_LINE, MOST_COLUMNS};
use crate::lines::{read, separator, without_mark};
use crate::series::bounded;

const BLOCK: usize = 1 << 16;

pub(super) struct Records<R> {
    input: R,
    parser: Reader,
    block: Vec<u8>,
    start: usize,
    end: usize,
    has_ended: bool,
    /// The place of the next byte.
    place: FilePosition,
    /// The fields of the current record, concatenated.
    bytes: Vec<u8>,
    /// The number of `bytes` that belong to the record.
    length: usize,
    fields: Vec<Field>,
    /// The number of fields of the first record.
    columns: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Field {
    start: usize,
    end: usize,
    place: FilePosition,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R) -> Result<Records<R>, Fault> {
        let mut records = Records {
            input,
            parser: Reader::new(),
            block: vec![0; BLOCK],
            start: 0,
            end: 0,
            has_ended: false,
            place: FilePosition::start_of(1),
            bytes: vec![0; 1 << 10],
            length: 0,
            fields: Vec::new(),
            columns: None,
        };
        records.skip_comments()?;
        let line = records.rest().split(|byte| *byte == b'\n').next().unwrap_or_default();
        records.parser = ReaderBuilder::new().delimiter(separator(line).unwrap_or(b',')).build();
        Ok(records)
    }

    /// Reads the next non-empty record; false at the end.
    pub(super) fn next(&mut self) -> Result<bool, Fault> {
        while self.record()? {
            let is_blank = matches!(self.fields[..], [Field { start, end, .. }] if start == end);
            if is_blank && self.columns != Some(1) {
                continue;
            }
            let columns = *self.columns.get_or_insert(self.fields.len());
            if self.fields.len() != columns {
                let last = self.fields[self.fields.len().min(columns + 1) - 1].place;
                return Err(Fault::new(
                    last,
                    format!("{} columns where the first line has {columns}", self.fields.len()),
                    "complete the row, or quote fields that hold the separator",
                ));
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field of the record, and its place.
    pub(super) fn field(&self, column: usize) -> (&[u8], FilePosition) {
        let field = self.fields[column];
        (&self.bytes[field.start..field.end], field.place)
    }

    pub(super) fn text(&self, column: usize) -> Result<&str, Fault> {
        let (field, place) = self.field(column);
        bounded(field, place)?;
        str::from_utf8(field).map_err(|_| {
            Fault::new(
                place,
                format!("bytes that are not UTF-8: {}", quoted(field)),
                "convert the file with iconv -t UTF-8",
            )
        })
    }

    fn rest(&self) -> &[u8] {
        &self.block[self.start..self.end]
    }

    /// Skips comments before the names of the columns, and a byte order mark.
    fn skip_comments(&mut self) -> Result<(), Fault> {
        self.fill()?;
        self.start += self.rest().len() - without_mark(self.rest()).len();
        while self.rest().first() == Some(&b'#') {
            let Some(newline) = self.rest().iter().position(|byte| *byte == b'\n') else {
                return Err(Fault::new(self.place, "a comment without an end", "end it with a newline"));
            };
            self.start += newline + 1;
            self.place = FilePosition::start_of(self.place.line + 1);
        }
        Ok(())
    }

    fn record(&mut self) -> Result<bool, Fault> {
        self.fields.clear();
        self.length = 0;
        let mut start = 0;
        let mut place = None;
        loop {
            if self.start == self.end && !self.has_ended {
                self.fill()?;
            }
            let rest = &self.block[self.start..self.end];
            let (result, read, written) = self.parser.read_field(rest, &mut self.bytes[self.length..]);
            if read > 0 {
                // Empty lines end before a record's first byte.
                let skipped = if self.fields.is_empty() && place.is_none() {
                    rest[..read].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
                } else {
                    0
                };
                let taken = (self.start, self.start + read);
                self.advance(taken.0, taken.0 + skipped);
                place.get_or_insert(self.place);
                self.advance(taken.0 + skipped, taken.1);
                self.start = taken.1;
            }
            self.length += written;
            match result {
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.grow()?,
                ReadFieldResult::Field { record_end } => {
                    let place = place.take().unwrap_or(self.place);
                    if self.fields.len() == MOST_COLUMNS {
                        return Err(Fault::new(
                            place,
                            format!("more than {MOST_COLUMNS} columns"),
                            "the file is not a table",
                        ));
                    }
                    self.fields.push(Field { start, end: self.length, place });
                    start = self.length;
                    if record_end {
                        return Ok(true);
                    }
                }
                ReadFieldResult::End => return Ok(false),
            }
        }
    }

    fn advance(&mut self, from: usize, to: usize) {
        let bytes = &self.block[from..to];
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => {
                self.place.line += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                self.place.column = (bytes.len() - last) as u64;
            }
            None => self.place.column += bytes.len() as u64,
        }
    }

    fn grow(&mut self) -> Result<(), Fault> {
        if self.bytes.len() >= LONGEST_LINE {
            return Err(Fault::new(
                self.place,
                format!("a row of more than {LONGEST_LINE} bytes"),
                "look for a quotation mark that is never closed",
            ));
        }
        let longer = self.bytes.len() * 2;
        self.bytes.resize(longer, 0);
        Ok(())
    }

    fn fill(&mut self) -> Result<(), Fault> {
        self.start = 0;
        self.end = read(&mut self.input, &mut self.block)?;
        self.has_ended = self.end == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_records(text: &str) -> Vec<Vec<(String, u64, u64)>> {
        let mut records = Records::new(text.as_bytes()).unwrap();
        let mut all = Vec::new();
        while records.next().unwrap() {
            let field = |column| {
                let (bytes, place) = records.field(column);
                (String::from_utf8(bytes.to_vec()).unwrap(), place.line, place.column)
            };
            all.push((0..records.len()).map(field).collect());
        }
        all
    }

    fn owned(fields: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
        fields.iter().map(|(text, line, column)| ((*text).to_owned(), *line, *column)).collect()
    }

    #[test]
    fn fields_have_places() {
        let text = "# about\nname,value\r\n\n\"a, \"\"b\"\"\",1\n\"two\nlines\",2\nx,3";
        assert_eq!(
            all_records(text),
            [
                owned(&[("name", 2, 1), ("value", 2, 6)]),
                owned(&[("a, \"b\"", 4, 1), ("1", 4, 12)]),
                owned(&[("two\nlines", 5, 1), ("2", 6, 8)]),
                owned(&[("x", 7, 1), ("3", 7, 3)]),
            ]
        );
    }

    #[test]
    fn rows_are_as_wide_as_the_first() {
        let mut records = Records::new(&b"a;b\n1;2;3\n"[..]).unwrap();
        assert!(records.next().unwrap());
        let Err(Fault::Content { place, .. }) = records.next() else { panic!("it is wider") };
        assert_eq!(place, FilePosition::new(2, 5));
    }

    #[test]
    fn an_open_quotation_mark_does_not_swallow_the_file() {
        let text = "a,b\n1,\"2\n".to_owned() + &"3,4\n".repeat(LONGEST_LINE);
        let mut records = Records::new(text.as_bytes()).unwrap();
        assert!(records.next().unwrap());
        assert!(matches!(records.next(), Err(Fault::Content { .. })));
    }
}
