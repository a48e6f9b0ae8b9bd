//! Single values: words, numbers, durations, texts. Invalid ones are reported and read as `None`.

use std::fmt::Display;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use words::suggest::quoted;
use words::{DEFAULT, Mistake, PlainValue, Shape, Word};

use crate::model::limit;
use crate::read::{Problem, Problems};

/// A key with its value. Methods report a wrong value under the key's name.
#[derive(Debug, Clone)]
pub(crate) struct TomlEntry<'t> {
    /// The key as written; of a dotted key, its last part.
    pub(crate) key: &'t str,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: &'t Spanned<DeValue<'t>>,
}

impl<'v> TomlEntry<'v> {
    pub(crate) fn item(key: &'v str, value: &'v Spanned<DeValue<'v>>) -> Self {
        Self { key, key_span: value.span(), value }
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.value.span()
    }

    pub(crate) fn text(&self, problems: &mut Problems) -> Option<&'v str> {
        match self.value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => self.wrong_type("a string", problems),
        }
    }

    /// An integer in decimal, however it is written; one out of range as it is written.
    pub(crate) fn decimal(&self) -> Option<String> {
        let DeValue::Integer(integer) = self.value.get_ref() else { return None };
        let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
        Some(number.map_or_else(|| integer.to_string(), |number| number.to_string()))
    }

    /// The items of an array; another value counts as one item.
    pub(crate) fn items(value: &'v Spanned<DeValue<'v>>) -> &'v [Spanned<DeValue<'v>>] {
        if let DeValue::Array(array) = value.get_ref() { array } else { std::slice::from_ref(value) }
    }

    pub(crate) fn word<W: Word + Display>(&self, problems: &mut Problems) -> Option<W> {
        self.get(Shape::Word(W::VOCABULARY), problems)
    }

    pub(crate) fn get<P: PlainValue>(&self, shape: Shape, problems: &mut Problems) -> Option<P> {
        P::of_value(&self.of_shape(shape, false, problems)?)
    }

    pub(crate) fn of_shape(
        &self,
        shape: Shape,
        has_default: bool,
        problems: &mut Problems,
    ) -> Option<words::Value> {
        let text = match (self.value.get_ref(), shape) {
            (DeValue::String(text), _) if has_default && text == DEFAULT => {
                return Some(words::Value::Default);
            }
            (DeValue::Integer(_), Shape::Number(..)) => self.decimal()?,
            (DeValue::Boolean(on), Shape::Switch) => on.to_string(),
            (DeValue::String(text), Shape::Switch | Shape::Pace | Shape::Share | Shape::Time(..))
            | (DeValue::String(text), Shape::Word(_) | Shape::Name(_)) => text.to_string(),
            (_, Shape::Number(..)) if has_default => {
                return self.wrong_type("a whole number or `default`", problems);
            }
            (_, Shape::Number(..)) => return self.wrong_type("a whole number", problems),
            (_, Shape::Switch) => return self.wrong_type("`\"on\"` or `\"off\"`", problems),
            (_, Shape::Time(..)) => return self.wrong_type("a duration such as \"2s\"", problems),
            (_, Shape::Pace) => return self.wrong_type("a pace such as \"500Mbit\"", problems),
            (_, Shape::Share) => return self.wrong_type("a share in percent such as \"2%\"", problems),
            (_, Shape::Word(_) | Shape::Name(_)) => return self.wrong_type("a string", problems),
        };
        match shape.read(&quoted(self.key), &text) {
            Ok(value) => Some(value),
            Err(Mistake { message, help }) => {
                Problem::new(self.span(), message).maybe_help(help).reject(problems)
            }
        }
    }

    pub(crate) fn identifier(&self, problems: &mut Problems) -> Option<String> {
        let text = self.text(problems)?;
        // A name also names files, and stands in tables.
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_begin = |c: char| c.is_ascii_alphanumeric();
        if text.len() <= limit::NAME && text.starts_with(is_begin) && text.chars().all(allowed) {
            return Some(text.to_owned());
        }
        let message = format!("`{}` cannot be a name", quoted(text));
        let help = format!(
            "use 1 to {} letters, digits, `-`, `_` and `.`, beginning with a letter or digit",
            limit::NAME
        );
        Problem::new(self.span(), message).help(help).reject(problems)
    }

    pub(crate) fn sentence(&self, problems: &mut Problems) -> Option<String> {
        let text = self.text(problems)?;
        if text.trim().is_empty() || text.len() > limit::SENTENCE || !words::is_plain(text) {
            let (name, most) = (quoted(self.key), limit::SENTENCE);
            let message = format!("`{name}` must be one line of text, of at most {most} bytes");
            return Problem::new(self.span(), message).reject(problems);
        }
        Some(text.trim().to_owned())
    }

    pub(crate) fn wrong_type<T>(&self, wanted: &str, problems: &mut Problems) -> Option<T> {
        let message = format!("`{}` must be {wanted}, not {}", quoted(self.key), kind(self.value.get_ref()));
        Problem::new(self.span(), message).reject(problems)
    }
}

