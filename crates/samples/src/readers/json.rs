//! JSON documents in sequence, each with its place; C's `nan` and `-inf` are read as `null`.

use std::io::Read;

use serde::de::DeserializeOwned;

use crate::error::{Fault, FilePosition};
use crate::limits::LARGEST_JSON;

pub(crate) const KNOWN: &str = "netassay reads the JSON of iperf3 -J and hyperfine --export-json";

pub(crate) fn for_each_document<T: DeserializeOwned>(
    input: impl Read,
    mut take: impl FnMut(T, FilePosition) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut text = Vec::new();
    input.take(LARGEST_JSON + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST_JSON {
        let what = format!("more than {} MiB of JSON", LARGEST_JSON >> 20);
        return Err(Fault::new(FilePosition::start_of(1), what, "give the documents as several files"));
    }
    let text = with_nulls(&text);
    let mut documents = serde_json::Deserializer::from_slice(&text).into_iter::<T>();
    let (mut begin, mut read) = (FilePosition::start_of(1), 0);
    loop {
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let end = documents.byte_offset();
        let next = end + text[end..].iter().take_while(blank).count();
        begin = begin.after(&text[read..next]);
        read = next;
        let Some(document) = documents.next() else { return Ok(()) };
        take(document.map_err(|error| fault(&error, begin))?, begin)?;
    }
}

fn with_nulls(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut rest, mut is_in_string) = (text, false);
    while let Some(first) = rest.first() {
        let length = match first {
            b'\\' if is_in_string => rest.len().min(2),
            b'-' | b'n' | b'N' | b'i' | b'I' if !is_in_string => {
                1 + rest[1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count()
            }
            _ => 1,
        };
        is_in_string ^= *first == b'"';
        let (word, after) = rest.split_at(length);
        let number = word.strip_prefix(b"-").unwrap_or(word);
        let is_none = |none: &&[u8]| number.eq_ignore_ascii_case(none);
        out.extend(if [&b"nan"[..], b"inf", b"infinity"].iter().any(is_none) { &b"null"[..] } else { word });
        rest = after;
    }
    out
}

fn fault(error: &serde_json::Error, begin: FilePosition) -> Fault {
    let place = match (error.line() as u64, error.column() as u64) {
        (0, _) => begin,
        (line, column) => FilePosition { line, column: column.max(1) },
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
        KNOWN
    } else {
        "give the unchanged output of the program"
    };
    Fault::new(place, what, way_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> (Vec<(u8, FilePosition)>, Option<FilePosition>) {
        let mut all = Vec::new();
        let result = for_each_document(text.as_bytes(), |value: u8, place| {
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
        let (all, end) = numbers(" 1\n\n  2 \n3");
        assert_eq!(
            all,
            [
                (1, FilePosition { line: 1, column: 2 }),
                (2, FilePosition { line: 3, column: 3 }),
                (3, FilePosition { line: 4, column: 1 })
            ]
        );
        assert_eq!(end, None);
    }

    #[test]
    fn numbers_that_are_none_are_null() {
        let text = r#"[nan, -NaN, inf,-Infinity, "nan -inf \" nan", null, -1, 1]"#;
        let mut all = Vec::new();
        let take = |value: serde_json::Value, _: FilePosition| {
            all.push(value.to_string());
            Ok(())
        };
        for_each_document(text.as_bytes(), take).unwrap_or_else(|_| panic!("it is JSON"));
        assert_eq!(all, [r#"[null,null,null,null,"nan -inf \" nan",null,-1,1]"#]);
        assert_eq!(numbers("1\n nano").1, Some(FilePosition { line: 2, column: 3 }));
    }

    #[test]
    fn faults_have_places() {
        assert_eq!(numbers("1\n x").1, Some(FilePosition { line: 2, column: 2 }));
        assert_eq!(numbers("1\n[").1.map(|place| place.line), Some(2));
    }
}
