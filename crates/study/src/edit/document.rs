//! A study file as text and as TOML at once: values are put in and taken out by place, so that all else, comments too,
//! stays as it is.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::read::table::{Entry, entries};

/// A file that is TOML.
pub(crate) struct Document<'t> {
    text: &'t str,
    root: Spanned<DeTable<'t>>,
}

/// A piece of text that replaces another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    range: Range<usize>,
    with: String,
}

/// A table to begin from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// The whole file.
    Root,
    /// A workload, by number.
    Workload(usize),
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `[protocol]`, keys on the lines below.
    Header,
    /// `{ detect = "2%" }`.
    Inline,
    /// By dotted keys: `stop.detect = "2%"`.
    Dotted,
    /// Only by the header of a table inside it: `[protocol.stop]`.
    Implied,
}

/// Where a new key goes.
enum Anchor<'t> {
    /// At the start of the file.
    Start,
    /// Below a header.
    Header(Range<usize>),
    /// Behind an opening brace; whether anything follows.
    Inline(usize, bool),
    /// At the end of the file, below a new header.
    End(&'t str),
}

impl<'t> Document<'t> {
    /// The file, if it is TOML.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        Some(Self { text, root: DeTable::parse(text).ok()? })
    }

    /// The workloads' tables.
    pub(crate) fn workloads(&self) -> Vec<&DeTable<'t>> {
        let Some(DeValue::Array(array)) = self.get(&[], "workload") else { return Vec::new() };
        array
            .iter()
            .filter_map(|item| match item.get_ref() {
                DeValue::Table(table) => Some(table),
                _ => None,
            })
            .collect()
    }

    /// What stands under `exclude`, in order.
    pub(crate) fn exclusions(&self) -> Vec<&Spanned<DeValue<'t>>> {
        match self.get(&[], "exclude") {
            Some(DeValue::Array(array)) => array.iter().collect(),
            _ => Vec::new(),
        }
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
        let mut table = self.root.get_ref();
        for step in path {
            let DeValue::Table(inner) = table.get(*step)?.get_ref() else { return None };
            table = inner;
        }
        table.get(key).map(Spanned::get_ref)
    }

    /// The table to begin from, and whether keys stand in braces there.
    fn base(&self, base: Base) -> Option<(&DeTable<'t>, Anchor<'_>)> {
        let Base::Workload(number) = base else { return Some((self.root.get_ref(), Anchor::Start)) };
        let Some(DeValue::Array(array)) = self.get(&[], "workload") else { return None };
        let item = array.iter().filter(|item| item.get_ref().is_table()).nth(number)?;
        let DeValue::Table(table) = item.get_ref() else { return None };
        Some((table, self.anchor(item.span(), table)?))
    }

    /// The place for a new key in a table of its own, if it has one.
    fn anchor(&self, span: Range<usize>, table: &DeTable<'_>) -> Option<Anchor<'_>> {
        match self.style(&span) {
            Style::Header => Some(Anchor::Header(span)),
            Style::Inline => Some(Anchor::Inline(span.start + 1, table.iter().next().is_some())),
            Style::Dotted | Style::Implied => None,
        }
    }

    fn style(&self, span: &Range<usize>) -> Style {
        let line = self.text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        match self.text.as_bytes().get(span.start) {
            Some(b'[') => Style::Header,
            Some(b'{') => Style::Inline,
            _ if self.text[line..span.start].trim_start().starts_with('[') => Style::Implied,
            _ => Style::Dotted,
        }
    }

    /// The place of a key with its value, if it is there.
    pub(crate) fn find(&self, base: Base, path: &[&str]) -> Option<Range<usize>> {
        let (entry, _) = self.entry(base, path)?;
        Some(entry.key_span.start..entry.span().end.max(entry.key_span.end))
    }

    /// The entry of a key, and whether it stands in braces.
    fn entry(&self, base: Base, path: &[&str]) -> Option<(Entry<'_>, bool)> {
        let (mut table, anchor) = self.base(base)?;
        let mut in_braces = matches!(anchor, Anchor::Inline(..));
        let (last, steps) = path.split_last()?;
        for step in steps {
            let value = table.get(*step)?;
            let DeValue::Table(inner) = value.get_ref() else { return None };
            match self.style(&value.span()) {
                Style::Inline => in_braces = true,
                Style::Header => in_braces = false,
                Style::Dotted | Style::Implied => {}
            }
            table = inner;
        }
        let entry = entries(table).into_iter().find(|entry| entry.key == *last)?;
        Some((entry, in_braces))
    }

    /// The edits that give a key this value; `None` where the file leaves no place for it.
    pub(crate) fn put(&self, base: Base, path: &[&str], literal: &str) -> Option<Vec<Edit>> {
        if let Some((entry, _)) = self.entry(base, path) {
            return self.replace(entry.value, literal).map(|edit| vec![edit]);
        }
        let (mut table, mut anchor) = self.base(base)?;
        let (mut there, mut dotted) = (true, Vec::new());
        let (last, steps) = path.split_last()?;
        for (depth, step) in steps.iter().enumerate() {
            let value = table.get(*step).filter(|_| there);
            match value.map(|value| (value, value.get_ref())) {
                Some((value, DeValue::Table(inner))) => {
                    table = inner;
                    match self.anchor(value.span(), inner) {
                        Some(own) => (anchor, dotted) = (own, Vec::new()),
                        None if depth == 0 && self.style(&value.span()) == Style::Implied => {
                            anchor = Anchor::End(step);
                        }
                        None => dotted.push(*step),
                    }
                }
                Some(_) => return None,
                None => {
                    there = false;
                    if depth == 0 && base == Base::Root {
                        anchor = Anchor::End(step);
                    } else {
                        dotted.push(*step);
                    }
                }
            }
        }
        dotted.push(*last);
        Some(vec![self.insert(&anchor, &format!("{} = {literal}", dotted.join(".")))])
    }

    /// The edit that gives an entry another value; `None` if it is a table with lines of its own.
    pub(crate) fn replace(&self, value: &Spanned<DeValue<'_>>, literal: &str) -> Option<Edit> {
        let is_value = !value.get_ref().is_table() || self.style(&value.span()) == Style::Inline;
        is_value.then(|| Edit { range: value.span(), with: literal.to_owned() })
    }

    fn insert(&self, anchor: &Anchor<'_>, statement: &str) -> Edit {
        let at = |place: usize, with: String| Edit { range: place..place, with };
        match anchor {
            Anchor::Start => {
                let mark = '\u{feff}';
                let place = if self.text.starts_with(mark) { mark.len_utf8() } else { 0 };
                at(place, format!("{statement}\n"))
            }
            Anchor::Header(header) => match self.text[header.end..].find('\n') {
                Some(end) => at(header.end + end + 1, format!("{statement}\n")),
                None => at(self.text.len(), format!("\n{statement}\n")),
            },
            Anchor::Inline(place, false) => at(*place, statement.to_owned()),
            Anchor::Inline(place, true) if self.text[*place..].starts_with(char::is_whitespace) => {
                at(*place, format!(" {statement},"))
            }
            Anchor::Inline(place, true) => at(*place, format!("{statement}, ")),
            Anchor::End(header) => {
                let gap = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
                at(self.text.len(), format!("{gap}\n[{header}]\n{statement}\n"))
            }
        }
    }

    /// The edits that take a key out; none if it is not there.
    pub(crate) fn take(&self, base: Base, path: &[&str]) -> Vec<Edit> {
        let mut edits = Vec::new();
        if let Some((entry, in_braces)) = self.entry(base, path) {
            self.take_entry(&entry, in_braces, &mut edits);
        }
        edits
    }

    /// Takes one table of several (`[[exclude]]`) out, with all that it holds.
    pub(crate) fn take_item(&self, item: &Spanned<DeValue<'_>>) -> Vec<Edit> {
        let span = item.span();
        let gone = |range| Edit { range, with: String::new() };
        if self.style(&span) != Style::Header {
            return vec![gone(self.part(span.start, span.end))];
        }
        let mut edits = vec![gone(self.lines(span.start, span.end))];
        if let DeValue::Table(table) = item.get_ref() {
            entries(table).iter().for_each(|entry| self.take_entry(entry, false, &mut edits));
        }
        edits
    }

    /// Takes an entry out, with all that a table of its own holds.
    pub(crate) fn take_entry(&self, entry: &Entry<'_>, in_braces: bool, edits: &mut Vec<Edit>) {
        let span = entry.span();
        let gone = |range| Edit { range, with: String::new() };
        match (entry.value.get_ref(), self.style(&span)) {
            (DeValue::Table(table), Style::Header | Style::Dotted | Style::Implied) => {
                if self.style(&span) == Style::Header {
                    edits.push(gone(self.lines(span.start, span.end)));
                }
                entries(table).iter().for_each(|entry| self.take_entry(entry, in_braces, edits));
            }
            _ if in_braces => edits.push(gone(self.part(entry.key_span.start, span.end))),
            _ => edits.push(gone(self.lines(entry.key_span.start, span.end))),
        }
    }

    /// The whole lines from one place to another.
    fn lines(&self, start: usize, end: usize) -> Range<usize> {
        let start = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        let end = self.text[end..].find('\n').map_or(self.text.len(), |line| end + line + 1);
        start..end
    }

    /// An entry between braces, with one of the commas beside it.
    fn part(&self, start: usize, end: usize) -> Range<usize> {
        let start = self.text[..start].rfind(['{', '[', ',']).map_or(start, |before| before + 1);
        let rest = &self.text[end..];
        let blank = rest.len() - rest.trim_start().len();
        if rest.trim_start().starts_with(',') {
            start..end + blank + 1
        } else if self.text[..start].ends_with(',') {
            start - 1..end
        } else {
            start..end
        }
    }

    /// The text with these edits. Where two overlap, what one has taken is gone for the other.
    pub(crate) fn with(&self, mut edits: Vec<Edit>) -> String {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let (mut text, mut done) = (String::with_capacity(self.text.len()), 0);
        for Edit { range, with } in edits {
            if let Some(between) = self.text.get(done..range.start) {
                text.push_str(between);
            }
            text.push_str(&with);
            done = done.max(range.end);
        }
        text.push_str(&self.text[done..]);
        text
    }
}