#[derive(Debug)]
pub(crate) struct Section<'t> {
    pub(crate) name: &'static str,
    pub(crate) span: Range<usize>,
    entries: Vec<TomlEntry<'t>>,
}

impl<'t> Section<'t> {
    pub(crate) fn new(name: &'static str, span: Range<usize>, table: &'t DeTable<'t>) -> Self {
        Self { name, span, entries: entries(table) }
    }

    pub(crate) fn from_entry(
        name: &'static str,
        entry: &TomlEntry<'t>,
        problems: &mut Problems,
    ) -> Option<Self> {
        match entry.value.get_ref() {
            DeValue::Table(table) => Some(Self::new(name, entry.span(), table)),
            other => {
                let message = format!("`{}` must be a table, not {}", quoted(entry.key), kind(other));
                Problem::new(entry.span(), message).help(format!("write it as `{name}`")).reject(problems)
            }
        }
    }

    pub(crate) fn list_from_entry(
        name: &'static str,
        entry: &TomlEntry<'t>,
        most: usize,
        problems: &mut Problems,
    ) -> Vec<Self> {
        let wrong = |span, other: &DeValue<'_>| {
            let (key, kind) = (quoted(entry.key), kind(other));
            let message = format!("`{key}` must be written as `{name}`, not as {kind}");
            Problem::new(span, message).help(format!("begin each one with a line `{name}`"))
        };
        let array: &[Spanned<DeValue<'_>>] =
            if let DeValue::Array(array) = entry.value.get_ref() { array } else { &[] };
        if array.len() > most {
            let message = format!("there are {} tables `{name}`: at most {most} are allowed", array.len());
            problems.push(Problem::new(entry.key_span.clone(), message));
            return Vec::new();
        }
        if array.is_empty() {
            problems.push(wrong(entry.span(), entry.value.get_ref()));
        }
        let mut tables = Vec::new();
        for item in array {
            match item.get_ref() {
                DeValue::Table(table) => tables.push(Self::new(name, item.span(), table)),
                other => problems.push(wrong(item.span(), other)),
            }
        }
        tables
    }

    pub(crate) fn table(&mut self, header: &'static str, problems: &mut Problems) -> Option<Self> {
        let entry = self.take(header.trim_matches(['[', ']']))?;
        Self::from_entry(header, &entry, problems)
    }

    pub(crate) fn tables(&mut self, header: &'static str, most: usize, problems: &mut Problems) -> Vec<Self> {
        let entry = self.take(header.trim_matches(['[', ']']));
        entry.map_or_else(Vec::new, |entry| Self::list_from_entry(header, &entry, most, problems))
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<TomlEntry<'t>> {
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

    pub(crate) fn require(
        &mut self,
        key: &str,
        example: &str,
        problems: &mut Problems,
    ) -> Option<TomlEntry<'t>> {
        let entry = self.take(key);
        if entry.is_none() {
            let message = format!("`{key}` is missing from {}", self.name);
            problems.report(self.span.clone(), message, format!("add {example}"));
        }
        entry
    }

    pub(crate) fn rest(self) -> Vec<TomlEntry<'t>> {
        self.entries
    }

    pub(crate) fn finish(self, known: &[&str], problems: &mut Problems) {
        for entry in self.entries {
            let message = format!("unknown key `{}` in {}", quoted(entry.key), self.name);
            let help = problems.help(entry.key, known.iter().copied());
            problems.push(Problem::new(entry.key_span, message).maybe_help(help));
        }
    }
}

pub(crate) fn entries<'t>(table: &'t DeTable<'t>) -> Vec<TomlEntry<'t>> {
    let mut entries: Vec<TomlEntry<'t>> = table
        .iter()
        .map(|(key, value)| TomlEntry { key: key.get_ref(), key_span: key.span(), value })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

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
