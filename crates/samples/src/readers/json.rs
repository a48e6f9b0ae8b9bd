//! JSON documents in sequence, each with its place, in bounded memory: values that no reader needs
//! are skipped. Words that C's printf writes for a number that is none (`nan`, `-inf`) are read as
//! `null`.

use std::io;
use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{BufReader, Read};
use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::error::{Fault, FilePosition};
use crate::limits::{LARGEST_JSON, LONGEST_LINE};
use crate::lines::read;

/// Calls `take` with each document of an input and the place where it begins.
pub(crate) fn for_each_document<T: DeserializeOwned>(
    input: impl Read,
    mut take: impl FnMut(T, FilePosition) -> Result<(), Fault>,
) -> Result<(), Fault> {
    each_within(LARGEST_JSON, input, &mut take)
}

fn each_within<T: DeserializeOwned>(
    largest: u64,
    input: impl Read,
    take: &mut impl FnMut(T, FilePosition) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let progress = Rc::new(Cell::new(Progress { left: largest, ..Progress::default() }));
    let watched = Watched {
        input: BufReader::with_capacity(1 << 16, input),
        ahead: VecDeque::new(),
        progress: Rc::clone(&progress),
    };
    for document in serde_json::Deserializer::from_reader(watched).into_iter::<T>() {
        let begin = progress.get().begin.unwrap_or(FilePosition::start_of(1));
        progress.set(Progress { begin: None, ..progress.get() });
        let document = document.map_err(|error| fault(error, &progress.get(), begin))?;
        take(document, begin)?;
    }
    Ok(())
}

/// The position in an input.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Newlines so far.
    newlines: u64,
    /// Bytes since the last one.
    column: u64,
    /// The bytes that may still come.
    left: u64,
    /// The start of the current document.
    begin: Option<FilePosition>,
    /// Bytes of the current string or number.
    token: usize,
    in_string: bool,
    /// Whether the byte before, in a string, was a backslash.
    is_escaped: bool,
}

impl Progress {
    fn advance(&mut self, byte: u8) {
        self.column += 1;
        if !byte.is_ascii_whitespace() && self.begin.is_none() {
            self.begin = Some(FilePosition::new(self.newlines + 1, self.column));
        }
        if byte == b'\n' {
            self.newlines += 1;
            self.column = 0;
        }
        let ends_token = if self.in_string {
            let ends = byte == b'"' && !self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            self.in_string = !ends;
            ends
        } else {
            self.in_string = byte == b'"';
            byte.is_ascii_whitespace() || b"{}[]:,\"".contains(&byte)
        };
        self.token = if ends_token { 0 } else { self.token + 1 };
    }

    fn place(&self) -> FilePosition {
        FilePosition::new(self.newlines + 1, self.column + 1)
    }
}

/// An input that counts its position. serde_json reads one byte at a time.
struct Watched<R> {
    input: R,
    /// Bytes that were read to know a word.
    ahead: VecDeque<u8>,
    progress: Rc<Cell<Progress>>,
}

impl<R: Read> Watched<R> {
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((read(&mut self.input, &mut byte)? > 0).then_some(byte[0]))
    }

    /// The next byte outside strings.
    fn next_outside(&mut self) -> io::Result<Option<u8>> {
        const LONGEST: usize = "-infinity".len();
        let Some(first) = self.byte()? else { return Ok(None) };
        if !b"-nNiI".contains(&first) {
            return Ok(Some(first));
        }
        let mut word = vec![first];
        let after = loop {
            match self.byte()? {
                Some(letter) if letter.is_ascii_alphabetic() && word.len() < LONGEST => word.push(letter),
                other => break other,
            }
        };
        let number = word.strip_prefix(b"-").unwrap_or(&word).to_ascii_lowercase();
        let is_none = [&b"nan"[..], b"inf", b"infinity"].contains(&number.as_slice());
        self.ahead.extend(if is_none { &b"null"[..] } else { &word });
        self.ahead.extend(after);
        Ok(self.ahead.pop_front())
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut progress = self.progress.get();
        if progress.left == 0 || progress.token > LONGEST_LINE {
            return Err(io::Error::other(TooLarge));
        }
        let next = match self.ahead.pop_front() {
            Some(byte) => Some(byte),
            None if progress.in_string => self.byte()?,
            None => self.next_outside()?,
        };
        let (Some(byte), Some(place)) = (next, into.first_mut()) else { return Ok(0) };
        *place = byte;
        progress.advance(byte);
        progress.left = progress.left.saturating_sub(1);
        self.progress.set(progress);
        Ok(1)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("too large")]
