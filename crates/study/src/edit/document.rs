//! A study file before or after a change: values, and where they are written.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::read::table::{Entry, entries};

/// A table to begin from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base<'k> {
    /// The whole file.
    Root,
    /// A table of an array, by its place.
    Item(&'k str, usize),
}

pub(crate) struct Document<'t> {
    pub(crate) text: &'t str,
    root: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// The file, if it is TOML.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        Some(Self { text, root: DeTable::parse(text).ok()? })
    }

    /// The tables of an array (`workload`, `exclude`), with their places in it.
    pub(crate) fn tables(&self, key: &str) -> Vec<(usize, &DeTable<'t>)> {
        let Some(DeValue::Array(array)) = self.get(&[], key) else { return Vec::new() };
        let table = |(place, item)| match Spanned::get_ref(item) {
            DeValue::Table(table) => Some((place, table)),
            _ => None,
        };
        array.iter().enumerate().filter_map(table).collect()
    }

    /// The entries of a table of the file, in its order.
    pub(crate) fn entries(&self, table: &str) -> Vec<Entry<'_>> {
        match self.get(&[], table) {
            Some(DeValue::Table(table)) => entries(table),
            _ => Vec::new(),
        }
    }

    /// The value of a key in the table at this path.
    pub(crate) fn get(&self, path: &[&str], key: &str) -> Option<&DeValue<'t>> {
        inside(self.root.get_ref(), path)?.get(key).map(Spanned::get_ref)
    }

    /// The place of a key with its value, if it is there.
    pub(crate) fn find(&self, base: Base<'_>, path: &[&str]) -> Option<Range<usize>> {
        let table = match base {
            Base::Root => self.root.get_ref(),
            Base::Item(key, place) => self.tables(key).into_iter().find(|(other, _)| *other == place)?.1,
        };
        let (last, steps) = path.split_last()?;
        let entry = entries(inside(table, steps)?).into_iter().find(|entry| entry.key == *last)?;
        Some(entry.key_span.start..entry.span().end.max(entry.key_span.end))
    }
}

fn inside<'d, 't>(table: &'d DeTable<'t>, path: &[&str]) -> Option<&'d DeTable<'t>> {
    path.iter().try_fold(table, |table, step| match table.get(*step)?.get_ref() {
        DeValue::Table(inner) => Some(inner),
        _ => None,
    })
}
