//! (fuzzing) A journal as text, without a file.

use super::line::{Change, Header, Record, write};

/// The text of a journal that records these changes.
pub fn written(changes: &[Change]) -> Vec<u8> {
    let begun = Record::Begun(Header::new(1, 2, "boot".to_owned(), "net:[1]".to_owned()));
    let records = [begun].into_iter().chain(changes.iter().cloned().map(Record::Change));
    records.flat_map(|record| write(&record)).collect()
}