struct TooLarge;

fn fault(error: serde_json::Error, progress: &Progress, begin: FilePosition) -> Fault {
    if error.is_io() {
        return if progress.left == 0 {
            let what = format!("more than {} MiB of JSON", LARGEST_JSON >> 20);
            Fault::new(progress.place(), what, "give the documents as several files")
        } else if progress.token > LONGEST_LINE {
            let what = format!("a string or number of more than {LONGEST_LINE} bytes");
            Fault::new(progress.place(), what, "give the unchanged output of the program")
        } else {
            Fault::Read(error.into())
        };
    }
    let place = match (error.line() as u64, error.column() as u64) {
        (0, _) => begin,
        (line, column) => FilePosition::new(line, column.max(1)),
    };
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    let way_out = if what.starts_with("duplicate field") {
        "which of the two is meant is not said: iperf3 before 3.11 writes both directions of --bidir so; measure with a newer one, or each direction by itself"
    } else if error.is_eof() {
        "the file was cut off; give the whole one"
    } else if (begin.line, begin.column) == (place.line, place.column) {
        "text that is no JSON: delete the line, and keep standard error apart (2>FILE)"
    } else if error.is_data() {
        "netassay reads the JSON of iperf3 -J and hyperfine --export-json"
    } else {
        "give the unchanged output of the program"
    };
    Fault::new(place, what, way_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(largest: u64, text: &str) -> (Vec<(u8, FilePosition)>, Option<FilePosition>) {
        let mut all = Vec::new();
        let result = each_within(largest, text.as_bytes(), &mut |value: u8, place| {
            all.push((value, place));
            Ok(())
        });
        let place = match result {
            Ok(()) => None,
            Err(Fault::Content { place, .. }) => Some(place),
            Err(Fault::Read(error)) => panic!("{error}"),
        };
        (all, place)
    }

    #[test]
    fn documents_have_places() {
        let (all, end) = numbers(100, " 1\n\n  2 \n3");
        assert_eq!(
            all,
            [(1, FilePosition::new(1, 2)), (2, FilePosition::new(3, 3)), (3, FilePosition::new(4, 1))]
        );
        assert_eq!(end, None);
    }

    #[test]
    fn numbers_that_are_none_are_null() {
        let text = r#"[nan, -NaN, inf,-Infinity, "nan -inf", null, -1, 1]"#;
        let mut all = Vec::new();
        let mut take = |value: serde_json::Value, _: FilePosition| {
            all.push(value.to_string());
            Ok(())
        };
        each_within(100, text.as_bytes(), &mut take).unwrap_or_else(|_| panic!("it is JSON"));
        assert_eq!(all, [r#"[null,null,null,null,"nan -inf",null,-1,1]"#]);
        assert_eq!(numbers(100, "1\n nano").1, Some(FilePosition::new(2, 3)));
    }

    #[test]
    fn faults_have_places() {
        assert_eq!(numbers(100, "1\n x").1, Some(FilePosition::new(2, 2)));
        assert_eq!(numbers(100, "1\n[").1.map(|place| place.line), Some(2));
        let long = format!("1\n\"\\\"{}", "1 ".repeat(LONGEST_LINE));
        assert_eq!(numbers(u64::MAX, &long).1, Some(FilePosition::new(2, LONGEST_LINE as u64 + 3)));
        assert_eq!(numbers(5, "1\n2\n3\n4\n").1, Some(FilePosition::new(3, 2)));
    }
}
