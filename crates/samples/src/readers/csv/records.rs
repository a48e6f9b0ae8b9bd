//! The records of a CSV file, each field with its place, in bounded memory.

use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::{LONGEST_LINE, MOST_COLUMNS};
use crate::lines::separator;
use crate::series::bounded;

pub(super) struct Records<R> {
    input: BufReader<R>,
    parser: Reader,
    place: FilePosition,
    bytes: Vec<u8>,
    /// Each with its place in `bytes`.
    fields: Vec<(Range<usize>, FilePosition)>,
    columns: Option<usize>,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R) -> Result<Records<R>, Fault> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let mut place = FilePosition::start_of(1);
        // Comments before the names of the columns.
        while let Some(b'#') = input.fill_buf()?.first() {
            let Some(newline) = input.buffer().iter().position(|byte| *byte == b'\n') else {
                return Err(Fault::new(place, "a comment without an end", "end it with a newline"));
            };
            input.consume(newline + 1);
            place = FilePosition::start_of(place.line + 1);
        }
        let line = input.buffer().split(|byte| *byte == b'\n').next().unwrap_or_default();
        let parser = ReaderBuilder::new().delimiter(separator(line).unwrap_or(b',')).build();
        Ok(Records { input, parser, place, bytes: vec![0; 1 << 10], fields: Vec::new(), columns: None })
    }

    /// Reads the next non-empty record; `false` at the end.
    pub(super) fn next(&mut self) -> Result<bool, Fault> {
        while self.record()? {
            let is_blank = matches!(&self.fields[..], [(range, _)] if range.is_empty());
            if is_blank && self.columns != Some(1) {
                continue;
            }
            let columns = *self.columns.get_or_insert(self.fields.len());
            if self.fields.len() != columns {
                let last = self.fields[self.fields.len().min(columns + 1) - 1].1;
                let what = format!("{} columns where the first line has {columns}", self.fields.len());
                let way_out = "complete the row, or quote fields that hold the separator";
                return Err(Fault::new(last, what, way_out));
            }
            return Ok(true);
        }
        Ok(false)
    }

    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn field(&self, column: usize) -> (&[u8], FilePosition) {
        let (range, place) = &self.fields[column];
        (&self.bytes[range.clone()], *place)
    }

    pub(super) fn text(&self, column: usize) -> Result<&str, Fault> {
        let (field, place) = self.field(column);
        bounded(field, place)?;
        str::from_utf8(field).map_err(|_| {
            let what = format!("bytes that are not UTF-8: {}", quoted(field));
            Fault::new(place, what, "convert the file with iconv -t UTF-8")
        })
    }

    fn record(&mut self) -> Result<bool, Fault> {
        self.fields.clear();
        let (mut start, mut length) = (0, 0);
        let mut place = None;
        loop {
            let rest = self.input.fill_buf()?;
            let (result, read, written) = self.parser.read_field(rest, &mut self.bytes[length..]);
            if read > 0 {
                // Empty lines end before a record's first byte.
                let skipped = if self.fields.is_empty() && place.is_none() {
                    rest[..read].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
                } else {
                    0
                };
                self.place = self.place.after(&rest[..skipped]);
                place.get_or_insert(self.place);
                self.place = self.place.after(&rest[skipped..read]);
                self.input.consume(read);
            }
            length += written;
            match result {
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull if self.bytes.len() >= LONGEST_LINE => {
                    let what = format!("a row of more than {LONGEST_LINE} bytes");
                    let way_out = "look for a quotation mark that is never closed";
                    return Err(Fault::new(self.place, what, way_out));
                }
                ReadFieldResult::OutputFull => self.bytes.resize(2 * self.bytes.len(), 0),
                ReadFieldResult::Field { record_end } => {
                    let place = place.take().unwrap_or(self.place);
                    if self.fields.len() == MOST_COLUMNS {
                        let what = format!("more than {MOST_COLUMNS} columns");
                        return Err(Fault::new(place, what, "the file is not a table"));
                    }
                    self.fields.push((start..length, place));
                    start = length;
                    if record_end {
                        return Ok(true);
                    }
                }
                ReadFieldResult::End => return Ok(false),
            }
        }
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
        assert_eq!(place, FilePosition { line: 2, column: 5 });
    }

    #[test]
    fn an_open_quotation_mark_does_not_swallow_the_file() {
        let text = "a,b\n1,\"2\n".to_owned() + &"3,4\n".repeat(LONGEST_LINE);
        let mut records = Records::new(text.as_bytes()).unwrap();
        assert!(records.next().unwrap());
        assert!(matches!(records.next(), Err(Fault::Content { .. })));
    }
}
