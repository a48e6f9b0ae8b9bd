//! What a change leaves nothing to do: exclusions of levels that it takes away, and offloads of a design that it fixes.

use toml::de::{DeTable, DeValue};

use crate::edit::document::{Base, Document, Edit};
use crate::edit::literal;
use crate::model::factor::Subject;
use crate::read::factor::{Named, flatten};
use crate::read::problems::Problems;
use crate::read::table::entries;

/// The edits that keep exclusions to the levels that a factor still has. One that loses all its levels of the factor
/// goes as a whole: without them it would exclude more than was meant.
pub(crate) fn edits(document: &Document<'_>, subject: &Subject, kept: &[String]) -> Vec<Edit> {
    let kept: Vec<String> = kept.iter().map(|level| spelling(subject, level)).collect();
    let mut edits = Vec::new();
    for item in document.exclusions() {
        let DeValue::Table(table) = item.get_ref() else { continue };
        let Some(named) = named(table, subject) else { continue };
        let levels = levels(named.value.get_ref());
        let left: Vec<String> =
            levels.iter().filter(|level| kept.contains(&spelling(subject, level))).cloned().collect();
        if left.is_empty() {
            edits.extend(document.take_item(item));
        } else if left.len() < levels.len() {
            edits.extend(document.replace(named.value, &literal::of(named.name, &left)));
        }
    }
    edits
}

/// The edits that take a factor out of the design's offloads; the design as a whole, if it is the only one.
pub(crate) fn from_design(document: &Document<'_>, subject: &Subject) -> Vec<Edit> {
    let entries = document.entries("design");
    let Some(offloads) = entries.iter().find(|entry| entry.key == "offloads") else { return Vec::new() };
    let names = levels(offloads.value.get_ref());
    let left: Vec<String> =
        names.iter().filter(|name| Subject::of(name).as_ref() != Some(subject)).cloned().collect();
    if left.len() == names.len() {
        Vec::new()
    } else if left.is_empty() {
        document.take(Base::Root, &["design"])
    } else {
        document.replace(offloads.value, &literal::of("offloads", &left)).into_iter().collect()
    }
}

/// What an exclusion says of a factor.
fn named<'d>(table: &'d DeTable<'d>, subject: &Subject) -> Option<Named<'d>> {
    let named = flatten(entries(table), &mut Problems::default());
    named.into_iter().find(|named| named.subject().as_ref() == Some(subject))
}

/// Levels as the command line writes them: one, or a list.
fn levels(value: &DeValue<'_>) -> Vec<String> {
    match value {
        DeValue::Array(array) => array.iter().filter_map(|level| text(level.get_ref())).collect(),
        one => text(one).into_iter().collect(),
    }
}

fn text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(on) => Some(on.to_string()),
        _ => None,
    }
}

/// One spelling for a level, however it is written.
fn spelling(subject: &Subject, level: &str) -> String {
    match level {
        "true" => "on".to_owned(),
        "false" => "off".to_owned(),
        level => subject.spelling(level.to_owned()),
    }
}
