//! A study file that is changed in its syntax tree, so that everything else stays, comments too.

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};
use words::{Scenario, Word as _};

use crate::model::Varied;
use crate::read::factor::flatten;
use crate::read::value::entries;
use crate::read::{Problems, Stale};

pub(crate) struct File(pub(crate) DocumentMut);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Root,
    Item(&'static str, usize),
}

impl File {
    /// Makes tables that are missing; `None` where the file has something else there.
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

    pub(crate) fn wrap(&mut self, path: &[&str], key: &str) -> Option<()> {
        let (last, steps) = path.split_last()?;
        let value = self.table(Base::Root, steps)?.get_mut(last)?.as_value_mut()?;
        if !value.is_inline_table() {
            let decor = value.decor().clone();
            let mut old = std::mem::replace(value, InlineTable::new().into());
            old.decor_mut().clear();
            value.as_inline_table_mut()?.insert(key, old);
            *value.decor_mut() = decor;
        }
        Some(())
    }

    pub(crate) fn put_first(&mut self, factor: &str) {
        if let Some(factors) = self.0.get_mut("factors").and_then(Item::as_table_mut) {
            // The last factor varies fastest, and the file's own stay together.
            factors.sort_values_by(|one, _, other, _| (one != factor).cmp(&(other != factor)));
        }
    }

    pub(crate) fn take(&mut self, base: Base, path: &[&str]) -> Option<Item> {
        let (last, steps) = path.split_last()?;
        self.table(base, steps)?.remove(last)
    }

    /// A scenario of namespaces first becomes its scenario of machines.
    pub(crate) fn without(&mut self, stale: &[Stale]) -> Option<()> {
        let mut tables = BTreeSet::new();
        // Backwards, so that the places of earlier levels stay valid.
        for Stale { table: (key, place), path, level } in stale.iter().rev() {
            let base = Base::Item(key, *place);
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let Some((last, steps)) = path.split_last() else {
                tables.insert((*key, *place));
                continue;
            };
            // Without a baseline the first condition is compared with.
            if path[0] == "baseline" {
                self.take(base, &path[..1]);
                continue;
            }
            let value = self.table(base, steps)?.get_mut(last)?.as_value_mut()?;
            if let Some(level) = level.filter(|_| value.is_array()) {
                let levels = value.as_array_mut()?;
                let moved = levels.get(level).and_then(between_machines);
                levels.remove(level);
                levels.extend(moved);
                if levels.is_empty() {
                    tables.insert((*key, *place));
                }
            } else if let Some(moved) = between_machines(value) {
                *value = moved;
            } else {
                tables.insert((*key, *place));
            }
        }
        for (key, place) in tables.into_iter().rev() {
            match self.0.get_mut(key)? {
                Item::ArrayOfTables(tables) => drop(tables.remove(place)),
                Item::Value(Value::Array(array)) if array.len() > 1 => drop(array.remove(place)),
                _ => drop(self.0.remove(key)),
            }
        }
        Some(())
    }

    pub(crate) fn get(&self, path: &[&str]) -> Option<&Item> {
        path.iter().try_fold(self.0.as_item(), |item, step| item.get(step))
    }

    pub(crate) fn tables(&self, key: &str) -> Vec<&dyn TableLike> {
        match self.0.get(key) {
            Some(Item::ArrayOfTables(tables)) => tables.iter().map(|table| table as &dyn TableLike).collect(),
            Some(Item::Value(Value::Array(array))) => {
                array.iter().filter_map(Value::as_inline_table).map(|table| table as &dyn TableLike).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn path_of(&self, factor: &Varied) -> Option<Vec<String>> {
        let text = self.0.to_string();
        let root = DeTable::parse(&text).ok()?;
        let DeValue::Table(factors) = root.get_ref().get("factors")?.get_ref() else { return None };
        let named = flatten(entries(factors), &mut Problems::default());
        let named = named.iter().find(|named| named.subject().as_ref() == Some(factor))?;
        Some(["factors"].iter().chain(&named.path).map(ToString::to_string).collect())
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

fn between_machines(level: &Value) -> Option<Value> {
    let scenario = Scenario::from_word(level.as_str()?)?;
    let moved = scenario.between_machines().filter(|moved| *moved != scenario)?;
    Some(moved.word().into())
}
