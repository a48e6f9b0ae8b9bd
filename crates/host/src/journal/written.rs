//! (fuzzing) A journal as text, without a file.

use super::line::{Announced, Header, Record, write};
use crate::machine::{Target, Value};

/// The text of a journal that announces changes of these settings from these values.
pub fn written(changes: &[(Target, Value)]) -> Vec<u8> {
    let begun = Record::Begun(Header::new(1, 2, "boot".to_owned(), "net:[1]".to_owned()));
    let announced = |(number, (target, before)): (u32, &(Target, Value))| {
        Record::Change(Announced { number, target: target.clone(), before: before.clone() })
    };
    let records = [begun].into_iter().chain((1..).zip(changes).map(announced));
    records.flat_map(|record| write(&record)).collect()
}
