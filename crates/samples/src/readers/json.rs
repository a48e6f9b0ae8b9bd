//! JSON documents in sequence, each with its place, in bounded memory: values that no reader needs
//! are skipped.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::error::{Fault, Place};
use crate::limits::{LARGEST_JSON, LONGEST_LINE};

/// Calls `take` with each document of an input and the place where it begins.
pub(crate) fn each<T: DeserializeOwned>(
    input: impl Read,
    mut take: impl FnMut(T, Place) -> Result<(), Fault>,
) -> Result<(), Fault> {
    each_within(LARGEST_JSON, input, &mut take)
}

fn each_within<T: DeserializeOwned>(
    largest: u64,
    input: impl Read,
    take: &mut impl FnMut(T, Place) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let progress = Rc::new(Cell::new(Progress { left: largest, ..Progress::default() }));
    let watched = Watched { input: BufReader::with_capacity(1 << 16, input), progress: Rc::clone(&progress) };
    for document in serde_json::Deserializer::from_reader(watched).into_iter::<T>() {
        let begin = progress.get().begin.unwrap_or(Place::start_of(1));
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
    begin: Option<Place>,
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
            self.begin = Some(Place::new(self.newlines + 1, self.column));
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

    fn here(&self) -> Place {
        Place::new(self.newlines + 1, self.column + 1)
    }
}

/// An input that counts its position. serde_json reads one byte at a time.
struct Watched<R> {
    input: R,
    progress: Rc<Cell<Progress>>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut progress = self.progress.get();
        if progress.left == 0 || progress.token > LONGEST_LINE {
            return Err(io::Error::other(TooLarge));
        }
        let read = self.input.read(into)?;
        for byte in &into[..read] {
            progress.advance(*byte);
        }
        progress.left = progress.left.saturating_sub(read as u64);
        self.progress.set(progress);
        Ok(read)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("too large")]
struct TooLarge;

fn fault(error: serde_json::Error, progress: &Progress, begin: Place) -> Fault {
    if error.is_io() {
        return if progress.left == 0 {
            let what = format!("more than {} MiB of JSON", LARGEST_JSON >> 20);
            Fault::new(progress.here(), what, "give the documents as several files")
        } else if progress.token > LONGEST_LINE {
            let what = format!("a string or number of more than {LONGEST_LINE} bytes");
            Fault::new(progress.here(), what, "give the unchanged output of the program")
        } else {
            Fault::Read(error.into())
        };
    }
    let place = match (error.line() as u64, error.column() as u64) {
        (0, _) => begin,
        (line, column) => Place::new(line, column.max(1)),
    };
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    let way_out = if error.is_eof() {
        "the file was cut off; give the whole one"
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

    fn read(largest: u64, text: &str) -> (Vec<(u8, Place)>, Option<Place>) {
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
        let (all, end) = read(100, " 1\n\n  2 \n3");
        assert_eq!(all, [(1, Place::new(1, 2)), (2, Place::new(3, 3)), (3, Place::new(4, 1))]);
        assert_eq!(end, None);
    }

    #[test]
    fn faults_have_places() {
        assert_eq!(read(100, "1\n x").1, Some(Place::new(2, 2)));
        assert_eq!(read(100, "1\n[").1.map(|place| place.line), Some(2));
        let long = format!("1\n\"\\\"{}", "1 ".repeat(LONGEST_LINE));
        assert_eq!(read(u64::MAX, &long).1, Some(Place::new(2, LONGEST_LINE as u64 + 3)));
        assert_eq!(read(5, "1\n2\n3\n4\n").1, Some(Place::new(3, 2)));
    }
}
