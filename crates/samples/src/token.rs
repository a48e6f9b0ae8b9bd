//! The parts of all formats: a byte order mark, separators, numbers.

use crate::error::{Fault, FilePosition, quoted};

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
