//! A text file, line by line, in bounded memory.

use std::io;
use std::io::Read;

use crate::error::{Fault, FilePosition, quoted};
use crate::limits::LONGEST_LINE;

/// Bytes of one read: they stay in the processor's cache until they are parsed.
const BLOCK: usize = 1 << 18;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Its bytes without the newline, and without a carriage return before it.
    pub(crate) bytes: &'a [u8],
}

/// Calls `take` with each line of an input.
pub(crate) fn for_each_line(
    mut input: impl Read,
    mut take: impl FnMut(&Line<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut buffer, mut held, mut number) = (Vec::new(), 0, 0);
    let mut next = |bytes: &[u8]| {
        number += 1;
        take(&Line { number, bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes) })
    };
    loop {
        // The beginning of a line waits at the beginning of the buffer.
        if buffer.len() < held + BLOCK {
            buffer.resize(held + BLOCK, 0);
        }
        let end = held + read(&mut input, &mut buffer[held..])?;
        if end == held {
            return if held > 0 { next(&buffer[..held]) } else { Ok(()) };
        }
        let (mut start, mut scanned) = (0, held);
        while let Some(length) = buffer[scanned..end].iter().position(|byte| *byte == b'\n') {
            next(&buffer[start..scanned + length])?;
            start = scanned + length + 1;
            scanned = start;
        }
        buffer.copy_within(start..end, 0);
        held = end - start;
        if held > LONGEST_LINE {
            return Err(Fault::new(
                FilePosition::new(number + 1, LONGEST_LINE as u64 + 1),
                format!("a line of more than {LONGEST_LINE} bytes"),
                "this is not a file of measurements, or its newlines are missing",
            ));
        }
    }
}

/// Reads once, and again after interruptions.
pub(crate) fn read(input: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl<'a> Line<'a> {
    pub(crate) fn place_of(&self, part: &[u8]) -> FilePosition {
        let column = (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize);
        FilePosition::new(self.number, column.min(self.bytes.len()) as u64 + 1)
    }

    /// The words between blanks and tabs.
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

/// Text without a byte order mark (UTF-8's encoding of U+FEFF).
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The separator of a heading: the most frequent of comma, semicolon and tab, if any.
pub(crate) fn separator(line: &[u8]) -> Option<u8> {
    let count = |separator: u8| line.iter().filter(|byte| **byte == separator).count();
    let most = [b'\t', b';', b','].into_iter().max_by_key(|separator| count(*separator))?;
    (count(most) > 0).then_some(most)
}

/// A number in the place of a measurement.
pub(crate) fn measured(word: &[u8], place: FilePosition) -> Result<f64, Fault> {
    match ministat::parse_number(word) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(Fault::new(
            place,
            format!("{} is not a measurement", quoted(word)),
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
            Err(Fault::new(place, format!("{} is not a number", quoted(word)), way_out))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let size = self.1.min(into.len()).min(self.0.len());
            into[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    fn lines(input: impl Read) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for_each_line(input, |line| {
            assert_eq!(line.number, all.len() as u64 + 1);
            all.push(line.bytes.to_vec());
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        assert_eq!(lines(&b"a\r\n\nb"[..]), [b"a".to_vec(), vec![], b"b".to_vec()]);
        assert_eq!(lines(&b"a\n"[..]), [b"a"]);
        assert!(lines(&b""[..]).is_empty());
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_is_read() {
        let endless = io::Read::chain(&b"1\n"[..], io::repeat(b'7'));
        let Err(Fault::Content { place, .. }) = for_each_line(endless, |_| Ok(())) else {
            panic!("it is too long")
        };
        assert_eq!(place, FilePosition::new(2, LONGEST_LINE as u64 + 1));
    }

    #[test]
    fn places_and_words() {
        let line = Line { number: 7, bytes: b" ab\tc\xff " };
        let words: Vec<&[u8]> = line.words().collect();
        assert_eq!(words, [b"ab".as_slice(), b"c\xff"]);
        assert_eq!(line.place_of(words[1]), FilePosition::new(7, 5));
        let Err(Fault::Content { place, .. }) = line.text_of(line.bytes) else { panic!("it is not UTF-8") };
        assert_eq!(place, FilePosition::new(7, 6));
    }

    proptest! {
        #[test]
        fn how_the_bytes_arrive_does_not_matter(text in "[ab\r\n]{0,40}", size in 1_usize..9) {
            prop_assert_eq!(lines(Dribble(text.as_bytes(), size)), lines(text.as_bytes()));
        }
    }
}
