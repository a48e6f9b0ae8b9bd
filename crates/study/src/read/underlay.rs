//! `[underlay]`.

use std::ops::Range;
use words::Family;

use crate::model::limit;
use crate::model::tables::UNDERLAY;
use crate::read::problems::Problems;
use crate::read::table::Table;
use crate::read::value::Value;

/// What the file says of the interfaces under its tunnel, and where.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) family: Option<Family>,
    /// The MTU in bytes.
    pub(crate) mtu: Option<u32>,
    /// The keys that are written, with the places of their values.
    pub(crate) written: Vec<(&'static str, Range<usize>)>,
}

/// The table.
pub(crate) fn read(mut table: Table<'_>, problems: &mut Problems) -> Read {
    let mut read = Read::default();
    if let Some(entry) = table.take("family") {
        read.written.push(("family", entry.span()));
        read.family = Value::of(&entry).word(problems);
    }
    if let Some(entry) = table.take("mtu") {
        read.written.push(("mtu", entry.span()));
        read.mtu = Value::of(&entry).small_or_default(limit::MTU, problems).flatten();
    }
    table.finish(&UNDERLAY.keys(), problems);
    read
}
