//! A study file that is changed in its syntax tree, so that everything else stays, comments too.

use std::cmp::Ordering;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_edit::{DocumentMut, InlineTable, Item, Key, RawString, Table, TableLike, Value};

use crate::read::factor::flatten;
use crate::read::value::entries;
use crate::read::{Entry, Problems};

pub(crate) struct File(DocumentMut);

impl File {
    pub(crate) fn read(text: &str) -> Option<Self> {
        Some(Self(text.parse().ok()?))
    }

    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }

    /// Sets a key, and makes tables that are missing. `None` where the file has something else
    /// there.
    pub(crate) fn put(&mut self, base: Base, path: &[&str], value: Value) -> Option<()> {
        let (last, steps) = path.split_last()?;
        for depth in 0..steps.len() {
            let outer = self.table(base, &steps[..depth])?;
            if !outer.contains_key(steps[depth]) {
                let mut table = Table::new();
                table.set_dotted(depth > 0 || base != Base::Root);
                outer.insert(steps[depth], Item::Table(table));
            }
        }
        let table = self.table(base, steps)?;
        match table.get_mut(last) {
            Some(item) => {
                let old = item.as_value_mut()?;
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            None => {
                table.insert(last, Item::Value(value));
            }
        }
        Some(())
    }

    /// Makes a table of a value: it becomes the value of this key there. Nothing where there is no
    /// value, or a table already.
    pub(crate) fn widen(&mut self, path: &[&str], key: &str) {
        let Some((last, steps)) = path.split_last() else { return };
        let Some(table) = self.table(Base::Root, steps) else { return };
        let Some(value) = table.get_mut(last).and_then(Item::as_value_mut) else { return };
        if value.is_inline_table() {
            return;
        }
        let decor = value.decor().clone();
        let mut inner = InlineTable::new();
        let mut old = std::mem::replace(value, Value::from(0));
        old.decor_mut().clear();
        inner.insert(key, old);
        *value = Value::InlineTable(inner);
        *value.decor_mut() = decor;
    }

    /// Makes a factor the first: the last one varies fastest, and the file's own stay together.
    pub(crate) fn put_first(&mut self, key: &str, value: Value) -> Option<()> {
        self.put(Base::Root, &["factors", key], value)?;
        let first = |one: &Key, other: &Key| -> Ordering { (one.get() != key).cmp(&(other.get() != key)) };
        match self.0.get_mut("factors")? {
            Item::Table(table) => table.sort_values_by(|one, _, other, _| first(one, other)),
            Item::Value(Value::InlineTable(table)) => {
                table.sort_values_by(|one, _, other, _| first(one, other));
            }
            _ => return None,
        }
        Some(())
    }

    /// Removes a key with its value and the comment directly above it.
    pub(crate) fn take(&mut self, base: Base, path: &[&str]) -> Option<()> {
        let (last, steps) = path.split_last()?;
        let table = self.table(base, steps)?;
        let prefix = table.key(last)?.leaf_decor().prefix().and_then(RawString::as_str).unwrap_or_default();
        let apart = prefix.rfind("\n\n").map_or("", |blank| &prefix[..blank + 2]).to_owned();
        let next = table.iter().map(|(key, _)| key).skip_while(|key| key != last).nth(1).map(str::to_owned);
        table.remove(last);
        if let Some(mut next) = next.filter(|_| !apart.is_empty()).and_then(|next| table.key_mut(&next)) {
            let decor = next.leaf_decor_mut();
            let own = decor.prefix().and_then(RawString::as_str).unwrap_or_default();
            decor.set_prefix(apart + own);
        }
        Some(())
    }

    pub(crate) fn take_item(&mut self, key: &str, place: usize) {
        match self.0.get_mut(key) {
            Some(Item::ArrayOfTables(tables)) => drop(tables.remove(place)),
            Some(Item::Value(Value::Array(array))) if array.len() > 1 => drop(array.remove(place)),
            Some(Item::Value(Value::Array(_))) => drop(self.0.remove(key)),
            _ => {}
        }
    }

    fn table(&mut self, base: Base, path: &[&str]) -> Option<&mut dyn TableLike> {
        let table: &mut dyn TableLike = match base {
            Base::Root => self.0.as_table_mut(),
            Base::Item(key, place) => match self.0.get_mut(key)? {
                Item::ArrayOfTables(tables) => tables.get_mut(place)?,
                Item::Value(array) => array.as_array_mut()?.get_mut(place)?.as_inline_table_mut()?,
                _ => return None,
            },
        };
        path.iter().try_fold(table, |table, step| table.get_mut(step)?.as_table_like_mut())
    }
}

/// The text as the tree writes it. The tree writes dotted keys of one table (`receiver.gro`) one
/// after the other. Where a file has other factors between them, quoted keys keep the order of the
/// conditions.
pub(crate) fn in_order(document: &Document<'_>) -> Option<String> {
    let mut file = File::read(document.text)?;
    let order = factors(document);
    if factors(&Document::read(&file.text())?) == order {
        return Some(file.text());
    }
    for path in order {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let (last, steps) = path.split_last()?;
        let table = file.table(Base::Root, &[&["factors"], steps].concat())?;
        let (decor, item) = (table.key(last)?.leaf_decor().clone(), table.remove(last)?);
        let table = file.table(Base::Root, &["factors"])?;
        table.insert(&path.join("."), item);
        *table.key_mut(&path.join("."))?.leaf_decor_mut() = decor;
    }
    Some(file.text())
}

/// The factors of a file by the keys that lead to them, in its order.
fn factors(document: &Document<'_>) -> Vec<Vec<String>> {
    let named = flatten(document.entries("factors"), &mut Problems::default());
    named.iter().map(|named| named.path.iter().map(ToString::to_string).collect()).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Root,
    /// A table of an array, by its place.
    Item(&'static str, usize),
}

pub(crate) struct Document<'t> {
    pub(crate) text: &'t str,
    root: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
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
    pub(crate) fn find(&self, base: Base, path: &[&str]) -> Option<Range<usize>> {
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
