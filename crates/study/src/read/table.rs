//! A table of a file: keys are taken until only unknown ones are left.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use words::suggest;

use crate::read::diagnostic::Problem;
use crate::read::problems::Problems;

#[derive(Debug, Clone)]
pub(crate) struct Entry<'t> {
    /// The key as written; of a dotted key, its last part.
    pub(crate) key: &'t str,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: &'t Spanned<DeValue<'t>>,
}

impl Entry<'_> {
    pub(crate) fn span(&self) -> Range<usize> {
        self.value.span()
    }
}

#[derive(Debug)]
pub(crate) struct Table<'t> {
    /// Its name in messages: `[protocol]`.
    pub(crate) name: &'static str,
    /// Its place, for missing keys.
    pub(crate) span: Range<usize>,
    entries: Vec<Entry<'t>>,
}

impl<'t> Table<'t> {
    pub(crate) fn new(name: &'static str, span: Range<usize>, table: &'t DeTable<'t>) -> Self {
        Self { name, span, entries: entries(table) }
    }

    /// An entry as a table; reports anything else.
    pub(crate) fn from_entry(name: &'static str, entry: &Entry<'t>, problems: &mut Problems) -> Option<Self> {
        match entry.value.get_ref() {
            DeValue::Table(table) => Some(Self::new(name, entry.span(), table)),
            other => {
                let message =
                    format!("`{}` must be a table, not {}", suggest::quoted(entry.key), kind(other));
                problems.report(entry.span(), message, format!("write it as `{name}`"));
                None
            }
        }
    }

    /// The tables of an entry that may occur several times (`[[workload]]`).
    pub(crate) fn list_from_entry(
        name: &'static str,
        entry: &Entry<'t>,
        most: usize,
        problems: &mut Problems,
    ) -> Vec<Self> {
        let wrong = |span, other: &DeValue<'_>| {
            let message = format!(
                "`{}` must be written as `{name}`, not as {}",
                suggest::quoted(entry.key),
                kind(other)
            );
            Problem::new(span, message).help(format!("begin each one with a line `{name}`"))
        };
        let DeValue::Array(array) = entry.value.get_ref() else {
            problems.push(wrong(entry.span(), entry.value.get_ref()));
            return Vec::new();
        };
        if array.len() > most {
            let message = format!("there are {} tables `{name}`: at most {most} are allowed", array.len());
            problems.push(Problem::new(entry.key_span.clone(), message));
            return Vec::new();
        }
        if array.is_empty() {
            let message = format!("`{}` is empty", suggest::quoted(entry.key));
            problems.report(entry.span(), message, format!("begin each one with a line `{name}`"));
        }
        let mut tables = Vec::new();
        for item in array.iter() {
            match item.get_ref() {
                DeValue::Table(table) => tables.push(Self::new(name, item.span(), table)),
                other => problems.push(wrong(item.span(), other)),
            }
        }
        tables
    }

    /// Takes a table by its header, `[guest]`.
    pub(crate) fn table(&mut self, header: &'static str, problems: &mut Problems) -> Option<Self> {
        let entry = self.take(header.trim_matches(['[', ']']))?;
        Self::from_entry(header, &entry, problems)
    }

    /// Takes the tables of a header that may occur several times, `[[exclude]]`.
    pub(crate) fn tables(&mut self, header: &'static str, most: usize, problems: &mut Problems) -> Vec<Self> {
        let entry = self.take(header.trim_matches(['[', ']']));
        entry.map_or_else(Vec::new, |entry| Self::list_from_entry(header, &entry, most, problems))
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Entry<'t>> {
        let place = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(place))
    }

    pub(crate) fn place_of(&self, key: &str) -> Option<Range<usize>> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| entry.key_span.clone())
    }

    pub(crate) fn place_within(&self, table: &str, key: &str) -> Option<Range<usize>> {
        let outer = self.entries.iter().find(|entry| entry.key == table)?;
        let DeValue::Table(inner) = outer.value.get_ref() else { return None };
        entries(inner).into_iter().find(|entry| entry.key == key).map(|entry| entry.key_span)
    }

    /// Takes a key that must be present.
    pub(crate) fn require(&mut self, key: &str, example: &str, problems: &mut Problems) -> Option<Entry<'t>> {
        let entry = self.take(key);
        if entry.is_none() {
            let message = format!("`{key}` is missing from {}", self.name);
            problems.report(self.span.clone(), message, format!("add {example}"));
        }
        entry
    }

    /// All keys that are left, in file order.
    pub(crate) fn rest(self) -> Vec<Entry<'t>> {
        self.entries
    }

    /// Reports all keys that are left as unknown.
    pub(crate) fn finish(self, known: &[&str], problems: &mut Problems) {
        for entry in self.entries {
            let message = format!("unknown key `{}` in {}", suggest::quoted(entry.key), self.name);
            let help = problems.help(entry.key, known.iter().copied());
            problems.push(Problem::new(entry.key_span, message).maybe_help(help));
        }
    }
}

pub(crate) fn entries<'t>(table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
    let mut entries: Vec<Entry<'t>> =
        table.iter().map(|(key, value)| Entry { key: key.get_ref(), key_span: key.span(), value }).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

/// The type of a value, with its article.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
